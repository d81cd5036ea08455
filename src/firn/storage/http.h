// The one HTTP client of the program: object stores, catalogs and credential services all go through it.
//
// One thread drives all transfers over libcurl, so that many requests are in flight without a thread each; connections
// are kept, reused and bounded, also between clients. A request is begun with start and waited for with wait, or both
// with send. Waiting repeats what may be repeated (5xx, 429, time-outs, cut connections) with exponential back-off and
// jitter, heeds Retry-After, and stops at once when the query that waits is cancelled.
//
// Proxies are those of the environment (http_proxy, https_proxy, no_proxy). Certificates are checked against ca_file,
// else SSL_CERT_FILE or CURL_CA_BUNDLE, else the system's.
//
// Errors: DNS_ERROR, NETWORK_ERROR (refused, cut, certificate not trusted), SOCKET_TIMEOUT, TOO_MANY_REDIRECTS,
// LIMIT_EXCEEDED (a reply beyond body_limit), CANNOT_READ_ALL_DATA (a reply shorter than `into`), BAD_ARGUMENTS (no
// URL). Each names the host and never a query string, a header or a password. A reply of any status is no error here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::storage {

/// Header lines in order. Names are compared without letter case.
class HttpHeaders {
public:
    HttpHeaders() = default;
    HttpHeaders(std::initializer_list<std::pair<std::string, std::string>> lines) : lines_(lines) {}

    /// The first of that name; nothing where there is none.
    std::optional<std::string_view> get(std::string_view name) const;
    /// Replaces all of that name by one.
    void set(std::string_view name, std::string_view value);
    void add(std::string_view name, std::string_view value) { lines_.emplace_back(name, value); }
    void remove(std::string_view name);
    void clear() { lines_.clear(); }

    auto begin() const { return lines_.begin(); }
    auto end() const { return lines_.end(); }

private:
    std::vector<std::pair<std::string, std::string>> lines_;
};

struct HttpReply {
    int status = 0;
    HttpHeaders headers;
    /// The body; empty where it went to HttpRequest::into.
    std::string body;
    /// Bytes that went to HttpRequest::into.
    uint64_t received = 0;
    /// Tries that this reply took, the first counted.
    unsigned attempts = 1;

    bool ok() const { return status >= 200 && status < 300; }
};

struct HttpRequest {
    std::string method = "GET";
    std::string url;
    HttpHeaders headers;
    std::string body;  ///< sent with any method but GET and HEAD; Content-Length is made from it
    /// Sent instead of `body` where not empty; the bytes must live until the exchange is waited for or destroyed.
    std::span<const uint8_t> body_view;

    /// Where the body of a 206 (or, without a Range header, a 200) reply goes. Its whole size is expected: a shorter reply
    /// is repeated, then CANNOT_READ_ALL_DATA. Must live until the exchange is waited for or destroyed.
    std::span<uint8_t> into;
    /// Bytes of a body that is kept in the reply; more is LIMIT_EXCEEDED.
    uint64_t body_limit = uint64_t{1} << 30;

    /// Whether it may be sent again though the server may have acted on it. By default all but POST and PATCH may.
    std::optional<bool> repeatable;
    /// Redirects that are followed, credentials never to another host; by default none.
    unsigned redirects = 0;

    /// Called in the waiting thread before each try, from 1 on: signs, puts fresh tokens. May change headers and URL.
    std::function<void(HttpRequest&, unsigned attempt)> before_attempt;
    /// Whether a reply that is otherwise final is to be tried again (an expired token that the next try renews).
    std::function<bool(const HttpReply&, unsigned attempt)> retry_reply;
    /// Called in the waiting thread where a try ended without a reply and another is made: for services of several servers.
    std::function<void()> no_reply;
};

struct HttpOptions {
    std::chrono::milliseconds connect_timeout{5'000};
    /// No byte in either direction for so long ends a try.
    std::chrono::milliseconds idle_timeout{30'000};
    /// Tries of one request in all, at least 1. A refused connection or an unknown host is tried 3 times at most.
    unsigned attempts = 8;
    std::chrono::milliseconds first_delay{50};
    std::chrono::milliseconds max_delay{5'000};
    /// No try begins later than this after the first did.
    std::chrono::milliseconds retry_budget{60'000};
    std::string ca_file;  ///< PEM; empty: the environment's or the system's
    bool verify_certificates = true;
    std::string user_agent = "firn";
};

/// A request under way. Destroying it ends it.
class HttpExchange {
public:
    virtual ~HttpExchange() = default;
    HttpExchange() = default;
    HttpExchange(const HttpExchange&) = delete;
    HttpExchange& operator=(const HttpExchange&) = delete;

    /// Waits for the reply, trying again as the options say. Once only. The errors of this file's head.
    virtual HttpReply wait() = 0;
};

/// Thread-safe; cheap to make: connections belong to the process.
class HttpClient {
public:
    explicit HttpClient(HttpOptions options = {}) : options_(std::move(options)) {}

    const HttpOptions& options() const { return options_; }
    std::unique_ptr<HttpExchange> start(HttpRequest request) const;
    HttpReply send(HttpRequest request) const { return start(std::move(request))->wait(); }

private:
    HttpOptions options_;
};

/// Statuses that say "later": 408, 429, 500, 502, 503, 504 and the like.
bool is_retryable_status(int status);

/// Seconds of a Retry-After header (a number or a date), nothing where there is none or it is not understood.
std::optional<std::chrono::milliseconds> retry_after(const HttpReply& reply);

}  // namespace firn::storage
