#include "firn/storage/remote_store.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

#include <curl/curl.h>
#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/remote_file.h"

namespace firn::storage {

namespace {

std::optional<uint64_t> number(std::string_view text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// What objects of unknown size are opened with: their last bytes, where columnar formats keep their footer.
constexpr uint64_t kTailBytes = uint64_t{64} << 10;

}  // namespace

RemoteStore::RemoteStore(HttpOptions options, std::string identity)
    : client_(std::move(options)), identity_(identity.empty() ? unshared_identity() : std::move(identity)) {}

ObjectInfo RemoteStore::info_of(std::string_view path, const HttpReply& reply) const {
    ObjectInfo info;
    info.path = path;
    std::optional<uint64_t> size;
    if (const auto range = reply.headers.get("content-range"); range && reply.status == 206) {
        const size_t slash = range->rfind('/');
        if (slash != range->npos) size = number(range->substr(slash + 1));
    } else if (const auto length = reply.headers.get("content-length")) {
        size = number(*length);
    }
    if (!size) fail(error_code(), "{}: the service does not say how many bytes it has", path);
    info.size = *size;
    info.etag = std::string(reply.headers.get("etag").value_or(""));
    info.modified_us = http_date_us(reply.headers.get("last-modified").value_or(""));
    return info;
}

HttpReply RemoteStore::finish(HttpExchange& exchange, std::string_view path, std::string_view doing) const {
    const auto begin = std::chrono::steady_clock::now();
    try {
        HttpReply reply = exchange.wait();
        const auto waited = std::chrono::steady_clock::now() - begin;
        count_read(reply.received + (reply.ok() ? reply.body.size() : 0),
                   static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(waited).count()));
        return reply;
    } catch (const Error& error) {
        switch (error.code()) {
            case ErrorCode::NETWORK_ERROR:
            case ErrorCode::DNS_ERROR:
            case ErrorCode::SOCKET_TIMEOUT:
                fail(error_code(), "Cannot {} {}: {}", doing, path, error.message());
            default:
                throw;
        }
    }
}

HttpReply RemoteStore::send(HttpRequest request, std::string_view path, std::string_view doing) const {
    const auto exchange = start(std::move(request));
    return finish(*exchange, path, doing);
}

ObjectInfo RemoteStore::stat(std::string_view path) const {
    if (auto info = try_stat(path)) return *std::move(info);
    fail(ErrorCode::FILE_DOESNT_EXIST, "{} does not exist", path);
}

std::shared_ptr<const OpenFile> RemoteStore::open(std::string_view path, const ObjectInfo& known) const {
    ObjectInfo info = known;
    info.path = path;
    return std::make_shared<RemoteFile>(shared_from_this(), std::move(info));
}

std::shared_ptr<const OpenFile> RemoteStore::open(std::string_view path) const {
    auto request = tail_request(path, kTailBytes);
    if (!request) return open(path, stat(path));
    const HttpReply reply = send(*std::move(request), path, "open");
    if (reply.status == 416) return open(path, stat(path));  // an empty object has no last bytes
    if (!reply.ok()) fail_reply(reply, path, "open");
    ObjectInfo info = info_of(path, reply);
    const uint64_t expected = std::min(info.size, kTailBytes);
    if (reply.status != 206 && reply.body.size() == info.size) {
        // Some services send the whole of a small object.
    } else if (reply.body.size() != expected) {
        fail(ErrorCode::CANNOT_READ_ALL_DATA, "{}: its last {} bytes were asked for, the service gave {}", path,
             expected, reply.body.size());
    }
    const MemoryTracker::Scope uncharged(nullptr);
    auto tail = Buffer::allocate(reply.body.size());
    std::copy(reply.body.begin(), reply.body.end(), tail->mutable_data());
    return std::make_shared<RemoteFile>(shared_from_this(), std::move(info), std::move(tail));
}

std::string RemoteStore::read_all(std::string_view path, uint64_t limit) const {
    HttpRequest request = read_request(path, std::nullopt, "");
    request.body_limit = limit;
    try {
        HttpReply reply = send(std::move(request), path, "read");
        if (!reply.ok()) fail_reply(reply, path, "read");
        return std::move(reply.body);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::LIMIT_EXCEEDED) throw;
        fail(ErrorCode::LIMIT_EXCEEDED, "File {} has more than the {} bytes that may be read at once", path, limit);
    }
}

