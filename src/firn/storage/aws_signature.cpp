#include "firn/storage/aws_signature.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "firn/base/error.h"
#include "firn/storage/url.h"

namespace firn::storage {

namespace {

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        out += digits[static_cast<uint8_t>(c) >> 4];
        out += digits[static_cast<uint8_t>(c) & 15];
    }
    return out;
}

std::string digest(const EVP_MD* kind, const void* data, size_t size) {
    std::array<uint8_t, EVP_MAX_MD_SIZE> out;
    unsigned length = 0;
    if (EVP_Digest(data, size, out.data(), &length, kind, nullptr) != 1)
        fail(ErrorCode::OPENSSL_ERROR, "A hash function of OpenSSL failed");
    return {reinterpret_cast<const char*>(out.data()), length};
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

/// Without spaces around, and those inside as one.
std::string trimmed(std::string_view value) {
    std::string out;
    for (const char c : value) {
        if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
        out += c;
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

std::string canonical_query(std::string_view query) {
    std::vector<std::pair<std::string, std::string>> parameters;
    while (!query.empty()) {
        const size_t end = std::min(query.find('&'), query.size());
        const std::string_view one = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (one.empty()) continue;
        const size_t equals = std::min(one.find('='), one.size());
        const std::string_view value = one.substr(std::min(equals + 1, one.size()));
        parameters.emplace_back(percent_encode(percent_decode(one.substr(0, equals))),
                                percent_encode(percent_decode(value)));
    }
    std::sort(parameters.begin(), parameters.end());
    std::string out;
    for (const auto& [name, value] : parameters) {
        if (!out.empty()) out += '&';
        out += name + "=" + value;
    }
    return out;
}

bool is_signed_header(const std::string& name) {
    return name != "authorization" && name != "user-agent" && name != "expect" && name != "connection" &&
           name != "accept" && name != "content-length" && name != "transfer-encoding";
}

struct CanonicalHeaders {
    std::string block;  // "name:value\n" each
    std::string names;  // "a;b"
};

CanonicalHeaders canonical_headers(const HttpHeaders& headers) {
    std::map<std::string, std::string> sorted;
    for (const auto& [name, value] : headers) {
        const std::string key = lower(name);
        if (!is_signed_header(key)) continue;
        auto [place, fresh] = sorted.try_emplace(key, trimmed(value));
        if (!fresh) place->second += "," + trimmed(value);
    }
    CanonicalHeaders out;
    for (const auto& [name, value] : sorted) {
        out.block += name + ":" + value + "\n";
        if (!out.names.empty()) out.names += ';';
        out.names += name;
    }
    return out;
}

/// For all services but S3: `.`, `..` and empty segments resolved, then each segment encoded a second time.
std::string normalized_path(std::string_view path) {
    std::vector<std::string_view> kept;
    const bool folder = path.empty() || path.back() == '/' || path.ends_with("/.") || path.ends_with("/..");
    while (!path.empty()) {
        const size_t end = std::min(path.find('/'), path.size());
        const std::string_view segment = path.substr(0, end);
        path.remove_prefix(std::min(end + 1, path.size()));
        if (segment.empty() || segment == ".") continue;
        if (segment == "..") {
            if (!kept.empty()) kept.pop_back();
        } else {
            kept.push_back(segment);
        }
    }
    std::string out;
    for (const std::string_view segment : kept) out += "/" + percent_encode(segment);
    if (folder) out += '/';
    return out.empty() ? "/" : out;
}

}  // namespace

std::string sha256_hex(std::span<const uint8_t> bytes) { return hex(digest(EVP_sha256(), bytes.data(), bytes.size())); }
std::string sha256_hex(std::string_view text) { return hex(digest(EVP_sha256(), text.data(), text.size())); }
std::string md5(std::string_view text) { return digest(EVP_md5(), text.data(), text.size()); }

std::string hmac_sha256(std::string_view key, std::string_view text) {
    std::array<uint8_t, EVP_MAX_MD_SIZE> out;
    unsigned length = 0;
    if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const uint8_t*>(text.data()),
              text.size(), out.data(), &length))
        fail(ErrorCode::OPENSSL_ERROR, "HMAC-SHA256 of OpenSSL failed");
    return {reinterpret_cast<const char*>(out.data()), length};
}

std::string base64_encode(std::string_view bytes) {
    std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int length = EVP_EncodeBlock(reinterpret_cast<uint8_t*>(out.data()),
                                       reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
    out.resize(static_cast<size_t>(length));
    return out;
}

std::string base64_decode(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    std::string padded(text);
    while (padded.size() % 4) padded += '=';
    std::string out(padded.size() / 4 * 3 + 1, '\0');
    const int length =
        EVP_DecodeBlock(reinterpret_cast<uint8_t*>(out.data()), reinterpret_cast<const uint8_t*>(padded.data()),
                        static_cast<int>(padded.size()));
    if (length < 0) fail(ErrorCode::BAD_ARGUMENTS, "A key or token is not valid base64");
    size_t size = static_cast<size_t>(length);
    for (size_t i = padded.size(); i > 0 && padded[i - 1] == '=' && size > 0; --i) --size;
    out.resize(size);
    return out;
}

void sign_aws_v4(HttpRequest& request, const AwsCredentials& credentials, const AwsScope& scope,
                 std::string_view body_hash, int64_t unix_seconds) {
    const Url url = parse_url(request.url);
    const std::time_t seconds = unix_seconds;
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    const std::string day = fmt::format("{:04}{:02}{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
    const std::string date = fmt::format("{}T{:02}{:02}{:02}Z", day, utc.tm_hour, utc.tm_min, utc.tm_sec);
    const bool s3 = scope.service == "s3";

    request.headers.set("Host", url.authority());
    request.headers.set("X-Amz-Date", date);
    if (s3 || scope.service == "s3tables") request.headers.set("X-Amz-Content-Sha256", body_hash);
    if (credentials.session_token.empty()) {
        request.headers.remove("X-Amz-Security-Token");
    } else {
        request.headers.set("X-Amz-Security-Token", credentials.session_token);
    }

    const CanonicalHeaders headers = canonical_headers(request.headers);
    const std::string path = s3 ? (url.path.empty() ? "/" : url.path) : normalized_path(url.path);
    const std::string canonical = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, path,
                                              canonical_query(url.query), headers.block, headers.names, body_hash);
    const std::string credential_scope = fmt::format("{}/{}/{}/aws4_request", day, scope.region, scope.service);
    const std::string to_sign =
        fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, credential_scope, sha256_hex(canonical));
    std::string key = hmac_sha256("AWS4" + credentials.secret_access_key, day);
    for (const std::string_view part :
         {std::string_view(scope.region), std::string_view(scope.service), std::string_view("aws4_request")}) {
        key = hmac_sha256(key, part);
    }
    request.headers.set(
        "Authorization",
        fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}", credentials.access_key_id,
                    credential_scope, headers.names, hex(hmac_sha256(key, to_sign))));
}

}  // namespace firn::storage
