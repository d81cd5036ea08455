#include "firn/storage/http_engine.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace firn::storage {

namespace {

constexpr size_t kErrorBodyLimit = size_t{1} << 20;
// Most connections that the process holds, in all and to one host.
constexpr unsigned kTotalConnections = 256;
constexpr unsigned kConnectionsPerHost = 64;
constexpr std::chrono::milliseconds kLinger{1'000};

/// The certificates to trust: a file that the environment names, else the first that systems keep.
const std::string& default_ca_file() {
    static const std::string path = [] {
        for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"}) {
            if (const char* value = std::getenv(name); value && *value) return std::string(value);
        }
        for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                 "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
            if (::access(file, R_OK) == 0) return std::string(file);
        }
        return std::string();
    }();
    return path;
}

void heard(HttpTransfer& transfer) { transfer.last_byte = std::chrono::steady_clock::now(); }

int on_connected(void* user, char*, char*, int, int) {
    auto& transfer = *static_cast<HttpTransfer*>(user);
    transfer.connected = true;
    heard(transfer);
    return CURL_PREREQFUNC_OK;
}

size_t on_header(char* data, size_t, size_t size, void* user) {
    auto& transfer = *static_cast<HttpTransfer*>(user);
    heard(transfer);
    std::string_view line(data, size);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    std::lock_guard lock(transfer.mutex);
    // A status line begins each reply on the way: of a redirect, "100 Continue", a proxy's tunnel.
    if (line.starts_with("HTTP/")) {
        transfer.reply.headers.clear();
        const size_t space = line.find(' ');
        transfer.reply.status = space == line.npos ? 0 : std::atoi(line.data() + space + 1);
        return size;
    }
    const size_t colon = line.find(':');
    if (colon == line.npos) return size;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    transfer.reply.headers.add(line.substr(0, colon), value);
    return size;
}

size_t on_body(char* data, size_t, size_t size, void* user) {
    auto& transfer = *static_cast<HttpTransfer*>(user);
    heard(transfer);
    std::lock_guard lock(transfer.mutex);
    if (transfer.abandoned) return transfer.may_linger() ? size : CURL_WRITEFUNC_ERROR;
    HttpReply& reply = transfer.reply;
    if (transfer.into_span && reply.status == (transfer.ranged ? 206 : 200)) {
        if (size > transfer.request.into.size() - reply.received) {
            transfer.too_long = true;
            return CURL_WRITEFUNC_ERROR;
        }
        std::memcpy(transfer.request.into.data() + reply.received, data, size);
        reply.received += size;
        return size;
    }
    if (!reply.ok()) {
        // What a server says about an error is for people: its begin is enough.
        reply.body.append(data, std::min(size, kErrorBodyLimit - std::min(kErrorBodyLimit, reply.body.size())));
        return size;
    }
    if (size > transfer.request.body_limit - std::min(transfer.request.body_limit, uint64_t{reply.body.size()})) {
        transfer.too_long = true;
        return CURL_WRITEFUNC_ERROR;
    }
    reply.body.append(data, size);
    return size;
}

size_t on_send(char* out, size_t, size_t capacity, void* user) {
    auto& transfer = *static_cast<HttpTransfer*>(user);
    heard(transfer);
    std::lock_guard lock(transfer.mutex);
    if (transfer.abandoned) return CURL_READFUNC_ABORT;
    const auto bytes = transfer.outgoing();
    const size_t size = std::min(capacity, bytes.size() - transfer.sent);
    if (size) std::memcpy(out, bytes.data() + transfer.sent, size);
    transfer.sent += size;
    return size;
}

int on_seek(void* user, curl_off_t offset, int origin) {
    auto& transfer = *static_cast<HttpTransfer*>(user);
    std::lock_guard lock(transfer.mutex);
    if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > transfer.outgoing().size())
        return CURL_SEEKFUNC_CANTSEEK;
    transfer.sent = static_cast<size_t>(offset);
    return CURL_SEEKFUNC_OK;
}

