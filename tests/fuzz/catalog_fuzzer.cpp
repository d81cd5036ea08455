// What catalogs' HTTP services answer: each reply read as each kind.
#include <string_view>

#include "firn/catalog/catalog_replies.h"
#include "firn/catalog/catalog_requests.h"
#include "refusing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn::catalog;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    const std::string where = "reply";
    refusing([&] { parse_rest_config(body, where); });
    refusing([&] { parse_rest_namespaces(body, where); });
    refusing([&] { parse_rest_tables(body, where); });
    refusing([&] {
        for (const auto& credential : parse_rest_table(body, where, {}).credentials) credential.expires_ms();
    });
    refusing([&] {
        for (const auto& credential : parse_rest_credentials(body, where)) credential.expires_ms();
    });
    refusing([&] { parse_glue_databases(body, where); });
    refusing([&] { parse_glue_tables(body, where, {"db"}); });
    refusing([&] { parse_glue_table(body, where); });
    refusing([&] { parse_unity_schemas(body, where); });
    refusing([&] { parse_unity_tables(body, where, {"db"}); });
    refusing([&] { parse_unity_table(body, where); });
    firn::storage::HttpReply reply;
    reply.body = body;
    service_error(reply);
    readings_of(body, true);
    return 0;
}
