#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "firn/storage/aws_signature.h"
#include "firn/storage/google_token.h"

#include "tests/unit/error_of.h"
#include "tests/unit/storage/scripted_server.h"

namespace firn::storage {
namespace {

const char* const kVariables[] = {"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "GCE_METADATA_HOST", "HOME"};

class GoogleToken : public ::testing::Test {
protected:
    void SetUp() override {
        for (const char* name : kVariables) ::unsetenv(name);
        folder_ = std::filesystem::temp_directory_path() / ("firn-google-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
        http_.attempts = 1;
    }
    void TearDown() override {
        for (const char* name : kVariables) ::unsetenv(name);
        std::filesystem::remove_all(folder_);
    }
    /// GOOGLE_APPLICATION_CREDENTIALS names a file of this content.
    void credentials(const std::string& json) {
        const auto path = folder_ / "credentials.json";
        std::ofstream(path) << json;
        ::setenv("GOOGLE_APPLICATION_CREDENTIALS", path.c_str(), 1);
    }

    std::filesystem::path folder_;
    HttpOptions http_;
};

constexpr const char* kToken = R"({"access_token":"a-token","expires_in":3599,"token_type":"Bearer"})";

std::string private_key(EVP_PKEY* key) {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string out(data, static_cast<size_t>(size));
    BIO_free(bio);
    return out;
}

std::string from_base64_url(std::string text) {
    for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
    while (text.size() % 4) text += '=';
    return base64_decode(text);
}

TEST_F(GoogleToken, ServiceAccountSignsItsAssertion) {
    EVP_PKEY* key = EVP_RSA_gen(2048);
    const std::string assertion = signed_assertion(R"({"iss":"me"})", private_key(key));
    const size_t first = assertion.find('.'), second = assertion.rfind('.');
    EXPECT_EQ(from_base64_url(assertion.substr(0, first)), R"({"alg":"RS256","typ":"JWT"})");
    EXPECT_EQ(from_base64_url(assertion.substr(first + 1, second - first - 1)), R"({"iss":"me"})");
    const std::string signature = from_base64_url(assertion.substr(second + 1));
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ASSERT_EQ(EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key), 1);
    EXPECT_EQ(EVP_DigestVerify(context, reinterpret_cast<const uint8_t*>(signature.data()), signature.size(),
                               reinterpret_cast<const uint8_t*>(assertion.data()), second),
              1);
    EVP_MD_CTX_free(context);

    ScriptedServer server({{http_reply(200, kToken)}});
    std::string pem;
    for (const char c : private_key(key)) pem += c == '\n' ? std::string("\\n") : std::string(1, c);
    EVP_PKEY_free(key);
    credentials(R"({"type":"service_account","client_email":"me@project","private_key":")" + pem +
                R"(","token_uri":")" + server.url("/token") + R"("})");
    GoogleTokens tokens;
    EXPECT_EQ(tokens.get(http_), "a-token");
    EXPECT_EQ(tokens.get(http_), "a-token");
    ASSERT_EQ(server.requests().size(), 1U);
    EXPECT_NE(server.requests()[0].find("grant-type%3Ajwt-bearer&assertion=eyJ"), std::string::npos);
    tokens.invalidate();
    tokens.get(http_);
    EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(GoogleToken, UserAndMachine) {
    ScriptedServer server({{http_reply(200, kToken)}});
    credentials(R"({"type":"authorized_user","client_id":"i","client_secret":"s/","refresh_token":"r","token_uri":")" +
                server.url("/token") + R"("})");
    EXPECT_EQ(GoogleTokens().get(http_), "a-token");
    EXPECT_NE(server.requests()[0].find("grant_type=refresh_token&client_id=i&client_secret=s%2F&refresh_token=r"),
              std::string::npos);
    ::unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
    EXPECT_FALSE(GoogleTokens::in_environment());
    ::setenv("GCE_METADATA_HOST", server.url("").substr(7).c_str(), 1);
    EXPECT_TRUE(GoogleTokens::in_environment());
    EXPECT_EQ(GoogleTokens().get(http_), "a-token");
    EXPECT_NE(server.requests()[1].find("Metadata-Flavor: Google"), std::string::npos);
}

TEST_F(GoogleToken, Refusals) {
    const auto code = [&] { return failure_of([&] { GoogleTokens().get(http_); }).code; };
    credentials("no JSON");
    EXPECT_EQ(code(), ErrorCode::AUTHENTICATION_FAILED);
    credentials(R"({"type":"external_account"})");
    EXPECT_EQ(code(), ErrorCode::NOT_IMPLEMENTED);
    credentials(R"({"type":"service_account","private_key":"no key"})");
    EXPECT_EQ(code(), ErrorCode::AUTHENTICATION_FAILED);
    ScriptedServer server({{http_reply(400, R"({"error":"invalid_grant"})")}, {http_reply(200, "{}")}});
    credentials(R"({"type":"authorized_user","client_secret":"hidden","token_uri":")" + server.url("/token") + R"("})");
    const Failure refused = failure_of([&] { GoogleTokens().get(http_); });
    EXPECT_EQ(refused.code, ErrorCode::AUTHENTICATION_FAILED);
    EXPECT_EQ(refused.message.find("hidden"), std::string::npos);
    EXPECT_EQ(code(), ErrorCode::AUTHENTICATION_FAILED);
}

}  // namespace
}  // namespace firn::storage
