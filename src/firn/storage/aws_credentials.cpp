#include "firn/storage/aws_credentials.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <simdjson.h>

#include "firn/base/error.h"
#include "firn/storage/remote_store.h"
#include "firn/storage/renewal.h"
#include "firn/storage/url.h"
#include "firn/storage/xml.h"

namespace firn::storage {

namespace {

/// What never was there is asked for again after a while.
constexpr int64_t kNothingFound_s = 600;
constexpr int kMaxProfileChain = 8;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::string trim(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == text.npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

std::optional<std::string> read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

using Profile = std::map<std::string, std::string>;

/// Sections of an ini file; a section of the configuration file may be named "profile x".
void read_profiles(const std::string& path, std::map<std::string, Profile>& out) {
    const auto text = read_file(path);
    if (!text) return;
    std::istringstream lines(*text);
    std::string section;
    for (std::string line; std::getline(lines, line);) {
        // An indented line belongs to the setting before it.
        if (!line.empty() && (line[0] == ' ' || line[0] == '\t')) continue;
        const std::string entry = trim(line);
        if (entry.empty() || entry[0] == '#' || entry[0] == ';') continue;
        if (entry[0] == '[') {
            section = trim(std::string_view(entry).substr(1, entry.find(']') - 1));
            if (section.starts_with("profile ")) section = trim(section.substr(8));
            continue;
        }
        const size_t equals = entry.find('=');
        if (equals == entry.npos) continue;
        out[section].insert_or_assign(trim(entry.substr(0, equals)), trim(entry.substr(equals + 1)));
    }
}

std::map<std::string, Profile> profiles() {
    const std::string home = environment("HOME");
    std::string config = environment("AWS_CONFIG_FILE"), credentials = environment("AWS_SHARED_CREDENTIALS_FILE");
    if (config.empty()) config = home + "/.aws/config";
    if (credentials.empty()) credentials = home + "/.aws/credentials";
    std::map<std::string, Profile> out;
    read_profiles(config, out);
    read_profiles(credentials, out);
    return out;
}

std::string profile_name() {
    for (const char* name : {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}) {
        if (std::string value = environment(name); !value.empty()) return value;
    }
    return "default";
}

/// Metadata services answer at once or not at all.
HttpOptions metadata_options() {
    HttpOptions options;
    options.connect_timeout = std::chrono::milliseconds(1000);
    options.idle_timeout = std::chrono::milliseconds(2000);
    options.attempts = 2;
    return options;
}

ExpiringCredentials parse_metadata_credentials(const std::string& body, std::string_view source) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.parse(body).get(root) != simdjson::SUCCESS)
        fail(ErrorCode::AUTHENTICATION_FAILED, "The {} gave credentials that are no JSON", source);
    const auto text = [&](const char* key) {
        std::string_view value;
        return root[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
    };
    ExpiringCredentials out;
    out.credentials = {text("AccessKeyId"), text("SecretAccessKey"), text("Token")};
    if (out.credentials.session_token.empty()) out.credentials.session_token = text("SessionToken");
    out.expires_s = iso_date_us(text("Expiration")) / 1'000'000;
    if (out.credentials.empty()) fail(ErrorCode::AUTHENTICATION_FAILED, "The {} gave no AccessKeyId", source);
    return out;
}

std::string sts_url(const AssumeRole& role) {
    if (!role.sts_endpoint.empty()) return role.sts_endpoint;
    if (std::string url = environment("AWS_ENDPOINT_URL_STS"); !url.empty()) return url;
    if (std::string url = environment("AWS_ENDPOINT_URL"); !url.empty()) return url;
    return role.region.empty() ? "https://sts.amazonaws.com" : fmt::format("https://sts.{}.amazonaws.com", role.region);
}

ExpiringCredentials ask_sts(const AssumeRole& role, const std::string& form, const AwsCredentials& signer) {
    HttpRequest request;
    request.method = "POST";
    request.url = sts_url(role);
    if (request.url.find('/', request.url.find("://") + 3) == std::string::npos) request.url += '/';
    request.headers.set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8");
    request.body = form;
    request.repeatable = true;
    if (!signer.empty()) {
        request.before_attempt = [&](HttpRequest& r, unsigned) {
            sign_aws_v4(r, signer, {role.region.empty() ? "us-east-1" : role.region, "sts"}, sha256_hex(r.body),
                        std::time(nullptr));
        };
    }
    const HttpReply reply = HttpClient(role.http).send(request);
    const std::string where = shown_url(request.url);
    if (!reply.ok()) {
        std::string why = fmt::format("HTTP status {}", reply.status);
        try {
            const XmlElement root = parse_xml(reply.body, where);
            const XmlElement* error = root.name == "Error" ? &root : root.child("Error");
            if (error) why = fmt::format("{}: {}", error->child_text("Code"), error->child_text("Message"));
        } catch (const Error&) {
            // no XML: the status says it
        }
        fail(ErrorCode::AUTHENTICATION_FAILED, "STS at {} does not give the role {}: {}", where, role.role_arn, why);
    }
    const XmlElement root = parse_xml(reply.body, where);
    const XmlElement* found = nullptr;
    for (const XmlElement& child : root.children) {
        if (!found) found = child.child("Credentials");
    }
    if (!found) fail(ErrorCode::AUTHENTICATION_FAILED, "STS at {} gave no credentials for {}", where, role.role_arn);
    ExpiringCredentials out;
    out.credentials = {std::string(found->child_text("AccessKeyId")), std::string(found->child_text("SecretAccessKey")),
                       std::string(found->child_text("SessionToken"))};
    out.expires_s = iso_date_us(found->child_text("Expiration")) / 1'000'000;
    return out;
}

std::string role_form(const AssumeRole& role, std::string_view action) {
    std::string form =
        fmt::format("Action={}&Version=2011-06-15&RoleArn={}&RoleSessionName={}", action, percent_encode(role.role_arn),
                    percent_encode(role.session_name.empty() ? "firn" : role.session_name));
    if (!role.external_id.empty()) form += "&ExternalId=" + percent_encode(role.external_id);
    return form;
}

class Fixed final : public AwsCredentialsProvider {
public:
    explicit Fixed(AwsCredentials credentials) : credentials_(std::move(credentials)) {}

protected:
    ExpiringCredentials load() override { return {credentials_, 0}; }

private:
    AwsCredentials credentials_;
};

class FromFunction final : public AwsCredentialsProvider {
public:
    explicit FromFunction(std::function<ExpiringCredentials()> load) : load_(std::move(load)) {}

protected:
    ExpiringCredentials load() override { return load_(); }

private:
    std::function<ExpiringCredentials()> load_;
};

std::optional<ExpiringCredentials> from_environment() {
    AwsCredentials found{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
                         environment("AWS_SESSION_TOKEN")};
    if (found.empty() || found.secret_access_key.empty()) return std::nullopt;
    return ExpiringCredentials{std::move(found), 0};
}

ExpiringCredentials from_web_identity(AssumeRole role, const std::string& token_file) {
    const auto token = read_file(token_file);
    if (!token) fail(ErrorCode::AUTHENTICATION_FAILED, "The web identity token file {} cannot be read", token_file);
    return ask_sts(
        role, role_form(role, "AssumeRoleWithWebIdentity") + "&WebIdentityToken=" + percent_encode(trim(*token)), {});
}

std::optional<ExpiringCredentials> from_container() {
    std::string url = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    if (const std::string relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); !relative.empty())
        url = "http://169.254.170.2" + relative;
    if (url.empty()) return std::nullopt;
    HttpRequest request;
    request.url = url;
    std::string token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (const std::string file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty())
        token = trim(read_file(file).value_or(""));
    if (!token.empty()) request.headers.set("Authorization", token);
    const HttpReply reply = HttpClient(metadata_options()).send(request);
    if (!reply.ok())
        fail(ErrorCode::AUTHENTICATION_FAILED, "The container's credential service {} answers with status {}",
             shown_url(url), reply.status);
    return parse_metadata_credentials(reply.body, "container's credential service");
}

std::optional<ExpiringCredentials> from_instance(bool look) {
    const std::string disabled = environment("AWS_EC2_METADATA_DISABLED");
    std::string endpoint = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (disabled == "true" || (!look && endpoint.empty())) return std::nullopt;
    if (endpoint.empty()) endpoint = "http://169.254.169.254";
    while (endpoint.ends_with('/')) endpoint.pop_back();
    HttpOptions options = metadata_options();
    options.attempts = 1;
    const HttpClient client(options);
    try {
        HttpRequest ask;
        ask.method = "PUT";
        ask.url = endpoint + "/latest/api/token";
        ask.headers.set("X-aws-ec2-metadata-token-ttl-seconds", "21600");
        const HttpReply token = client.send(ask);
        HttpRequest request;
        if (token.ok()) request.headers.set("X-aws-ec2-metadata-token", trim(token.body));
        request.url = endpoint + "/latest/meta-data/iam/security-credentials/";
        const HttpReply roles = client.send(request);
        if (!roles.ok()) return std::nullopt;
        request.url += trim(roles.body.substr(0, roles.body.find('\n')));
        const HttpReply reply = client.send(request);
        if (!reply.ok()) return std::nullopt;
        return parse_metadata_credentials(reply.body, "instance's metadata service");
    } catch (const Error& error) {
        if (error.code() == ErrorCode::QUERY_WAS_CANCELLED || error.code() == ErrorCode::AUTHENTICATION_FAILED) throw;
        return std::nullopt;  // not on an instance
    }
}

class Chain final : public AwsCredentialsProvider {
public:
    explicit Chain(bool look_at_instance) : look_at_instance_(look_at_instance) {}

protected:
    ExpiringCredentials load() override {
        if (auto found = from_environment()) return *found;
        if (const std::string file = environment("AWS_WEB_IDENTITY_TOKEN_FILE"); !file.empty())
            return from_web_identity(role_of(environment("AWS_ROLE_ARN"), environment("AWS_ROLE_SESSION_NAME")), file);
        const auto all = profiles();
        if (auto found = from_profile(all, profile_name(), 0)) return *found;
        if (auto found = from_container()) return *found;
        if (auto found = from_instance(look_at_instance_)) return *found;
        return {{}, std::time(nullptr) + kNothingFound_s + kRenewedBefore_s};
    }

private:
    static AssumeRole role_of(std::string arn, std::string session) {
        AssumeRole role;
        role.role_arn = std::move(arn);
        role.session_name = std::move(session);
        role.region = configured_region();
        return role;
    }

