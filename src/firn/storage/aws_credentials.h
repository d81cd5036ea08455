// Where AWS credentials come from: given ones, the environment, profile files, web identity, roles of containers and
// instances, and roles assumed through STS.
//
// A provider caches what it got and renews it before it expires. Thread-safe. Errors: AUTHENTICATION_FAILED, naming the
// source and never a secret; errors of the HTTP client.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "firn/storage/aws_signature.h"
#include "firn/storage/http.h"

namespace firn::storage {

struct ExpiringCredentials {
    AwsCredentials credentials;
    int64_t expires_s = 0;  ///< Unix seconds; 0: never
};

class AwsCredentialsProvider {
public:
    virtual ~AwsCredentialsProvider() = default;
    AwsCredentialsProvider() = default;
    AwsCredentialsProvider(const AwsCredentialsProvider&) = delete;
    AwsCredentialsProvider& operator=(const AwsCredentialsProvider&) = delete;

    /// Empty credentials: requests go unsigned.
    AwsCredentials get();
    /// The service refused the last ones as expired: the next get asks anew.
    void invalidate();

protected:
    /// Asks the source. May take a request or two.
    virtual ExpiringCredentials load() = 0;

private:
    std::mutex mutex_;
    std::optional<ExpiringCredentials> cached_;
    int64_t renew_at_s_ = 0;
};

using AwsCredentialsPtr = std::shared_ptr<AwsCredentialsProvider>;

AwsCredentialsPtr fixed_credentials(AwsCredentials credentials);

/// Whatever a function gives: a catalog that vends credentials.
AwsCredentialsPtr credentials_from(std::function<ExpiringCredentials()> load);

/// In order: AWS_ACCESS_KEY_ID and its kin; AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN; the profile AWS_PROFILE (or
/// "default") of ~/.aws/credentials and ~/.aws/config, with role_arn, source_profile, credential_source and
/// web_identity_token_file; the container's role (AWS_CONTAINER_CREDENTIALS_*); the instance's role (not when
/// AWS_EC2_METADATA_DISABLED is true). Empty where none of them has any. `look_at_instance`: whether the last is asked
/// though AWS_EC2_METADATA_SERVICE_ENDPOINT is not set.
AwsCredentialsPtr default_credentials(bool look_at_instance);

struct AssumeRole {
    std::string role_arn;
    std::string session_name;  ///< empty: "firn"
    std::string external_id;
    std::string sts_endpoint;  ///< URL; empty: AWS_ENDPOINT_URL_STS, else AWS's own of the region
    std::string region;
    HttpOptions http;
};
/// Credentials of a role, asked of STS with those of `base`.
AwsCredentialsPtr assumed_role(AssumeRole role, AwsCredentialsPtr base);

/// AWS_REGION, AWS_DEFAULT_REGION, the profile's region; empty where none is set.
std::string configured_region();

}  // namespace firn::storage
