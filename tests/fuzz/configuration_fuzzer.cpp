// Configuration files, XML and YAML, and what merging two of them makes.
#include <string>

#include "firn/base/error.h"
#include "firn/storage/configuration.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn::storage;
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const auto parse : {+[](const std::string& t) { return parse_xml_configuration(t, "configuration.xml"); },
                             +[](const std::string& t) { return parse_yaml_configuration(t, "configuration.yaml"); }}) {
        try {
            ConfigurationNode base = parse(text);
            merge_configuration(base, parse(text));
        } catch (const firn::Error&) {
            // refused with a code: as it should be
        }
    }
    return 0;
}
