#include "firn/storage/s3_location.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/storage/url.h"

namespace firn::storage {

namespace {

void check_bucket(std::string_view bucket, std::string_view url) {
    if (bucket.size() < 3 || bucket.size() > 63)
        fail(ErrorCode::BAD_ARGUMENTS, "Bucket name '{}' of '{}' must have 3 to 63 characters", bucket, shown_url(url));
    const bool valid = std::all_of(bucket.begin(), bucket.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
               c == '_';
    });
    if (!valid)
        fail(ErrorCode::BAD_ARGUMENTS, "Bucket name '{}' of '{}' has characters that no bucket has", bucket,
             shown_url(url));
}

/// Hosts of AWS: "s3.amazonaws.com", "s3.eu-west-1.amazonaws.com", "s3-eu-west-1…", "s3.dualstack.eu-west-1…", each with
/// a bucket before it or not.
struct AwsHost {
    std::string bucket;
    std::string region;
};

bool take_aws_host(std::string_view host, AwsHost& out) {
    std::string_view rest = host;
    if (rest.ends_with(".amazonaws.com.cn")) {
        rest.remove_suffix(17);
    } else if (rest.ends_with(".amazonaws.com")) {
        rest.remove_suffix(14);
    } else {
        return false;
    }
    // The last label that begins with "s3" parts bucket and region; a bucket's own name may hold "s3" too.
    size_t at = std::string_view::npos;
    for (size_t begin = 0; begin <= rest.size();) {
        const std::string_view label = rest.substr(begin, rest.find('.', begin) - begin);
        if (label == "s3" || label.starts_with("s3-")) at = begin;
        begin += label.size() + 1;
    }
    if (at == std::string_view::npos) return false;
    if (at) out.bucket = rest.substr(0, at - 1);
    std::string_view service = rest.substr(at);
    if (service.starts_with("s3-")) {
        out.region = service.substr(3);
    } else if (service.size() > 3) {
        service.remove_prefix(3);
        if (service.starts_with("dualstack.")) service.remove_prefix(10);
        out.region = service;
    }
    if (out.region == "external-1" || out.region == "accelerate") out.region.clear();
    return true;
}

/// "bucket.storage.googleapis.com", "bucket.oss-eu-central-1.aliyuncs.com", "bucket.cos.region.myqcloud.com" …
size_t service_label(std::string_view host) {
    for (size_t begin = host.find('.'); begin != host.npos; begin = host.find('.', begin + 1)) {
        const std::string_view label = host.substr(begin + 1, host.find('.', begin + 1) - begin - 1);
        if (label == "s3" || label.starts_with("s3-") || label == "cos" || label == "obs" || label == "oss" ||
            label.starts_with("oss-") || label == "storage")
            return begin;
    }
    return host.npos;
}

}  // namespace

S3Location parse_s3_url(std::string_view text, std::string_view style) {
    S3Location out;
    const Url url = parse_url(text);
    if (url.scheme == "s3" || url.scheme == "s3a" || url.scheme == "s3n" || url.scheme == "gs" || url.scheme == "gcs" ||
        url.scheme == "oss") {
        // Here the text is a name, not a URL: nothing in it is percent-encoded, a question mark is one.
        const std::string_view rest = text.substr(text.find("://") + 3);
        const size_t slash = std::min(rest.find('/'), rest.size());
        out.bucket = rest.substr(0, slash);
        out.key = rest.substr(std::min(slash + 1, rest.size()));
        if (url.scheme.starts_with("g")) out.endpoint = {"https://storage.googleapis.com", "auto", S3Addressing::Path};
        check_bucket(out.bucket, text);
        return out;
    }
    if (url.scheme != "http" && url.scheme != "https")
        fail(ErrorCode::BAD_ARGUMENTS, "'{}' is no address on S3: s3://bucket/key or http(s)://endpoint/bucket/key",
             shown_url(text));
    if (style != "auto" && style != "path" && style != "virtual_hosted")
        fail(ErrorCode::BAD_ARGUMENTS, "s3_uri_style is '{}': auto, path or virtual_hosted is expected", style);
    std::string path = percent_decode(url.path);
    while (path.starts_with('/')) path.erase(0, 1);
    if (const size_t version = url.query.find("versionId="); version != std::string::npos) {
        out.version_id = percent_decode(
            std::string_view(url.query).substr(version + 10, url.query.find('&', version) - version - 10));
    }
    AwsHost aws;
    const bool is_aws = take_aws_host(url.host, aws);
    out.endpoint.origin = url.origin();
    if (is_aws) {
        out.endpoint.region = aws.region.empty() ? "us-east-1" : aws.region;
        out.bucket = style == "path" ? "" : aws.bucket;
        if (url.scheme == "https" && !url.port && url.host.find(".cn") == std::string::npos &&
            url.host.find("dualstack") == std::string::npos)
            out.endpoint.origin.clear();
        else if (!out.bucket.empty())
            out.endpoint.origin = url.scheme + "://" + url.authority().substr(out.bucket.size() + 1);
        out.endpoint.addressing = out.bucket.empty() ? S3Addressing::Path : S3Addressing::VirtualHost;
    } else {
        const size_t label = service_label(url.host);
        const bool virtual_host = style == "virtual_hosted" || (style == "auto" && label != std::string::npos);
        if (virtual_host) {
            const size_t dot = label != std::string::npos ? label : url.host.find('.');
            if (dot == std::string::npos)
                fail(ErrorCode::BAD_ARGUMENTS,
                     "'{}' has no bucket before its host name, as s3_uri_style = 'virtual_hosted' wants",
                     shown_url(text));
            out.bucket = url.host.substr(0, dot);
            out.endpoint.origin = url.scheme + "://" + url.authority().substr(dot + 1);
            out.endpoint.addressing = S3Addressing::VirtualHost;
        } else {
            out.endpoint.addressing = S3Addressing::Path;
        }
    }
    if (out.bucket.empty()) {
        const size_t slash = std::min(path.find('/'), path.size());
        out.bucket = path.substr(0, slash);
        path.erase(0, std::min(slash + 1, path.size()));
    }
    out.key = std::move(path);
    check_bucket(out.bucket, text);
    return out;
}

S3Object split_s3_path(std::string_view path) {
    S3Location location = parse_s3_url(path);
    return {std::move(location.bucket), std::move(location.key)};
}

std::string s3_request_url(const S3Endpoint& endpoint, std::string_view region, std::string_view bucket,
                           std::string_view key) {
    std::string origin = endpoint.origin;
    S3Addressing addressing = endpoint.addressing;
    if (origin.empty()) {
        const bool china = region.starts_with("cn-");
        origin =
            fmt::format("https://s3.{}.amazonaws.com{}", region.empty() ? "us-east-1" : region, china ? ".cn" : "");
        if (addressing == S3Addressing::Auto) addressing = S3Addressing::VirtualHost;
    }
    // A dot in the bucket's name is none that AWS's certificate has.
    if (bucket.find('.') != bucket.npos && origin.starts_with("https:")) addressing = S3Addressing::Path;
    const std::string encoded = percent_encode(key, true);
    if (addressing == S3Addressing::VirtualHost) {
        const size_t host = origin.find("://") + 3;
        return fmt::format("{}{}.{}/{}", origin.substr(0, host), bucket, origin.substr(host), encoded);
    }
    return fmt::format("{}/{}{}{}", origin, bucket, encoded.empty() ? "" : "/", encoded);
}

}  // namespace firn::storage
