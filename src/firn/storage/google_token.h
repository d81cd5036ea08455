// OAuth2 tokens for Google Cloud Storage, from where Google's own programs take their credentials.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "firn/storage/http.h"

namespace firn::storage {

/// Application default credentials: the file GOOGLE_APPLICATION_CREDENTIALS, else gcloud's (CLOUDSDK_CONFIG or
/// ~/.config/gcloud, application_default_credentials.json), of a service account or a user; else the machine's service account,
/// asked of GCE_METADATA_HOST (by default metadata.google.internal). A token is kept, and renewed before it expires. Thread-safe.
/// Errors: AUTHENTICATION_FAILED, which names the source and never a secret; NOT_IMPLEMENTED for other kinds of
/// credentials.
class GoogleTokens {
public:
    /// Whether there is such a file, or GCE_METADATA_HOST is set: no request is made.
    static bool in_environment();

    /// Empty where there is no file, and no machine answers that nothing says there is: requests go without a token.
    std::string get(const HttpOptions& http);
    /// The service refused the last one: the next get asks anew.
    void invalidate();

private:
    struct Token {
        std::string bearer;
        int64_t expires_s = 0;
    };
    static Token ask(const HttpOptions& http);
    static Token reply_token(const HttpReply& reply, const std::string& url);
    static Token of_file(const std::string& path, const HttpOptions& http);
    static Token of_machine(const HttpOptions& http);

    std::mutex mutex_;
    std::optional<Token> token_;
    int64_t renew_at_s_ = 0;
};

/// "head.claims.signature" with RS256: what a service account's private key (PEM) says of itself.
std::string signed_assertion(const std::string& claims, const std::string& private_key_pem);

}  // namespace firn::storage