void set_method(CURL* easy, const HttpTransfer& transfer) {
    const std::string& method = transfer.request.method;
    if (method == "GET") {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    } else if (method == "HEAD") {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (method == "DELETE" && transfer.outgoing().empty()) {
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method.c_str());
    } else {
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method.c_str());
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(transfer.outgoing().size()));
    }
}

void set_options(CURL* easy, HttpTransfer& transfer) {
    const HttpOptions& options = transfer.options;
    const HttpRequest& request = transfer.request;
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L << 10);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
    if (request.redirects) {
        curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
        curl_easy_setopt(easy, CURLOPT_MAXREDIRS, static_cast<long>(request.redirects));
        const bool secure = request.url.starts_with("https:");
        curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    }
    const std::string& ca_file = options.ca_file.empty() ? default_ca_file() : options.ca_file;
    if (!ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file.c_str());
    if (!options.verify_certificates) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.message);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &on_connected);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, &on_send);
    curl_easy_setopt(easy, CURLOPT_READDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, &on_seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, &transfer);
}

curl_slist* header_list(const HttpRequest& request) {
    curl_slist* list = nullptr;
    for (const auto& [name, value] : request.headers) {
        // curl's spelling of a header without a value is "Name;".
        list = curl_slist_append(list, (value.empty() ? name + ";" : name + ": " + value).c_str());
    }
    list = curl_slist_append(list, "Expect:");  // no round trip for "100 Continue"
    if (!request.headers.get("accept")) list = curl_slist_append(list, "Accept: */*");
    return list;
}

}  // namespace

HttpEngine& HttpEngine::instance() {
    static HttpEngine engine;
    return engine;
}

HttpEngine::HttpEngine() {
    // Before this object is complete, so that the libraries' own cleaning up at exit comes after ours.
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_ = curl_multi_init();
    curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, long{kTotalConnections});
    curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, long{kConnectionsPerHost});
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, long{kTotalConnections});
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
    thread_ = std::thread([this] { run(); });
}

HttpEngine::~HttpEngine() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
    for (CURL* easy : idle_) curl_easy_cleanup(easy);
    curl_multi_cleanup(multi_);
}

void HttpEngine::submit(std::shared_ptr<HttpTransfer> transfer) {
    {
        std::lock_guard lock(mutex_);
        incoming_.push_back(std::move(transfer));
    }
    curl_multi_wakeup(multi_);
}

void HttpEngine::abandon(const std::shared_ptr<HttpTransfer>& transfer) {
    {
        std::lock_guard lock(transfer->mutex);
        transfer->abandoned = true;
        if (transfer->done) return;
    }
    {
        std::lock_guard lock(mutex_);
        cancelled_.push_back(transfer);
    }
    curl_multi_wakeup(multi_);
}

CURL* HttpEngine::take_easy() {
    if (idle_.empty()) return curl_easy_init();
    CURL* easy = idle_.back();
    idle_.pop_back();
    return easy;
}

namespace {

std::string_view host_of(const HttpTransfer& transfer) {
    const std::string_view url = transfer.request.url;
    const size_t begin = std::min(url.find("://"), url.size() - std::min<size_t>(url.size(), 3)) + 3;
    return url.substr(0, std::min(url.find_first_of("/?", std::min(begin, url.size())), url.size()));
}

}  // namespace

void HttpEngine::begin_waiting() {
    // First come, first served, but a host with no connection left holds up no other.
    for (auto it = waiting_.begin(); it != waiting_.end() && running_.size() < kTotalConnections;) {
        {
            std::lock_guard lock((*it)->mutex);
            if ((*it)->abandoned) {
                it = waiting_.erase(it);
                continue;
            }
        }
        unsigned& running = running_by_host_[std::string(host_of(**it))];
        if (running >= kConnectionsPerHost) {
            ++it;
            continue;
        }
        ++running;
        const auto transfer = std::move(*it);
        it = waiting_.erase(it);
        begin(transfer);
    }
}

