#include "firn/catalog/catalog_requests.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/iceberg/json_fields.h"
#include "firn/iceberg/metadata.h"
#include "firn/storage/access.h"
#include "firn/storage/url.h"

namespace firn::catalog {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kConnectTimeout{5'000};
constexpr size_t kShownBodyBytes = 200;
constexpr uint64_t kMaxReplyBytes = iceberg::kMaxMetadataBytes;
constexpr int64_t kDefaultTokenSeconds = 3600;
constexpr int64_t kLongestTokenSeconds = 366 * 24 * 3600;
constexpr int64_t kRenewBeforeSeconds = 30;

bool is_expired_token(int status) { return status == 401 || status == 419; }

int64_t unix_now() {
    return std::chrono::duration_cast<seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return std::string(text);
}

}  // namespace

storage::HttpOptions catalog_http_options(const CatalogOptions& options) {
    storage::HttpOptions http;
    http.connect_timeout = std::min(kConnectTimeout, options.timeout);
    http.idle_timeout = http.retry_budget = options.timeout;
    http.attempts = 4;
    return http;
}

storage::AwsCredentialsPtr aws_credentials_of(const CatalogOptions& options) {
    storage::StorageAccess access;
    access.keys = {options.aws_access_key_id, options.aws_secret_access_key, options.aws_session_token};
    access.role_arn = options.aws_role_arn;
    access.role_session_name = options.aws_role_session_name;
    access.external_id = options.aws_external_id;
    access.s3.region = options.region;
    access.http = catalog_http_options(options);
    return storage::aws_credentials_for(access);
}

ServiceError service_error(const storage::HttpReply& reply) {
    ServiceError error;
    try {
        const iceberg::JsonDocument document(reply.body, "reply");
        const iceberg::JsonFields root(document.root(), "reply");
        const auto inner = root.object_or_nothing("error");
        const iceberg::JsonFields& fields = inner ? *inner : root;
        for (const std::string_view name : {"type", "__type", "error_code", "error", "errorCode"})
            if (const auto text = fields.find(name); text && text->is_string() && error.type.empty())
                error.type = std::string(text->get_string().value_unsafe());
        for (const std::string_view name : {"message", "Message", "error_description"})
            if (const auto text = fields.find(name); text && text->is_string() && error.message.empty())
                error.message = std::string(text->get_string().value_unsafe());
        error.is_json = inner.has_value() || !error.type.empty() || !error.message.empty();
    } catch (const Error&) {  // no JSON
    }
    if (!error.is_json) error.message = reply.body.substr(0, kShownBodyBytes);
    error.type = error.type.substr(error.type.rfind('#') + 1);  // AWS writes namespace#Type
    return error;
}

void add_header_lines(std::string_view lines, storage::HttpHeaders& headers) {
    for (size_t begin = 0; begin < lines.size();) {
        const size_t end = std::min(lines.find('\n', begin), lines.size());
        const std::string_view line = lines.substr(begin, end - begin);
        begin = end + 1;
        if (trimmed(line).empty()) continue;
        const size_t colon = line.find(':');
        if (colon == line.npos || colon == 0)
            fail(ErrorCode::BAD_ARGUMENTS, "Invalid header of a catalog: it must be written as 'Name: value'");
        headers.add(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    }
}

// ---- OAuth2

OAuthToken::OAuthToken(std::string token_url, std::string credential, std::string scope, bool in_request_body)
    : token_url_(std::move(token_url)), scope_(std::move(scope)), in_request_body_(in_request_body) {
    const size_t colon = credential.find(':');
    if (colon == credential.npos)
        fail(ErrorCode::BAD_ARGUMENTS,
             "Unexpected format of client credentials: catalog_credential must be client id and client secret, with a "
             "':' "
             "between them");
    id_ = credential.substr(0, colon);
    secret_ = credential.substr(colon + 1);
}

std::string OAuthToken::get(const storage::HttpClient& client) {
    std::lock_guard lock(mutex_);
    if (token_.empty() || steady_clock::now() >= renew_at_) token_ = request(client);
    return token_;
}

void OAuthToken::invalidate() {
    std::lock_guard lock(mutex_);
    token_.clear();
}

std::string OAuthToken::request(const storage::HttpClient& client) {
    storage::HttpRequest request;
    request.method = "POST";
    request.repeatable = true;
    const std::string fields = "grant_type=client_credentials&scope=" + storage::percent_encode(scope_) +
                               "&client_id=" + storage::percent_encode(id_) +
                               "&client_secret=" + storage::percent_encode(secret_);
    request.url = token_url_;
    if (in_request_body_)
        request.body = fields;
    else
        request.url += (token_url_.find('?') == token_url_.npos ? "?" : "&") + fields;
    request.headers.set("Content-Type", "application/x-www-form-urlencoded");
    request.headers.set("Accept", "application/json");
    const storage::HttpReply reply = client.send(std::move(request));
    const std::string shown = storage::shown_url(token_url_);
    if (!reply.ok()) {
        const ServiceError error = service_error(reply);
        fail(ErrorCode::AUTHENTICATION_FAILED, "The token server {} refused the catalog_credential: status {}, {}: {}",
             shown, reply.status, error.type, error.message);
    }
    const iceberg::JsonDocument document(reply.body, shown);
    const iceberg::JsonFields root(document.root(), shown);
    const int64_t life =
        std::clamp<int64_t>(root.long_or_nothing("expires_in").value_or(kDefaultTokenSeconds), 0, kLongestTokenSeconds);
    renew_at_ = steady_clock::now() + seconds(std::max(life / 2, life - kRenewBeforeSeconds));
    return std::string(root.required_text("access_token"));
}

// ---- requests

namespace {

/// AWS's services refuse expired keys with 400 or 403.
bool says_expired_keys(const storage::HttpReply& reply) {
    if (reply.status != 400 && reply.status != 403) return false;
    const std::string type = service_error(reply).type;
    return type == "ExpiredTokenException" || type == "ExpiredToken";
}

}  // namespace

CatalogRequests::CatalogRequests(std::string shown_name, storage::HttpOptions http)
    : shown_name_(std::move(shown_name)), client_(std::move(http)) {}

storage::HttpReply CatalogRequests::get(const std::string& url) const {
    storage::HttpRequest request;
    request.url = url;
    return send(std::move(request));
}

storage::HttpReply CatalogRequests::send(storage::HttpRequest request) const {
    request.body_limit = kMaxReplyBytes;
    request.headers.set("Accept", "application/json");
    for (const auto& [name, value] : headers) request.headers.add(name, value);
    request.before_attempt = [this, own = request.headers](storage::HttpRequest& sent, unsigned) {
        sent.headers = own;
        if (oauth)
            sent.headers.set("Authorization", "Bearer " + oauth->get(client_));
        else if (!bearer.empty())
            sent.headers.set("Authorization", "Bearer " + bearer);
        if (aws) {
            const auto credentials = aws->get();
            if (credentials.empty())
                fail(ErrorCode::AUTHENTICATION_FAILED,
                     "{} wants signed requests, and there are no AWS credentials: neither aws_access_key_id nor in the "
                     "environment",
                     shown_name_);
            storage::sign_aws_v4(sent, credentials, aws_scope, storage::sha256_hex(sent.body), unix_now());
        }
    };
    request.retry_reply = [this](const storage::HttpReply& reply, unsigned attempt) {
        if (attempt > 1 || (!is_expired_token(reply.status) && !(aws && says_expired_keys(reply)))) return false;
        if (oauth) oauth->invalidate();
        if (aws) aws->invalidate();
        return oauth || aws;
    };
    storage::HttpReply reply;
    try {
        reply = client_.send(std::move(request));
    } catch (Error& error) {
        error.add_context(shown_name_ + ": ");
        throw;
    }
    if (is_expired_token(reply.status) || reply.status == 403 || reply.status >= 500) fail_reply(reply, "a request");
    return reply;
}

void CatalogRequests::fail_reply(const storage::HttpReply& reply, std::string_view doing) const {
    const ServiceError error = service_error(reply);
    const ErrorCode code = is_expired_token(reply.status) ? ErrorCode::AUTHENTICATION_FAILED
                           : reply.status == 403          ? ErrorCode::ACCESS_DENIED
                                                          : ErrorCode::DATALAKE_DATABASE_ERROR;
    fail(code, "{} answered {} with status {}{}{}: {}", shown_name_, doing, reply.status,
         error.type.empty() ? "" : ", ", error.type, error.message.empty() ? "no message" : error.message);
}

}  // namespace firn::catalog
