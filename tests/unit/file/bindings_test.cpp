// Arrow's libraries may carry libraries of their own and export them: firn's calls must not end there.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

namespace firn {
namespace {

TEST(Bindings, SimdjsonIsTheOneItWasCompiledAgainst) {
    // What tells: the library that holds the code of the parser that is chosen at run time.
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
    ASSERT_EQ(simdjson::get_active_implementation()->create_dom_parser_implementation(1000, 10, parser),
              simdjson::SUCCESS);
    void** functions = *reinterpret_cast<void***>(parser.get());
    Dl_info info;
    ASSERT_NE(dladdr(functions[0], &info), 0);
    EXPECT_NE(std::string(info.dli_fname).find("libsimdjson"), std::string::npos) << info.dli_fname;
}

}  // namespace
}  // namespace firn
