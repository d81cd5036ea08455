#include "firn/catalog/catalog_requests.h"

#include <gtest/gtest.h>

#include "tests/unit/error_of.h"
#include "tests/unit/storage/scripted_server.h"

namespace firn::catalog {
namespace {

TEST(CatalogRequests, ExpiredKeysAreAskedForAnewOnce) {
    const std::string expired = R"({"__type":"com.amazon.x#ExpiredTokenException","message":"m"})";
    storage::ScriptedServer server(
        {{storage::http_reply(400, expired)}, {storage::http_reply(200, "{}")}, {storage::http_reply(400, expired)}});
    int loads = 0;
    CatalogRequests requests("Catalog c", {});
    requests.aws = storage::credentials_from([&] {
        return storage::ExpiringCredentials{{"key" + std::to_string(++loads), "topsecret", ""}, 0};
    });
    requests.aws_scope = {"us-east-1", "glue"};
    EXPECT_EQ(requests.get(server.url()).status, 200);
    EXPECT_EQ(loads, 2);
    ASSERT_EQ(server.requests().size(), 2U);
    EXPECT_NE(server.requests()[1].find("Credential=key2/"), std::string::npos);
    EXPECT_EQ(requests.get(server.url()).status, 400);
    EXPECT_EQ(server.requests().size(), 4U);
}

}  // namespace
}  // namespace firn::catalog