void HttpEngine::begin(const std::shared_ptr<HttpTransfer>& transfer) {
    transfer->easy = take_easy();
    transfer->into_span = !transfer->request.into.empty();
    transfer->ranged = transfer->request.headers.get("range").has_value();
    set_options(transfer->easy, *transfer);
    set_method(transfer->easy, *transfer);
    transfer->header_list = header_list(transfer->request);
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->header_list);
    running_.push_back(transfer);
    if (curl_multi_add_handle(multi_, transfer->easy) != CURLM_OK) finish(transfer->easy, CURLE_FAILED_INIT);
}

void HttpEngine::finish(CURL* easy, CURLcode result) {
    const auto found = std::find_if(running_.begin(), running_.end(), [&](const auto& t) { return t->easy == easy; });
    if (found == running_.end()) return;
    const std::shared_ptr<HttpTransfer> transfer = std::move(*found);
    *found = std::move(running_.back());
    running_.pop_back();
    if (const auto host = running_by_host_.find(host_of(*transfer)); host != running_by_host_.end()) {
        if (--host->second == 0) running_by_host_.erase(host);
    }
    curl_multi_remove_handle(multi_, easy);
    long connects = 0;
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
    curl_easy_reset(easy);
    curl_slist_free_all(transfer->header_list);
    transfer->header_list = nullptr;
    transfer->easy = nullptr;
    idle_.push_back(easy);
    std::lock_guard lock(transfer->mutex);
    transfer->result = result;
    transfer->new_connections = static_cast<unsigned>(connects);
    transfer->done = true;
    transfer->changed.notify_all();
}

void HttpEngine::collect_finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        finish(message->easy_handle, message->data.result);
    }
}

void HttpEngine::end_lingering() {
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(lingering_, [&](const auto& lingering) {
        const auto& [until, transfer] = lingering;
        if (transfer->easy && now >= until) finish(transfer->easy, CURLE_ABORTED_BY_CALLBACK);
        return !transfer->easy;
    });
}

/// curl's own limit is a mean of the last seconds, by which a silent server is given up some five seconds late.
std::chrono::milliseconds HttpEngine::end_silent() {
    const auto now = std::chrono::steady_clock::now();
    std::chrono::milliseconds next{60'000};
    std::vector<std::shared_ptr<HttpTransfer>> silent;
    for (const auto& transfer : running_) {
        if (!transfer->connected) continue;
        const auto left = transfer->last_byte + transfer->options.idle_timeout - now;
        if (left.count() <= 0)
            silent.push_back(transfer);
        else
            next = std::min(next, std::chrono::ceil<std::chrono::milliseconds>(left));
    }
    for (const auto& transfer : silent) {
        const auto text = fmt::format("not a byte for {} ms", transfer->options.idle_timeout.count());
        std::memcpy(transfer->message, text.c_str(), std::min(text.size() + 1, sizeof transfer->message));
        finish(transfer->easy, CURLE_OPERATION_TIMEDOUT);
    }
    return next;
}

void HttpEngine::run() {
    for (;;) {
        std::deque<std::shared_ptr<HttpTransfer>> incoming;
        std::vector<std::shared_ptr<HttpTransfer>> cancelled;
        {
            std::lock_guard lock(mutex_);
            incoming.swap(incoming_);
            cancelled.swap(cancelled_);
            if (stopping_) break;
        }
        std::move(incoming.begin(), incoming.end(), std::back_inserter(waiting_));
        for (const auto& transfer : cancelled) {
            if (!transfer->easy) continue;
            if (transfer->may_linger())
                lingering_.emplace_back(std::chrono::steady_clock::now() + kLinger, transfer);
            else
                finish(transfer->easy, CURLE_ABORTED_BY_CALLBACK);
        }
        end_lingering();
        begin_waiting();
        int active = 0;
        curl_multi_perform(multi_, &active);
        const size_t running = running_.size();
        collect_finished();
        const auto next_silent = end_silent();
        if (running_.size() < running && !waiting_.empty()) continue;
        const auto most = std::chrono::milliseconds(active ? 1000 : 60'000);
        curl_multi_poll(multi_, nullptr, 0, static_cast<int>(std::min(most, next_silent).count()), nullptr);
    }
    while (!running_.empty()) finish(running_.back()->easy, CURLE_ABORTED_BY_CALLBACK);
}

}  // namespace firn::storage
