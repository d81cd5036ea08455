#include "firn/catalog/glue_catalog.h"

#include "firn/base/error.h"
#include "firn/base/escape.h"
#include "firn/catalog/catalog_replies.h"
#include "firn/storage/url.h"

namespace firn::catalog {
namespace {

constexpr std::string_view kPageSize = "100";  // the most that Glue gives

std::string json(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

std::string region_of(const CatalogOptions& options) {
    return options.region.empty() ? storage::configured_region() : options.region;
}

std::string endpoint_of(const CatalogOptions& options) {
    if (!options.url.empty()) return options.url;
    const std::string region = region_of(options);
    if (region.empty())
        fail(ErrorCode::BAD_ARGUMENTS,
             "A Glue catalog needs a region: SETTINGS region = '…', or AWS_REGION in the environment");
    return "https://glue." + region + (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
}

}  // namespace

GlueCatalog::GlueCatalog(const CatalogOptions& options)
    : url_(endpoint_of(options)),
      catalog_id_(options.warehouse),
      requests_("Glue catalog " + storage::shown_url(url_), catalog_http_options(options)) {
    if (url_.find('/', url_.find("://") + 3) == url_.npos) url_ += "/";
    requests_.aws = aws_credentials_of(options);
    const std::string region = region_of(options);
    requests_.aws_scope = {region.empty() ? "us-east-1" : region, "glue"};
}

std::optional<std::string> GlueCatalog::call(std::string_view operation, std::string fields) const {
    storage::HttpRequest request;
    request.method = "POST";
    request.url = url_;
    request.repeatable = true;  // reading only
    if (!catalog_id_.empty()) fields += (fields.empty() ? "" : ",") + std::string("\"CatalogId\":") + json(catalog_id_);
    request.body = "{" + fields + "}";
    request.headers.set("Content-Type", "application/x-amz-json-1.1");
    request.headers.set("X-Amz-Target", "AWSGlue." + std::string(operation));
    auto reply = requests_.send(std::move(request));
    if (reply.ok()) return std::move(reply.body);
    const ServiceError error = service_error(reply);
    if (error.type == "EntityNotFoundException") return std::nullopt;
    if (error.type == "AccessDeniedException" || error.type == "UnrecognizedClientException" ||
        error.type == "InvalidSignatureException")
        fail(ErrorCode::ACCESS_DENIED, "{} answered {} with {}: {}", requests_.shown_name(), operation, error.type,
             error.message);
    requests_.fail_reply(reply, operation);
}

Page<Namespace> GlueCatalog::list_namespaces(const Namespace& parent, const std::string& page) {
    if (!parent.empty()) return {};
    std::string fields = "\"MaxResults\":" + std::string(kPageSize);
    if (!page.empty()) fields += ",\"NextToken\":" + json(page);
    const auto body = call("GetDatabases", std::move(fields));
    if (!body) return {};
    return parse_glue_databases(*body, requests_.shown_name() + ", GetDatabases");
}

Page<TableIdentifier> GlueCatalog::list_tables(const Namespace& levels, const std::string& page) {
    if (levels.size() != 1) return {};
    std::string fields = "\"DatabaseName\":" + json(levels[0]) + ",\"MaxResults\":" + std::string(kPageSize);
    if (!page.empty()) fields += ",\"NextToken\":" + json(page);
    const auto body = call("GetTables", std::move(fields));
    if (!body) return {};
    return parse_glue_tables(*body, requests_.shown_name() + ", GetTables", levels);
}

std::optional<LoadedTable> GlueCatalog::load_table(const TableIdentifier& table) {
    if (table.levels.size() != 1) return std::nullopt;
    const auto body = call("GetTable", "\"DatabaseName\":" + json(table.levels[0]) + ",\"Name\":" + json(table.table));
    if (!body) return std::nullopt;
    return parse_glue_table(*body, requests_.shown_name() + ", table " + table.display());
}

}  // namespace firn::catalog