    std::optional<ExpiringCredentials> from_profile(const std::map<std::string, Profile>& all, const std::string& name,
                                                    int depth) const {
        const auto found = all.find(name);
        if (found == all.end()) return std::nullopt;
        if (depth > kMaxProfileChain)
            fail(ErrorCode::AUTHENTICATION_FAILED, "AWS profile '{}': its source profiles go round in a circle", name);
        const Profile& profile = found->second;
        const auto value = [&](const char* key) {
            const auto at = profile.find(key);
            return at == profile.end() ? std::string() : at->second;
        };
        if (const std::string arn = value("role_arn");
            !arn.empty() && (depth == 0 || value("source_profile") != name)) {
            AssumeRole role = role_of(arn, value("role_session_name"));
            role.external_id = value("external_id");
            if (!value("region").empty()) role.region = value("region");
            if (const std::string file = value("web_identity_token_file"); !file.empty())
                return from_web_identity(role, file);
            return ask_sts(role, role_form(role, "AssumeRole"), source_of(all, name, value, depth).credentials);
        }
        AwsCredentials keys{value("aws_access_key_id"), value("aws_secret_access_key"), value("aws_session_token")};
        if (keys.empty()) return std::nullopt;
        return ExpiringCredentials{std::move(keys), 0};
    }

