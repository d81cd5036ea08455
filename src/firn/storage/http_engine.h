// The thread that drives all HTTP transfers of the process. Only http.cpp uses it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <curl/curl.h>

#include "firn/storage/http.h"

namespace firn::storage {

/// One try of one request. What the engine's thread and the waiting thread share is guarded by `mutex`.
struct HttpTransfer {
    HttpRequest request;
    HttpOptions options;

    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    /// Nobody waits any more: spans of the request are not touched again.
    bool abandoned = false;

    CURLcode result = CURLE_OK;
    unsigned new_connections = 0;
    bool too_long = false;  ///< the body passed body_limit or the end of `into`
    HttpReply reply;
    char message[CURL_ERROR_SIZE] = {};

    // Only the engine's thread looks at these.
    CURL* easy = nullptr;
    curl_slist* header_list = nullptr;
    size_t sent = 0;
    bool into_span = false;
    bool ranged = false;
    bool connected = false;                             ///< the request is sent, or being sent
    std::chrono::steady_clock::time_point last_byte{};  ///< in either direction, since it is connected

    /// Where nobody waits any more, the rest of a small body is read and forgotten for a while: ending it would cost the
    /// connection.
    bool may_linger() const {
        constexpr size_t kSmallBody = size_t{1} << 20;
        return request.method == "GET" && !request.into.empty() && request.into.size() <= kSmallBody;
    }

    std::span<const uint8_t> outgoing() const {
        if (!request.body_view.empty()) return request.body_view;
        return {reinterpret_cast<const uint8_t*>(request.body.data()), request.body.size()};
    }
};

class HttpEngine {
public:
    /// The process's own, made at its first use.
    static HttpEngine& instance();

    void submit(std::shared_ptr<HttpTransfer> transfer);
    /// Ends a transfer that nobody waits for; returns at once.
    void abandon(const std::shared_ptr<HttpTransfer>& transfer);

    ~HttpEngine();
    HttpEngine(const HttpEngine&) = delete;
    HttpEngine& operator=(const HttpEngine&) = delete;

private:
    HttpEngine();
    void run();
    /// Begins those that wait, as far as connections are left. curl would queue them too, but counts the time of waiting
    /// as time of connecting.
    void begin_waiting();
    void begin(const std::shared_ptr<HttpTransfer>& transfer);
    void finish(CURL* easy, CURLcode result);
    /// Those that curl has done with.
    void collect_finished();
    void end_lingering();
    /// Ends those that were silent for too long; milliseconds until the next may be.
    std::chrono::milliseconds end_silent();
    CURL* take_easy();

    CURLM* multi_ = nullptr;
    std::mutex mutex_;
    std::deque<std::shared_ptr<HttpTransfer>> incoming_;
    std::vector<std::shared_ptr<HttpTransfer>> cancelled_;
    bool stopping_ = false;

    // The thread's own.
    std::deque<std::shared_ptr<HttpTransfer>> waiting_;
    std::vector<std::shared_ptr<HttpTransfer>> running_;
    /// Abandoned ones that may go on till a time, to the end of their body.
    std::vector<std::pair<std::chrono::steady_clock::time_point, std::shared_ptr<HttpTransfer>>> lingering_;
    std::map<std::string, unsigned, std::less<>> running_by_host_;
    std::vector<CURL*> idle_;
    std::thread thread_;
};

}  // namespace firn::storage
