#include <gtest/gtest.h>

#include "firn/catalog/lake_catalog.h"

#include "tests/unit/error_of.h"

namespace firn::catalog {
namespace {

template <typename Action>
std::optional<ErrorCode> failure_code(Action action) {
    return failure_of(action).code;
}

TEST(CatalogNames, LikeliestReadingComesFirst) {
    const auto nested = readings_of("a.b.c", true);
    ASSERT_EQ(nested.size(), 3U);
    EXPECT_EQ(nested[0], (TableIdentifier{{"a", "b"}, "c"}));
    EXPECT_EQ(nested[1], (TableIdentifier{{"a.b"}, "c"}));
    EXPECT_EQ(nested[2], (TableIdentifier{{"a"}, "b.c"}));
    const auto flat = readings_of("a.b.c", false);
    ASSERT_EQ(flat.size(), 2U);
    EXPECT_EQ(flat[0], (TableIdentifier{{"a.b"}, "c"}));
    EXPECT_EQ(flat[1], (TableIdentifier{{"a"}, "b.c"}));
}

/// Names one page after the other, and the last one again and again.
class EndlessCatalog final : public LakeCatalog {
public:
    Page<Namespace> list_namespaces(const Namespace&, const std::string&) override { return {{{"n"}}, ""}; }
    Page<TableIdentifier> list_tables(const Namespace& levels, const std::string& page) override {
        return {{{levels, "t" + page}}, page.empty() ? "1" : "2"};
    }
    std::optional<LoadedTable> load_table(const TableIdentifier&) override { return std::nullopt; }
};

TEST(CatalogLists, OneWithoutAnEndIsAnError) {
    EndlessCatalog catalog;
    EXPECT_EQ(failure_code([&] { catalog.each_table([](const TableIdentifier&) { return true; }); }),
              ErrorCode::DATALAKE_DATABASE_ERROR);
    EXPECT_NO_THROW(catalog.each_table([](const TableIdentifier& table) { return table.table != "t1"; }));
}

TEST(CatalogNames, NamesWithoutNamespaceAreNone) {
    for (const char* name : {"", "t", ".t", "t.", "."}) EXPECT_TRUE(readings_of(name, true).empty()) << name;
}

TEST(CatalogNames, ReadingsAreBounded) {
    EXPECT_LE(readings_of(std::string(100000, '.') + "t", true).size(), 33U);
    std::string many = "a";
    for (int i = 0; i < 1000; ++i) many += ".a";
    EXPECT_LE(readings_of(many, true).size(), 33U);
}

TEST(CatalogOptions, UnknownAndMissingOnesAreErrors) {
    using Settings = std::vector<std::pair<std::string, std::string>>;
    const auto code = [](std::vector<std::string> arguments, Settings settings) {
        return failure_code([&] { CatalogOptions::of(arguments, settings); });
    };
    EXPECT_EQ(code({"http://h"}, {}), ErrorCode::BAD_ARGUMENTS);
    EXPECT_EQ(code({"http://h"}, {{"catalog_type", "none"}}), ErrorCode::BAD_ARGUMENTS);
    EXPECT_EQ(code({}, {{"catalog_type", "rest"}}), ErrorCode::BAD_ARGUMENTS);
    EXPECT_EQ(code({"thrift://h:1"}, {{"catalog_type", "rest"}}), ErrorCode::BAD_ARGUMENTS);
    EXPECT_EQ(code({"http://h"}, {{"catalog_type", "hive"}}), ErrorCode::BAD_ARGUMENTS);
    EXPECT_EQ(code({"http://h"}, {{"catalog_type", "unity"}}), ErrorCode::BAD_ARGUMENTS);
    EXPECT_EQ(code({"http://h"}, {{"catalog_type", "rest"}, {"vended_credentials", "maybe"}}),
              ErrorCode::BAD_ARGUMENTS);
    EXPECT_EQ(code({"http://h"}, {{"catalog_type", "rest"}, {"bogus", "1"}}), ErrorCode::UNKNOWN_SETTING);
    const auto options =
        CatalogOptions::of({"http://h", "u", "p"}, {{"catalog_type", "rest"}, {"vended_credentials", "0"}});
    EXPECT_EQ(options.user, "u");
    EXPECT_FALSE(options.vended_credentials);
    for (const char* wrong : {"", "0", "-1", "1s", "86400001", "99999999999999999999"})
        EXPECT_EQ(code({"http://h"}, {{"catalog_type", "rest"}, {"catalog_timeout_ms", wrong}}),
                  ErrorCode::BAD_ARGUMENTS)
            << wrong;
    EXPECT_EQ(CatalogOptions::of({"http://h"}, {{"catalog_type", "rest"}, {"catalog_timeout_ms", "250"}}).timeout,
              std::chrono::milliseconds(250));
}

TEST(VendedCredentials, ExpiryInMilliseconds) {
    EXPECT_EQ((VendedCredential{"", {{"s3.session-token-expires-at-ms", "5"}}}.expires_ms()), 5);
    EXPECT_EQ((VendedCredential{"", {{"adls.sas-token-expires-at-ms.acc", "6"}}}.expires_ms()), 6);
    EXPECT_EQ((VendedCredential{"", {{"s3.access-key-id", "7"}}}.expires_ms()), std::nullopt);
}

}  // namespace
}  // namespace firn::catalog
