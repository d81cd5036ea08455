// Requests to a catalog's HTTP service: who asks (OAuth2, bearer token, headers, AWS signature), and what a refusal means.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "firn/catalog/catalog_options.h"
#include "firn/storage/aws_credentials.h"
#include "firn/storage/http.h"

namespace firn::catalog {

/// Time-outs and tries of requests to catalogs: one that is down is said to be so within seconds.
storage::HttpOptions catalog_http_options(const CatalogOptions& options);

/// Keys of the settings, with the role that they may assume; without keys, those of the environment.
storage::AwsCredentialsPtr aws_credentials_of(const CatalogOptions& options);

/// A token by OAuth2's client credentials, kept until shortly before it expires. Thread-safe.
class OAuthToken {
public:
    /// credential: "id:secret". extra: further fields of the request.
    OAuthToken(std::string token_url, std::string credential, std::string scope, bool in_request_body);
    /// AUTHENTICATION_FAILED where the server refuses.
    std::string get(const storage::HttpClient& client);
    void invalidate();

private:
    std::string request(const storage::HttpClient& client);

    std::string token_url_, id_, secret_, scope_;
    bool in_request_body_;
    std::mutex mutex_;
    std::string token_;
    std::chrono::steady_clock::time_point renew_at_;
};

/// Thread-safe once set up.
class CatalogRequests {
public:
    CatalogRequests(std::string shown_name, storage::HttpOptions http);

    std::shared_ptr<OAuthToken> oauth;  ///< null: none
    std::string bearer;                 ///< a token that does not change; empty: none
    storage::HttpHeaders headers;       ///< sent with each request
    storage::AwsCredentialsPtr aws;     ///< not null: requests are signed
    storage::AwsScope aws_scope;

    /// Any reply but a server's failure (5xx) and a refusal (401, 403) is given back.
    storage::HttpReply send(storage::HttpRequest request) const;
    storage::HttpReply get(const std::string& url) const;
    /// Throws what a reply says that is no success: the service's message with its type.
    [[noreturn]] void fail_reply(const storage::HttpReply& reply, std::string_view doing) const;
    const std::string& shown_name() const { return shown_name_; }

private:
    std::string shown_name_;
    storage::HttpClient client_;
};

/// Type and message of an error's JSON, of whatever service; the begin of the body where it is none.
struct ServiceError {
    std::string type, message;
    bool is_json = false;
};
ServiceError service_error(const storage::HttpReply& reply);

/// Adds "Name: value" lines. BAD_ARGUMENTS, without the value, for a line that is none.
void add_header_lines(std::string_view lines, storage::HttpHeaders& headers);

}  // namespace firn::catalog