std::optional<FilesystemCache::Object> RemoteStore::cached_object(const ObjectInfo& info) const {
    if (info.etag.empty() && info.table.empty()) return std::nullopt;
    const std::string version = info.etag.empty() ? "table " + info.table : "etag " + info.etag;
    return FilesystemCache::Object{service() + "\n" + info.path + "\n" + version, info.size};
}

std::string RemoteStore::read_all(const ObjectInfo& known, uint64_t limit) const {
    FilesystemCache* const cache = current_filesystem_cache();
    auto object = cache ? cached_object(known) : std::nullopt;
    if (!object || known.size > limit) return read_all_now(known, limit);
    const auto found = known.size ? cache->read(*object, {0, known.size}) : cache->read_whole(object->key, limit);
    if (found) return std::string(found->bytes->data(), found->bytes->size());
    std::string bytes = read_all_now(known, limit);
    count_event(ProfileEvent::CachedReadBufferReadFromSourceBytes, bytes.size());
    if (object->size == 0) object->size = bytes.size();
    FilesystemCache* const writable = writable_filesystem_cache();
    if (writable && bytes.size() == object->size) writable->write(*object, known.etag, 0, as_bytes(bytes));
    return bytes;
}

std::string RemoteStore::read_all_now(const ObjectInfo& known, uint64_t limit) const {
    if (known.size == 0 || known.size > limit) return read_all(known.path, limit);
    std::string bytes(known.size, '\0');
    HttpRequest request = read_request(known.path, std::nullopt, "");
    request.into = {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()};
    try {
        const HttpReply reply = send(std::move(request), known.path, "read");
        if (!reply.ok()) fail_reply(reply, known.path, "read");
        return bytes;
    } catch (const Error& error) {
        // Shorter or longer than it was said to be: it may have been replaced, or the size written down wrong.
        if (error.code() != ErrorCode::CANNOT_READ_ALL_DATA) throw;
        const auto actual = try_stat(known.path);
        if (!actual || actual->size == known.size) throw;
        return read_all(known.path, limit);
    }
}

std::string unshared_identity() {
    static std::atomic<uint64_t> stores{0};
    return fmt::format("store {}", ++stores);
}

namespace {

constexpr int64_t kLastSecond = 253402300799;  // of the year 9999

}  // namespace

int64_t http_date_us(std::string_view text) {
    if (text.empty()) return 0;
    const time_t seconds = curl_getdate(std::string(text).c_str(), nullptr);
    return seconds < 0 || seconds > kLastSecond ? 0 : int64_t{seconds} * 1'000'000;
}

int64_t iso_date_us(std::string_view text) {
    std::tm utc{};
    double seconds = 0;
    const std::string copy(text);
    if (std::sscanf(copy.c_str(), "%d-%d-%dT%d:%d:%lf", &utc.tm_year, &utc.tm_mon, &utc.tm_mday, &utc.tm_hour,
                    &utc.tm_min, &seconds) != 6)
        return 0;
    if (utc.tm_year < 1970 || utc.tm_year > 9999 || !(seconds >= 0 && seconds < 62)) return 0;
    for (const int field : {utc.tm_mon, utc.tm_mday, utc.tm_hour, utc.tm_min})
        if (field < 0 || field > 60) return 0;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    return int64_t{timegm(&utc)} * 1'000'000 + std::llround(seconds * 1e6);
}

}  // namespace firn::storage