    template <typename Value>
    ExpiringCredentials source_of(const std::map<std::string, Profile>& all, const std::string& name,
                                  const Value& value, int depth) const {
        std::optional<ExpiringCredentials> source;
        if (const std::string profile = value("source_profile"); !profile.empty()) {
            source = from_profile(all, profile, depth + 1);
        } else if (const std::string from = value("credential_source"); from == "Environment") {
            source = from_environment();
        } else if (from == "EcsContainer") {
            source = from_container();
        } else if (from == "Ec2InstanceMetadata") {
            source = from_instance(true);
        }
        if (!source)
            fail(ErrorCode::AUTHENTICATION_FAILED,
                 "AWS profile '{}' has a role_arn, but neither source_profile nor credential_source gives keys", name);
        return *source;
    }

    bool look_at_instance_;
};

class Assumed final : public AwsCredentialsProvider {
public:
    Assumed(AssumeRole role, AwsCredentialsPtr base) : role_(std::move(role)), base_(std::move(base)) {}

protected:
    ExpiringCredentials load() override { return ask_sts(role_, role_form(role_, "AssumeRole"), base_->get()); }

private:
    AssumeRole role_;
    AwsCredentialsPtr base_;
};

}  // namespace

AwsCredentials AwsCredentialsProvider::get() {
    std::lock_guard lock(mutex_);
    if (!cached_ || (cached_->expires_s && std::time(nullptr) >= renew_at_s_)) {
        cached_ = load();
        renew_at_s_ = renewal_s(cached_->expires_s);
    }
    return cached_->credentials;
}

void AwsCredentialsProvider::invalidate() {
    std::lock_guard lock(mutex_);
    cached_.reset();
}

AwsCredentialsPtr fixed_credentials(AwsCredentials credentials) {
    return std::make_shared<Fixed>(std::move(credentials));
}

AwsCredentialsPtr credentials_from(std::function<ExpiringCredentials()> load) {
    return std::make_shared<FromFunction>(std::move(load));
}

AwsCredentialsPtr default_credentials(bool look_at_instance) {
    // One for the process: sources are asked once, not once a table.
    static const AwsCredentialsPtr with = std::make_shared<Chain>(true);
    static const AwsCredentialsPtr without = std::make_shared<Chain>(false);
    return look_at_instance ? with : without;
}

AwsCredentialsPtr assumed_role(AssumeRole role, AwsCredentialsPtr base) {
    return std::make_shared<Assumed>(std::move(role), std::move(base));
}

std::string configured_region() {
    for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
        if (std::string value = environment(name); !value.empty()) return value;
    }
    const auto all = profiles();
    const auto found = all.find(profile_name());
    if (found == all.end()) return {};
    const auto region = found->second.find("region");
    return region == found->second.end() ? std::string() : region->second;
}

}  // namespace firn::storage
