// Whose keys are used for which files of a catalog's table, and where those come from that take their place.
#include "firn/catalog/table_storage.h"

#include <functional>

#include <gtest/gtest.h>

#include "tests/unit/error_of.h"
#include "tests/unit/storage/scripted_server.h"

namespace firn::catalog {
namespace {

using storage::http_reply;
using Properties = std::map<std::string, std::string>;

Properties keys(const std::string& name) {
    return {{"s3.access-key-id", name}, {"s3.secret-access-key", "secret"}, {"s3.session-token", "token"}};
}

LoadedTable table_with(Properties config, std::vector<VendedCredential> credentials) {
    LoadedTable table;
    table.config = std::move(config);
    table.credentials = std::move(credentials);
    return table;
}

/// Each load of the table, and each renewal without one, gives the next of these, the last one again.
class LendingCatalog final : public LakeCatalog {
public:
    std::vector<LoadedTable> loads;
    std::vector<std::vector<VendedCredential>> renewals{{}};
    size_t loaded = 0, renewed = 0;

    Page<Namespace> list_namespaces(const Namespace&, const std::string&) override { return {}; }
    Page<TableIdentifier> list_tables(const Namespace&, const std::string&) override { return {}; }
    std::optional<LoadedTable> load_table(const TableIdentifier&) override {
        return loads[std::min(loaded++, loads.size() - 1)];
    }
    std::vector<VendedCredential> renew_credentials(const TableIdentifier&) override {
        return renewals[std::min(renewed++, renewals.size() - 1)];
    }
};

const std::string kExpired = "<Error><Code>ExpiredToken</Code><Message>m</Message></Error>";

struct Place {
    explicit Place(std::vector<storage::ScriptedReply> script) : server(std::move(script)) {
        options.storage_endpoint = server.url();
        options.region = "us-east-1";
    }
    std::shared_ptr<storage::ObjectStore> open() {
        const auto loaded = catalog->load_table({{"db"}, "t"});
        return open_table_storage(catalog, options, {{"db"}, "t"}, *loaded, "s3://bkt/t", {});
    }
    /// Ids of the keys that the requests were signed with.
    std::vector<std::string> used() const {
        std::vector<std::string> out;
        for (const std::string& request : server.requests()) {
            const size_t at = request.find("Credential=") + 11;
            out.push_back(request.substr(at, request.find('/', at) - at));
        }
        return out;
    }
    storage::ScriptedServer server;
    CatalogOptions options;
    std::shared_ptr<LendingCatalog> catalog = std::make_shared<LendingCatalog>();
};

using Used = std::vector<std::string>;

TEST(TableStorage, KeysOfTheTablesOwnConfigurationAreRenewed) {
    // The prefix's entry says a region only: the keys are the configuration's, the first time and later.
    Place place({{http_reply(400, kExpired)}, {http_reply(200, "x")}});
    const VendedCredential region{"s3://bkt/t", {{"s3.region", "eu-west-1"}}};
    place.catalog->loads = {table_with(keys("first"), {region}), table_with(keys("second"), {region})};
    EXPECT_EQ(place.open()->read_all("s3://bkt/t/f", 10), "x");
    EXPECT_EQ(place.used(), (Used{"first", "second"}));
}

TEST(TableStorage, RenewedWithoutLoadingTheTableWhereThatIsOffered) {
    Place place({{http_reply(400, kExpired)}, {http_reply(200, "x")}});
    place.catalog->loads = {table_with({}, {{"s3://bkt/t", keys("first")}})};
    place.catalog->renewals = {{{"s3://bkt/other", keys("other")}, {"s3://bkt", keys("second")}}};
    EXPECT_EQ(place.open()->read_all("s3://bkt/t/f", 10), "x");
    EXPECT_EQ(place.used(), (Used{"first", "second"}));
    EXPECT_EQ(place.catalog->loaded, 1U);
}

TEST(TableStorage, NoMoreKeysIsAnError) {
    Place place({{http_reply(400, kExpired)}});
    place.catalog->loads = {table_with(keys("first"), {}), table_with({}, {})};
    const auto store = place.open();
    EXPECT_EQ(failure_of([&] { store->read_all("s3://bkt/t/f", 10); }).code, ErrorCode::AUTHENTICATION_FAILED);
}

TEST(TableStorage, EachFileHasTheKeysOfItsLongestPrefix) {
    Place place({{http_reply(200, "x")}});
    place.catalog->loads = {table_with(keys("table"), {{"s3://bkt/t/data", keys("data")},
                                                       {"s3://bkt/t/metadata/", keys("metadata")},
                                                       {"s3a://elsewhere", keys("elsewhere")}})};
    const auto store = place.open();
    for (const char* path :
         {"s3://bkt/t/data/f", "s3://bkt/t/metadata/m", "s3://elsewhere/f", "s3://bkt/t/f", "s3://third/f"})
        EXPECT_EQ(store->read_all(path, 10), "x") << path;
    EXPECT_EQ(place.used(), (Used{"data", "metadata", "elsewhere", "table", "table"}));
}

TEST(TableStorage, APrefixThatEndsInASlashIsOfWholeNames) {
    Place place({{http_reply(200, "x")}});
    place.catalog->loads = {
        table_with({}, {{"s3://bkt/", keys("bucket")}, {"s3://bkt/t/", keys("table")}, {"s3://bkt/u", keys("begun")}})};
    const auto store = place.open();
    for (const char* path : {"s3://bkt/t/f", "s3://bkt/t//f", "s3://bkt/t2/f", "s3://bkt/u2/f"})
        EXPECT_EQ(store->read_all(path, 10), "x") << path;
    EXPECT_EQ(place.used(), (Used{"table", "table", "bucket", "begun"}));
}

TEST(TableStorage, KeysFromLongAgoAreNotTried) {
    Place place({{http_reply(200, "x")}});
    Properties old = keys("old");
    old["s3.session-token-expires-at-ms"] = "1000";
    place.catalog->loads = {table_with({}, {{"s3://bkt/t", old}}), table_with({}, {{"s3://bkt/t", keys("new")}})};
    EXPECT_EQ(place.open()->read_all("s3://bkt/t/f", 10), "x");
    EXPECT_EQ(place.used(), Used{"new"});
}

TEST(TableStorage, AStoreServesTablesThatWereLentKeysForTheSamePlaces) {
    const LoadedTable table = table_with({}, {{"s3://bkt/t", keys("a")}, {"s3://bkt/u", keys("b")}});
    EXPECT_TRUE(
        lent_for_same_places(table, table_with(keys("c"), {{"s3a://bkt/u", keys("d")}, {"s3://bkt/t", keys("e")}})));
    EXPECT_FALSE(lent_for_same_places(table, table_with({}, {{"s3://bkt/t", keys("a")}})));
    EXPECT_FALSE(lent_for_same_places(table, table_with({}, {{"s3://bkt/t", keys("a")}, {"s3://bkt/u", {}}})));
}

TEST(TableStorage, TheLongestPrefixOfTheLocationIsItsOwn) {
    Place place({{http_reply(200, "x")}});
    place.catalog->loads = {
        table_with({}, {{"s3", keys("all")}, {"s3://bkt", keys("bucket")}, {"s3://bkt/t", keys("table")}})};
    const auto store = place.open();
    for (const char* path : {"s3://bkt/t/f", "s3://bkt/u/f"}) EXPECT_EQ(store->read_all(path, 10), "x") << path;
    EXPECT_EQ(place.used(), (Used{"table", "bucket"}));
}

}  // namespace
}  // namespace firn::catalog
