// Tokens of Entra ID for Azure storage: service principals, workload identity, managed identities.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <simdjson.h>

#include "firn/base/error.h"
#include "firn/storage/azure_store.h"
#include "firn/storage/url.h"

namespace firn::storage {

namespace {

constexpr std::string_view kResource = "https://storage.azure.com/";

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

AzureToken parse_token(const HttpReply& reply, const std::string& url) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (!reply.ok() || parser.parse(reply.body).get(root) != simdjson::SUCCESS)
        fail(ErrorCode::AUTHENTICATION_FAILED, "{} gives no token for Azure storage: HTTP status {}", shown_url(url),
             reply.status);
    std::string_view token;
    if (root["access_token"].get(token) != simdjson::SUCCESS)
        fail(ErrorCode::AUTHENTICATION_FAILED, "{} gives a reply without access_token", shown_url(url));
    AzureToken out;
    out.bearer = token;
    // A number from Entra ID, the same as a string from managed identities.
    int64_t seconds = 0;
    std::string_view text;
    if (root["expires_in"].get(seconds) != simdjson::SUCCESS && root["expires_in"].get(text) == simdjson::SUCCESS)
        seconds = std::strtoll(std::string(text).c_str(), nullptr, 10);
    constexpr int64_t longest = 366 * 24 * 3600;
    out.expires_s = std::time(nullptr) + (seconds > 0 ? std::min(seconds, longest) : 3600);
    return out;
}

AzureToken ask_tenant(const std::string& credential) {
    std::string authority = environment("AZURE_AUTHORITY_HOST");
    if (authority.empty()) authority = "https://login.microsoftonline.com";
    while (authority.ends_with('/')) authority.pop_back();
    HttpRequest request;
    request.method = "POST";
    request.repeatable = true;
    request.url = fmt::format("{}/{}/oauth2/v2.0/token", authority, environment("AZURE_TENANT_ID"));
    request.headers.set("Content-Type", "application/x-www-form-urlencoded");
    request.body = fmt::format("grant_type=client_credentials&client_id={}&scope={}&{}",
                               percent_encode(environment("AZURE_CLIENT_ID")),
                               percent_encode(std::string(kResource) + ".default"), credential);
    return parse_token(HttpClient().send(request), request.url);
}

AzureToken ask_managed_identity() {
    HttpRequest request;
    HttpOptions options;
    options.connect_timeout = std::chrono::milliseconds(1000);
    options.idle_timeout = std::chrono::milliseconds(5000);
    options.attempts = 2;
    const std::string client = environment("AZURE_CLIENT_ID");
    const std::string identity = client.empty() ? "" : "&client_id=" + percent_encode(client);
    if (const std::string endpoint = environment("IDENTITY_ENDPOINT"); !endpoint.empty()) {
        request.url =
            fmt::format("{}?api-version=2019-08-01&resource={}{}", endpoint, percent_encode(kResource), identity);
        request.headers.set("X-IDENTITY-HEADER", environment("IDENTITY_HEADER"));
    } else {
        std::string host = environment("AZURE_POD_IDENTITY_AUTHORITY_HOST");
        if (host.empty()) host = "http://169.254.169.254";
        request.url = fmt::format("{}/metadata/identity/oauth2/token?api-version=2018-02-01&resource={}{}", host,
                                  percent_encode(kResource), identity);
        request.headers.set("Metadata", "true");
        options.attempts = 1;
    }
    try {
        return parse_token(HttpClient(options).send(request), request.url);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::QUERY_WAS_CANCELLED) throw;
        if (error.code() == ErrorCode::AUTHENTICATION_FAILED) throw;
        fail(ErrorCode::AUTHENTICATION_FAILED,
             "There are no credentials for Azure storage: no key, SAS or token is given, and no managed identity "
             "answers ({})",
             error.message());
    }
}

AzureToken ask() {
    if (!environment("AZURE_TENANT_ID").empty() && !environment("AZURE_CLIENT_ID").empty()) {
        if (const std::string secret = environment("AZURE_CLIENT_SECRET"); !secret.empty())
            return ask_tenant("client_secret=" + percent_encode(secret));
        if (const std::string file = environment("AZURE_FEDERATED_TOKEN_FILE"); !file.empty()) {
            std::ifstream in(file, std::ios::binary);
            if (!in) fail(ErrorCode::AUTHENTICATION_FAILED, "AZURE_FEDERATED_TOKEN_FILE {} cannot be read", file);
            std::stringstream token;
            token << in.rdbuf();
            return ask_tenant(
                "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_"
                "assertion=" +
                percent_encode(token.str()));
        }
    }
    return ask_managed_identity();
}

}  // namespace

std::function<AzureToken()> azure_environment_token() { return &ask; }

}  // namespace firn::storage
