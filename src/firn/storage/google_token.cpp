#include "firn/storage/google_token.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <simdjson.h>

#include "firn/base/error.h"
#include "firn/base/escape.h"
#include "firn/storage/aws_signature.h"
#include "firn/storage/renewal.h"
#include "firn/storage/url.h"

namespace firn::storage {

namespace {

constexpr std::string_view kScope = "https://www.googleapis.com/auth/devstorage.read_write";
constexpr std::string_view kTokenUrl = "https://oauth2.googleapis.com/token";
constexpr int64_t kLife_s = 3600;
constexpr int64_t kLongestLife_s = 7 * 24 * 3600;
constexpr int64_t kNothingFound_s = 600;  // then the machine is asked again

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// The file of credentials; empty where there is none.
std::string credentials_file() {
    if (std::string path = environment("GOOGLE_APPLICATION_CREDENTIALS"); !path.empty()) return path;
    std::string folder = environment("CLOUDSDK_CONFIG");
    if (folder.empty() && !environment("HOME").empty()) folder = environment("HOME") + "/.config/gcloud";
    const std::string path = folder + "/application_default_credentials.json";
    std::error_code error;
    return !folder.empty() && std::filesystem::exists(path, error) ? path : "";
}

std::string base64_url(std::string_view bytes) {
    std::string out = base64_encode(bytes);
    std::replace(out.begin(), out.end(), '+', '-');
    std::replace(out.begin(), out.end(), '/', '_');
    while (out.ends_with('=')) out.pop_back();
    return out;
}

std::string json(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

std::string text_of(simdjson::dom::element object, const char* key) {
    std::string_view text;
    return object[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

/// OpenSSL's own would ask the terminal.
int no_pass_phrase(char*, int, int, void*) { return -1; }

}  // namespace

std::string signed_assertion(const std::string& claims, const std::string& private_key_pem) {
    const std::unique_ptr<BIO, int (*)(BIO*)> bio(
        BIO_new_mem_buf(private_key_pem.data(), static_cast<int>(private_key_pem.size())), &BIO_free);
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
        bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_pass_phrase, nullptr) : nullptr, &EVP_PKEY_free);
    if (!key) fail(ErrorCode::AUTHENTICATION_FAILED, "The private_key of a Google service account is no key in PEM");
    std::string text = base64_url(R"({"alg":"RS256","typ":"JWT"})") + "." + base64_url(claims);
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
    size_t size = 0;
    if (!context || EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
        EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1)
        fail(ErrorCode::OPENSSL_ERROR, "OpenSSL cannot sign with the private_key of a Google service account");
    std::string signature(size, '\0');
    if (EVP_DigestSign(context.get(), reinterpret_cast<uint8_t*>(signature.data()), &size, bytes, text.size()) != 1)
        fail(ErrorCode::OPENSSL_ERROR, "OpenSSL cannot sign with the private_key of a Google service account");
    signature.resize(size);
    return text + "." + base64_url(signature);
}

bool GoogleTokens::in_environment() { return !credentials_file().empty() || !environment("GCE_METADATA_HOST").empty(); }

GoogleTokens::Token GoogleTokens::reply_token(const HttpReply& reply, const std::string& url) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (!reply.ok() || parser.parse(reply.body).get(root) != simdjson::SUCCESS)
        fail(ErrorCode::AUTHENTICATION_FAILED, "{} gives no token for Google Cloud Storage: HTTP status {}",
             shown_url(url), reply.status);
    Token out;
    out.bearer = text_of(root, "access_token");
    if (out.bearer.empty())
        fail(ErrorCode::AUTHENTICATION_FAILED, "{} gives a reply without access_token", shown_url(url));
    int64_t seconds = 0;
    if (root["expires_in"].get(seconds) != simdjson::SUCCESS || seconds <= 0) seconds = kLife_s;
    out.expires_s = std::time(nullptr) + std::min(seconds, kLongestLife_s);
    return out;
}

GoogleTokens::Token GoogleTokens::of_file(const std::string& path, const HttpOptions& http) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (!in || parser.parse(text.str()).get(root) != simdjson::SUCCESS || !root.is_object())
        fail(ErrorCode::AUTHENTICATION_FAILED, "The Google credentials {} cannot be read, or are no JSON", path);
    const std::string type = text_of(root, "type");
    HttpRequest request;
    request.method = "POST";
    request.repeatable = true;
    request.url = text_of(root, "token_uri");
    if (request.url.empty()) request.url = kTokenUrl;
    request.headers.set("Content-Type", "application/x-www-form-urlencoded");
    if (type == "service_account") {
        const int64_t now = std::time(nullptr);
        const std::string claims =
            fmt::format(R"({{"iss":{},"scope":{},"aud":{},"iat":{},"exp":{}}})", json(text_of(root, "client_email")),
                        json(kScope), json(request.url), now, now + kLife_s);
        request.body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" +
                       signed_assertion(claims, text_of(root, "private_key"));
    } else if (type == "authorized_user") {
        request.body =
            fmt::format("grant_type=refresh_token&client_id={}&client_secret={}&refresh_token={}",
                        percent_encode(text_of(root, "client_id")), percent_encode(text_of(root, "client_secret")),
                        percent_encode(text_of(root, "refresh_token")));
    } else {
        fail(ErrorCode::NOT_IMPLEMENTED,
             "The Google credentials {} are of type '{}': firn knows service_account and authorized_user", path, type);
    }
    const std::string url = request.url;
    return reply_token(HttpClient(http).send(std::move(request)), url);
}

GoogleTokens::Token GoogleTokens::of_machine(const HttpOptions& http) {
    HttpOptions options = http;
    options.connect_timeout = std::chrono::milliseconds(1000);
    options.idle_timeout = std::chrono::milliseconds(5000);
    options.attempts = 2;
    std::string host = environment("GCE_METADATA_HOST");
    if (host.empty()) host = "metadata.google.internal";
    HttpRequest request;
    request.url = "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token";
    request.headers.set("Metadata-Flavor", "Google");
    const std::string url = request.url;
    return reply_token(HttpClient(options).send(std::move(request)), url);
}

GoogleTokens::Token GoogleTokens::ask(const HttpOptions& http) {
    const std::string file = credentials_file();
    try {
        return file.empty() ? of_machine(http) : of_file(file, http);
    } catch (const Error& error) {
        switch (error.code()) {
            case ErrorCode::NETWORK_ERROR:
            case ErrorCode::DNS_ERROR:
            case ErrorCode::SOCKET_TIMEOUT:
                break;
            default:
                throw;
        }
        if (!in_environment()) return {"", std::time(nullptr) + kNothingFound_s};  // no machine of Google's
        fail(ErrorCode::AUTHENTICATION_FAILED, "No token for Google Cloud Storage can be had: {}", error.message());
    }
}

std::string GoogleTokens::get(const HttpOptions& http) {
    std::lock_guard lock(mutex_);
    if (!token_ || std::time(nullptr) >= renew_at_s_) {
        token_ = ask(http);
        renew_at_s_ = renewal_s(token_->expires_s);
    }
    return token_->bearer;
}

void GoogleTokens::invalidate() {
    std::lock_guard lock(mutex_);
    token_.reset();
}

}  // namespace firn::storage
