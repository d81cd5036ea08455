// URLs as remote stores need them: taken apart, percent-encoded, and shown to people without what is secret in them.
#pragma once

#include <string>
#include <string_view>

namespace firn::storage {

struct Url {
    std::string scheme;     ///< lower case
    std::string user_info;  ///< "user:password" as written, mostly empty
    std::string host;       ///< lower case; an IPv6 address keeps its brackets
    unsigned port = 0;      ///< 0: the scheme's own
    std::string path;       ///< as written, still percent-encoded, with the slash before it; empty where there is none
    std::string query;      ///< as written, without the question mark

    /// "host" or "host:port", as the Host header wants it.
    std::string authority() const;
    /// "https://host:port", without a path.
    std::string origin() const;
    /// The whole URL again, without user information.
    std::string text() const;
};

/// BAD_ARGUMENTS where the text is no scheme://host… . A fragment is dropped.
Url parse_url(std::string_view text);

/// RFC 3986: everything but letters, digits and "-._~" becomes %XX (upper case); slashes stay with `keep_slash`.
std::string percent_encode(std::string_view text, bool keep_slash = false);

/// The inverse; a percent sign that begins no escape stays as it is.
std::string percent_decode(std::string_view text);

/// A URL for messages: without user information, query and fragment, where keys and signatures may be.
std::string shown_url(std::string_view text);

}  // namespace firn::storage
