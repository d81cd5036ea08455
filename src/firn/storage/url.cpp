#include "firn/storage/url.h"

#include <charconv>

#include <fmt/format.h>

#include "firn/base/error.h"

namespace firn::storage {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

std::string Url::authority() const { return port ? fmt::format("{}:{}", host, port) : host; }

std::string Url::origin() const { return scheme + "://" + authority(); }

std::string Url::text() const {
    std::string out = origin() + path;
    if (!query.empty()) out += "?" + query;
    return out;
}

Url parse_url(std::string_view text) {
    Url url;
    const size_t scheme_end = text.find("://");
    if (scheme_end == text.npos || scheme_end == 0) {
        fail(ErrorCode::BAD_ARGUMENTS, "'{}' is not a URL: scheme://host/path is expected", shown_url(text));
    }
    url.scheme = lower(text.substr(0, scheme_end));
    std::string_view rest = text.substr(scheme_end + 3);
    rest = rest.substr(0, rest.find('#'));
    const size_t authority_end = std::min(rest.find_first_of("/?"), rest.size());
    std::string_view authority = rest.substr(0, authority_end);
    rest.remove_prefix(authority_end);
    if (const size_t at = authority.rfind('@'); at != authority.npos) {
        url.user_info = authority.substr(0, at);
        authority.remove_prefix(at + 1);
    }
    const size_t bracket = authority.rfind(']');
    const size_t colon = authority.rfind(':');
    if (colon != authority.npos && (bracket == authority.npos || colon > bracket)) {
        const std::string_view digits = authority.substr(colon + 1);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
        if (!digits.empty() && (error != std::errc() || end != digits.data() + digits.size() || url.port > 65535)) {
            fail(ErrorCode::BAD_ARGUMENTS, "'{}' has a port that is no number from 1 to 65535", shown_url(text));
        }
        authority = authority.substr(0, colon);
    }
    if (authority.find_first_of(" \t\r\n") != authority.npos) {
        fail(ErrorCode::BAD_ARGUMENTS, "'{}' has a space in its host name", shown_url(text));
    }
    url.host = lower(authority);
    const size_t question = rest.find('?');
    url.path = rest.substr(0, question);
    if (question != rest.npos) url.query = rest.substr(question + 1);
    return url;
}

std::string percent_encode(std::string_view text, bool keep_slash) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (is_unreserved(c) || (keep_slash && c == '/')) {
            out += c;
        } else {
            const auto byte = static_cast<uint8_t>(c);
            out += '%';
            out += hex[byte >> 4];
            out += hex[byte & 15];
        }
    }
    return out;
}

std::string percent_decode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
            out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string shown_url(std::string_view text) {
    text = text.substr(0, text.find_first_of("?#"));
    const size_t scheme_end = text.find("://");
    if (scheme_end == text.npos) return std::string(text);
    const std::string_view rest = text.substr(scheme_end + 3);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    const size_t at = authority.rfind('@');
    if (at == authority.npos) return std::string(text);
    // abfss://container@account names nothing secret; user:password@host does.
    if (authority.substr(0, at).find(':') == authority.npos) return std::string(text);
    return std::string(text.substr(0, scheme_end + 3)) + std::string(rest.substr(at + 1));
}

}  // namespace firn::storage
