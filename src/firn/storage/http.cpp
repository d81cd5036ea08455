#include "firn/storage/http.h"

#include <algorithm>
#include <charconv>
#include <random>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/http_engine.h"
#include "firn/storage/url.h"

namespace firn::storage {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kCancelCheck{20};
constexpr milliseconds kMaxRetryAfter{60'000};
/// Nobody listening is seldom a passing matter.
constexpr unsigned kConnectAttempts = 3;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

/// Throws where a line break inside would begin another header.
void check_header(const std::string& name, const std::string& value) {
    for (const std::string* text : {&name, &value}) {
        if (text->find_first_of(std::string_view("\r\n\0", 3)) != text->npos) {
            fail(ErrorCode::BAD_ARGUMENTS, "HTTP header '{}' holds a line break or a zero byte",
                 name.substr(0, name.find_first_of("\r\n")));
        }
    }
}

enum class Outcome { Final, Retry, RetryConnect };

Outcome outcome_of(CURLcode code, bool repeatable) {
    switch (code) {
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_CONNECT:
            return Outcome::RetryConnect;  // nothing was sent, so any request may be tried again
        case CURLE_OPERATION_TIMEDOUT:
        case CURLE_PARTIAL_FILE:
        case CURLE_GOT_NOTHING:
        case CURLE_SEND_ERROR:
        case CURLE_RECV_ERROR:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_UNSUPPORTED_PROTOCOL:  // what came is no HTTP
        case CURLE_HTTP2:
        case CURLE_SEND_FAIL_REWIND:
            return repeatable ? Outcome::Retry : Outcome::Final;
        default:
            return Outcome::Final;
    }
}

[[noreturn]] void fail_transfer(const HttpTransfer& transfer, unsigned attempts) {
    std::string host = shown_url(transfer.request.url);
    if (const size_t scheme = host.find("://"); scheme != host.npos)
        host.resize(std::min(host.find('/', scheme + 3), host.size()));
    const std::string tries = attempts > 1 ? fmt::format(" ({} tries)", attempts) : "";
    const std::string_view detail = transfer.message[0] ? transfer.message : curl_easy_strerror(transfer.result);
    switch (transfer.result) {
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
            fail(ErrorCode::DNS_ERROR, "{}: {}{}", host, detail, tries);
        case CURLE_OPERATION_TIMEDOUT:
            fail(ErrorCode::SOCKET_TIMEOUT, "{}: timed out: {}{}", host, detail, tries);
        case CURLE_TOO_MANY_REDIRECTS:
            fail(ErrorCode::TOO_MANY_REDIRECTS, "{}: more than {} redirects", host, transfer.request.redirects);
        case CURLE_PEER_FAILED_VERIFICATION:
            fail(ErrorCode::NETWORK_ERROR,
                 "{}: its certificate is not trusted: {}. Name the certificate authority's PEM file in SSL_CERT_FILE",
                 host, detail);
        case CURLE_SSL_CONNECT_ERROR:
            // What OpenSSL says of a server that answers in plain text.
            if (detail.find("wrong version number") != detail.npos)
                fail(ErrorCode::NETWORK_ERROR, "{}: what answers does not speak TLS, as https:// wants{}", host, tries);
            fail(ErrorCode::NETWORK_ERROR, "{}: {}{}", host, detail, tries);
        case CURLE_SSL_CACERT_BADFILE:
            fail(ErrorCode::NETWORK_ERROR, "{}: the file of trusted certificates cannot be read: {}", host, detail);
        case CURLE_URL_MALFORMAT:
            fail(ErrorCode::BAD_ARGUMENTS, "{}: {}", host, curl_easy_strerror(transfer.result));
        case CURLE_UNSUPPORTED_PROTOCOL:
            if (!transfer.request.url.starts_with("http"))
                fail(ErrorCode::BAD_ARGUMENTS, "{}: neither http nor https", host);
            fail(ErrorCode::NETWORK_ERROR, "{}: what answers does not speak HTTP{}", host, tries);
        default:
            fail(ErrorCode::NETWORK_ERROR, "{}: {}{}", host, detail, tries);
    }
}

milliseconds random_part(milliseconds most) {
    thread_local std::minstd_rand generator{std::random_device{}()};
    return milliseconds(std::uniform_int_distribution<int64_t>(most.count() / 2, most.count())(generator));
}

class Exchange final : public HttpExchange {
public:
    Exchange(HttpRequest request, const HttpOptions& options)
        : options_(options), request_(std::move(request)), begun_(Clock::now()) {
        if (QueryContext* context = QueryContext::current())
            depth_ = context->count(ProfileEvent::StorageDependentRequests) + 1;
        repeatable_ = request_.repeatable.value_or(request_.method != "POST" && request_.method != "PATCH");
        start_attempt();
    }
    ~Exchange() override {
        if (transfer_) HttpEngine::instance().abandon(transfer_);
    }

    HttpReply wait() override {
        for (;;) {
            wait_attempt();
            const milliseconds delay = delay_before_next();
            if (delay < milliseconds(0)) return take_reply();
            count_event(ProfileEvent::StorageRequestRetries);
            // A server that was redirected to is another than the one that was asked.
            const bool nobody = transfer_->result != CURLE_OK && transfer_->reply.status == 0;
            if (nobody && request_.no_reply) request_.no_reply();
            sleep(delay);
            HttpEngine::instance().abandon(transfer_);
            ++attempt_;
            start_attempt();
        }
    }

private:
    void start_attempt() {
        if (request_.before_attempt) request_.before_attempt(request_, attempt_);
        for (const auto& [name, value] : request_.headers) check_header(name, value);
        transfer_ = std::make_shared<HttpTransfer>();
        transfer_->options = options_;
        transfer_->request = request_;
        count_event(ProfileEvent::StorageRequests);
        HttpEngine::instance().submit(transfer_);
    }

    void wait_attempt() {
        std::unique_lock lock(transfer_->mutex);
        while (!transfer_->changed.wait_for(lock, kCancelCheck, [&] { return transfer_->done; })) {
            lock.unlock();
            check_cancelled();
            lock.lock();
        }
        if (transfer_->new_connections)
            count_event(ProfileEvent::StorageConnectionsCreated, transfer_->new_connections);
        if (!transfer_->new_connections && transfer_->result == CURLE_OK)
            count_event(ProfileEvent::StorageConnectionsReused);
    }

    void sleep(milliseconds delay) const {
        const auto until = Clock::now() + delay;
        for (auto now = Clock::now(); now < until; now = Clock::now()) {
            check_cancelled();
            std::this_thread::sleep_for(std::min<Clock::duration>(until - now, kCancelCheck));
        }
    }

    bool short_of_into() const {
        const HttpReply& reply = transfer_->reply;
        return transfer_->into_span && reply.status == (transfer_->ranged ? 206 : 200) &&
               reply.received < request_.into.size();
    }

    /// How long to wait before the next try; negative: there is none.
    milliseconds delay_before_next() const {
        constexpr milliseconds none{-1};
        unsigned most = std::max(1U, options_.attempts);
        const HttpReply& reply = transfer_->reply;
        milliseconds asked{0};
        if (transfer_->too_long) return none;
        if (transfer_->result != CURLE_OK) {
            const Outcome outcome = outcome_of(transfer_->result, repeatable_);
            if (outcome == Outcome::Final) return none;
            if (outcome == Outcome::RetryConnect) most = std::min(most, kConnectAttempts);
        } else if (is_retryable_status(reply.status)) {
            // "Later" is an answer that nothing was done, whatever the method; the rest of 5xx is not.
            if (!repeatable_ && reply.status != 429 && reply.status != 503) return none;
            asked = std::min(retry_after(reply).value_or(milliseconds(0)), kMaxRetryAfter);
        } else if (short_of_into()) {
            // the same request again
        } else if (!request_.retry_reply || !request_.retry_reply(reply, attempt_)) {
            return none;
        }
        if (attempt_ >= most) return none;
        const unsigned doublings = std::min(attempt_ - 1, 20U);
        const milliseconds backoff = std::min(options_.first_delay * (int64_t{1} << doublings), options_.max_delay);
        const milliseconds delay = std::max(asked, random_part(backoff));
        return Clock::now() + delay > begun_ + options_.retry_budget ? none : delay;
    }

    HttpReply take_reply() {
        HttpTransfer& transfer = *transfer_;
        if (QueryContext* context = QueryContext::current())
            context->raise(ProfileEvent::StorageDependentRequests, depth_);
        const std::string what = transfer.too_long ? shown_url(request_.url) : std::string();
        if (transfer.too_long && transfer.into_span && transfer.reply.status == (transfer.ranged ? 206 : 200)) {
            fail(ErrorCode::CANNOT_READ_ALL_DATA, "{}: the reply is longer than the {} bytes asked for", what,
                 request_.into.size());
        }
        if (transfer.too_long)
            fail(ErrorCode::LIMIT_EXCEEDED, "{}: the reply has more than {} bytes", what, request_.body_limit);
        if (transfer.result != CURLE_OK) fail_transfer(transfer, attempt_);
        if (short_of_into()) {
            fail(ErrorCode::CANNOT_READ_ALL_DATA, "{}: the reply has {} bytes, {} were asked for ({} tries)",
                 shown_url(request_.url), transfer.reply.received, request_.into.size(), attempt_);
        }
        HttpReply reply = std::move(transfer.reply);
        reply.attempts = attempt_;
        return reply;
    }

    HttpOptions options_;
    HttpRequest request_;
    Clock::time_point begun_;
    bool repeatable_ = true;
    unsigned attempt_ = 1;
    uint64_t depth_ = 1;  ///< requests that one after the other led to this one
    std::shared_ptr<HttpTransfer> transfer_;
};

}  // namespace

std::optional<std::string_view> HttpHeaders::get(std::string_view name) const {
    for (const auto& [key, value] : lines_) {
        if (same_name(key, name)) return value;
    }
    return std::nullopt;
}

void HttpHeaders::remove(std::string_view name) {
    std::erase_if(lines_, [&](const auto& line) { return same_name(line.first, name); });
}

void HttpHeaders::set(std::string_view name, std::string_view value) {
    remove(name);
    add(name, value);
}

std::unique_ptr<HttpExchange> HttpClient::start(HttpRequest request) const {
    return std::make_unique<Exchange>(std::move(request), options_);
}

bool is_retryable_status(int status) {
    switch (status) {
        case 408:
        case 425:
        case 429:
        case 500:
        case 502:
        case 503:
        case 504:
        case 509:
            return true;
        default:
            return false;
    }
}

std::optional<milliseconds> retry_after(const HttpReply& reply) {
    const auto value = reply.headers.get("retry-after");
    if (!value || value->empty()) return std::nullopt;
    uint32_t seconds = 0;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), seconds);
    if (error == std::errc() && end == value->data() + value->size()) return milliseconds(int64_t{seconds} * 1000);
    const time_t date = curl_getdate(std::string(*value).c_str(), nullptr);
    if (date < 0) return std::nullopt;
    return milliseconds(std::max<int64_t>(0, date - std::time(nullptr)) * 1000);
}

}  // namespace firn::storage
