#include "firn/storage/aws_credentials.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "firn/base/error.h"
#include "tests/unit/storage/scripted_server.h"

namespace firn::storage {
namespace {

const char* const kVariables[] = {"AWS_ACCESS_KEY_ID",
                                  "AWS_SECRET_ACCESS_KEY",
                                  "AWS_SESSION_TOKEN",
                                  "AWS_PROFILE",
                                  "AWS_CONFIG_FILE",
                                  "AWS_SHARED_CREDENTIALS_FILE",
                                  "AWS_WEB_IDENTITY_TOKEN_FILE",
                                  "AWS_ROLE_ARN",
                                  "AWS_REGION",
                                  "AWS_DEFAULT_REGION",
                                  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                  "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                                  "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                  "AWS_EC2_METADATA_DISABLED",
                                  "AWS_ENDPOINT_URL_STS"};

class AwsCredentialsTest : public ::testing::Test {
protected:
    void SetUp() override {
        for (const char* name : kVariables) ::unsetenv(name);
        folder_ = std::filesystem::temp_directory_path() / ("firn-aws-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
        set("AWS_CONFIG_FILE", file("config", ""));
        set("AWS_SHARED_CREDENTIALS_FILE", file("credentials", ""));
        default_credentials(false)->invalidate();
    }
    void TearDown() override {
        for (const char* name : kVariables) ::unsetenv(name);
        std::filesystem::remove_all(folder_);
    }
    static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        return (folder_ / name).string();
    }
    static AwsCredentials get() { return default_credentials(false)->get(); }

    std::filesystem::path folder_;
};

const std::string kSts =
    "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>role</AccessKeyId><SecretAccessKey>s</"
    "SecretAccessKey>"
    "<SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></"
    "AssumeRoleResponse>";
const std::string kJson =
    R"({"AccessKeyId":"meta","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"})";

TEST_F(AwsCredentialsTest, NothingIsUnsigned) { EXPECT_TRUE(get().empty()); }

TEST_F(AwsCredentialsTest, Environment) {
    set("AWS_ACCESS_KEY_ID", "k");
    set("AWS_SECRET_ACCESS_KEY", "s");
    set("AWS_SESSION_TOKEN", "t");
    EXPECT_EQ(get(), (AwsCredentials{"k", "s", "t"}));
}

TEST_F(AwsCredentialsTest, Profiles) {
    file("credentials",
         "[default]\naws_access_key_id = "
         "d\naws_secret_access_key=ds\n[two]\naws_access_key_id=2\naws_secret_access_key=2s\naws_session_token=2t\n");
    file("config", "[profile two]\nregion = eu-west-1\n");
    EXPECT_EQ(get().access_key_id, "d");
    set("AWS_PROFILE", "two");
    default_credentials(false)->invalidate();
    EXPECT_EQ(get(), (AwsCredentials{"2", "2s", "2t"}));
    EXPECT_EQ(configured_region(), "eu-west-1");
}

TEST_F(AwsCredentialsTest, ProfileWithRole) {
    ScriptedServer sts({{http_reply(200, kSts)}});
    set("AWS_ENDPOINT_URL_STS", sts.url());
    file("credentials", "[base]\naws_access_key_id = b\naws_secret_access_key = bs\n");
    file("config", "[default]\nrole_arn = arn:aws:iam::1:role/R\nsource_profile = base\nexternal_id = e x\n");
    EXPECT_EQ(get().access_key_id, "role");
    const std::string request = sts.requests().at(0);
    EXPECT_NE(request.find("Action=AssumeRole&"), std::string::npos);
    EXPECT_NE(request.find("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2FR"), std::string::npos);
    EXPECT_NE(request.find("ExternalId=e%20x"), std::string::npos);
    EXPECT_NE(request.find("Credential=b/"), std::string::npos);
    get();
    EXPECT_EQ(sts.requests().size(), 1U);  // kept until it expires
}

TEST_F(AwsCredentialsTest, ProfilesInACircle) {
    file("config",
         "[default]\nrole_arn = r\nsource_profile = a\n[profile a]\nrole_arn = r\nsource_profile = default\n");
    EXPECT_THROW(get(), Error);
}

TEST_F(AwsCredentialsTest, WebIdentity) {
    std::string reply = kSts;
    for (size_t at; (at = reply.find("AssumeRoleRes")) != std::string::npos;)
        reply.replace(at, 13, "AssumeRoleWithWebIdentityRes");
    ScriptedServer sts({{http_reply(200, reply)}});
    set("AWS_ENDPOINT_URL_STS", sts.url());
    set("AWS_ROLE_ARN", "arn:r");
    set("AWS_WEB_IDENTITY_TOKEN_FILE", file("token", "the.token\n"));
    EXPECT_EQ(get().session_token, "t");
    EXPECT_NE(sts.requests().at(0).find("WebIdentityToken=the.token"), std::string::npos);
    EXPECT_EQ(sts.requests().at(0).find("Authorization"), std::string::npos);
}

TEST_F(AwsCredentialsTest, Container) {
    ScriptedServer server({{http_reply(200, kJson)}});
    set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url("/creds"));
    set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "auth");
    EXPECT_EQ(get().access_key_id, "meta");
    EXPECT_NE(server.requests().at(0).find("Authorization: auth\r\n"), std::string::npos);
}

TEST_F(AwsCredentialsTest, Instance) {
    ScriptedServer server({{http_reply(200, "session")}, {http_reply(200, "my-role")}, {http_reply(200, kJson)}});
    set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url(""));
    EXPECT_EQ(get().access_key_id, "meta");
    const auto requests = server.requests();
    ASSERT_EQ(requests.size(), 3U);
    EXPECT_TRUE(requests[0].starts_with("PUT /latest/api/token "));
    EXPECT_TRUE(requests[2].starts_with("GET /latest/meta-data/iam/security-credentials/my-role "));
    EXPECT_NE(requests[2].find("X-aws-ec2-metadata-token: session\r\n"), std::string::npos);
}

TEST_F(AwsCredentialsTest, StsErrorsSayNoSecret) {
    ScriptedServer sts({{http_reply(
        403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>")}});
    AssumeRole role;
    role.role_arn = "arn:r";
    role.sts_endpoint = sts.url("");
    try {
        assumed_role(role, fixed_credentials({"k", "topsecret", ""}))->get();
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::AUTHENTICATION_FAILED);
        EXPECT_NE(error.message().find("AccessDenied"), std::string::npos);
        EXPECT_EQ(error.message().find("topsecret"), std::string::npos);
    }
}

TEST_F(AwsCredentialsTest, RenewedBeforeTheyExpire) {
    int loads = 0;
    const auto provider = credentials_from([&] {
        ++loads;
        return ExpiringCredentials{{"k", "s", ""}, loads == 1 ? std::time(nullptr) - 1000 : 0};
    });
    provider->get();
    provider->get();
    EXPECT_EQ(loads, 1);  // what came expired already is not asked for at each request
    provider->invalidate();
    provider->get();
    EXPECT_EQ(loads, 2);

    int short_lived = 0;
    const auto lent = credentials_from([&] {
        ++short_lived;
        return ExpiringCredentials{{"k", "s", ""}, std::time(nullptr) + 3};
    });
    lent->get();
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    lent->get();
    EXPECT_EQ(short_lived, 2);  // a second before they would be refused
}

}  // namespace
}  // namespace firn::storage
