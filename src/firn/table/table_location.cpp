#include "firn/table/table_location.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/iceberg/path_resolver.h"
#include "firn/sql/printer.h"
#include "firn/storage/renewal.h"
#include "firn/storage/url.h"
#include "firn/table/format_names.h"

namespace firn::table {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

bool is_compression_name(std::string_view text) {
    static const std::map<std::string, int, std::less<>> names{
        {"auto", 0}, {"none", 0}, {"gzip", 0}, {"gz", 0},     {"zstd", 0}, {"zst", 0},    {"xz", 0},
        {"lzma", 0}, {"lz4", 0},  {"bz2", 0},  {"snappy", 0}, {"br", 0},   {"brotli", 0}, {"deflate", 0}};
    return names.contains(lower(text));
}

std::string join_path(std::string path, std::string_view name) {
    while (name.starts_with('/')) name.remove_prefix(1);
    if (name.empty()) return path;
    if (!path.ends_with('/')) path += '/';
    return path.append(name);
}

/// The arguments of one call, taken one after the other.
class Arguments {
public:
    explicit Arguments(const TableCall& call) : call_(call) {
        for (size_t i = 0; i < call.arguments.size(); ++i) {
            const auto& argument = call.arguments[i];
            if (const auto name = argument_name(argument)) {
                named_[*name] = value_of(i);
            } else if (argument.expr && argument.expr->is(sql::ExprKind::Function) && !argument.value) {
                take_function(*argument.expr);
            } else {
                places_.push_back(i);
            }
        }
    }

    size_t left() const { return places_.size() - next_; }
    std::string peek() const { return call_.text(places_[next_], "a string"); }
    bool peek_is_word(std::string_view word) const {
        if (!left()) return false;
        const auto& argument = call_.arguments[places_[next_]];
        return argument.expr && !argument.value && argument.expr->is(sql::ExprKind::Identifier) &&
               lower(argument.expr->joined_name()) == lower(word);
    }
    std::string take(std::string_view what) {
        if (!left())
            fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "'{}' needs {} as argument {}", call_.name, what,
                 places_.size() + 1);
        return call_.text(places_[next_++], what);
    }
    void skip() { ++next_; }
    void expect_end() const {
        if (left())
            fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "'{}' has {} arguments more than it takes", call_.name,
                 left());
    }
    const std::map<std::string, std::string>& named() const { return named_; }

private:
    std::string value_of(size_t i) const {
        const auto& argument = call_.arguments[i];
        if (!argument.value)
            fail(ErrorCode::BAD_ARGUMENTS, "The value of {} in '{}' must be constant",
                 argument_name(argument).value_or("an argument"), call_.name);
        return vector_text(argument);
    }
    static std::string vector_text(const plan::TableFunctionArgument& argument) {
        const VectorPtr& value = argument.value;
        if (unwrap(value->type())->id() == TypeId::String && !value->is_null(0))
            return std::string(value->flat_base().values<StringRef>()[value->base_row(0)].view());
        if (argument.expr && argument.expr->args.size() == 2 && argument.expr->args[1]->is(sql::ExprKind::Literal))
            return sql::format_literal(argument.expr->args[1]->literal);
        return {};
    }

    /// extra_credentials(role_arn = '…'), headers(…)
    void take_function(const sql::Expr& function) {
        const std::string name = lower(function.name);
        if (name != "extra_credentials")
            fail(ErrorCode::NOT_IMPLEMENTED, "'{}' takes no argument {}(…)", call_.name, function.name);
        for (const auto& argument : function.args) {
            if (!argument->is_function("equals") || argument->args.size() != 2 ||
                !argument->args[1]->is(sql::ExprKind::Literal))
                fail(ErrorCode::BAD_ARGUMENTS, "extra_credentials of '{}' takes name = 'value'", call_.name);
            const sql::Expr& key = *argument->args[0];
            const std::string key_name = key.is(sql::ExprKind::Identifier) ? key.joined_name() : key.literal.text;
            if (key_name != "role_arn" && key_name != "role_session_name" && key_name != "external_id" &&
                key_name != "sts_endpoint")
                fail(ErrorCode::BAD_ARGUMENTS, "extra_credentials of '{}' does not know '{}'", call_.name, key_name);
            named_[key_name] = argument->args[1]->literal.text;
        }
    }

    const TableCall& call_;
    std::vector<size_t> places_;
    size_t next_ = 0;
    std::map<std::string, std::string> named_;
};

void set_s3_url(LocationArguments& out, const std::string& url, const Settings& settings) {
    const storage::S3Location at = storage::parse_s3_url(url, settings.get_string("s3_uri_style"));
    if (!at.version_id.empty())
        fail(ErrorCode::NOT_IMPLEMENTED, "'{}': a version of an object, by versionId, cannot be read yet",
             storage::shown_url(url));
    const bool google = url.starts_with("gs://") || url.starts_with("gcs://");
    out.root = fmt::format("{}://{}/{}", google ? "gs" : "s3", at.bucket, at.key);
    const std::string region = out.access.s3.region;
    if (!google) out.access.s3 = at.endpoint;
    if (!region.empty()) out.access.s3.region = region;
}

void set_hdfs_url(LocationArguments& out, const std::string& url) {
    out.root = url;
    if (url.find("://") == std::string::npos)
        fail(ErrorCode::BAD_ARGUMENTS, "'{}' is no address on HDFS: hdfs://namenode:port/path or webhdfs://…", url);
    storage::Url parsed = storage::parse_url(url);
    if (!parsed.user_info.empty()) {
        out.access.hdfs.user = parsed.user_info.substr(0, parsed.user_info.find(':'));
        out.root = fmt::format("{}://{}{}", parsed.scheme, parsed.authority(), parsed.path);
    }
    out.access.hdfs.endpoints = storage::webhdfs_endpoints(out.root);
}

void set_azure(LocationArguments& out, const std::string& address, const std::string& container, std::string path) {
    storage::AzureOptions& azure = out.access.azure;
    if (address.starts_with("http://") || address.starts_with("https://")) {
        storage::Url url = storage::parse_url(address);
        azure.sas_token = url.query;
        url.query.clear();
        azure.account_url = url.text();
        while (azure.account_url.ends_with('/')) azure.account_url.pop_back();
    } else {
        storage::apply_connection_string(address, azure);
    }
    if (azure.account_name.empty()) {
        const storage::Url url = storage::parse_url(azure.account_url);
        azure.account_name = url.path.size() > 1 ? url.path.substr(1) : url.host.substr(0, url.host.find('.'));
    }
    while (path.starts_with('/')) path.erase(0, 1);
    out.root = fmt::format("abfss://{}@{}.dfs.core.windows.net/{}", container, azure.account_name, path);
}

/// [format [, structure] [, compression]], as all storages have at the end.
void take_format(Arguments& arguments, LocationArguments& out, bool plain_files) {
    if (!arguments.left()) return;
    out.format = arguments.take("the files' format");
    if (plain_files && arguments.left()) out.structure = arguments.take("the structure");
    if (arguments.left()) out.compression = arguments.take("the compression method");
    if (!is_compression_name(out.compression))
        fail(ErrorCode::BAD_ARGUMENTS, "'{}' is no compression method: auto, none, gzip, zstd …", out.compression);
    arguments.expect_end();
}

void parse_s3(Arguments& arguments, LocationArguments& out, const Settings& settings, bool plain_files) {
    if (arguments.left()) set_s3_url(out, arguments.take("the address"), settings);
    if (arguments.peek_is_word("NOSIGN")) {
        arguments.skip();
        out.access.sign = false;
    } else if (arguments.left() && lower(arguments.peek()) == "nosign") {
        arguments.skip();
        out.access.sign = false;
    } else if (arguments.left() >= 2 && !is_format_name(arguments.peek())) {
        out.access.keys.access_key_id = arguments.take("the access key id");
        out.access.keys.secret_access_key = arguments.take("the secret access key");
        if (arguments.left() && !is_format_name(arguments.peek()))
            out.access.keys.session_token = arguments.take("the session token");
    }
    take_format(arguments, out, plain_files);
}

void parse_azure(Arguments& arguments, LocationArguments& out, bool plain_files) {
    if (!arguments.left()) return;
    const std::string address = arguments.take("the connection string or account URL");
    // abfss://container@account/path says all in one.
    const std::string scheme = address.substr(0, std::min(address.find("://"), address.size()));
    if (scheme == "abfss" || scheme == "abfs" || scheme == "wasbs" || scheme == "wasb" || scheme == "az") {
        out.root = iceberg::canonical_path(address);
    } else {
        const std::string container = arguments.take("the container");
        set_azure(out, address, container, arguments.take("the path in the container"));
    }
    if (arguments.left() >= 2 && !is_format_name(arguments.peek())) {
        out.access.azure.account_name = arguments.take("the account's name");
        out.access.azure.account_key = arguments.take("the account's key");
    }
    take_format(arguments, out, plain_files);
}

}  // namespace

std::optional<StorageKind> storage_of_function(std::string_view name) {
    static const std::map<std::string, StorageKind, std::less<>> kinds{{"icebergLocal", StorageKind::Local},
                                                                       {"iceberg", StorageKind::S3},
                                                                       {"icebergS3", StorageKind::S3},
                                                                       {"s3", StorageKind::S3},
                                                                       {"gcs", StorageKind::S3},
                                                                       {"icebergAzure", StorageKind::Azure},
                                                                       {"azureBlobStorage", StorageKind::Azure},
                                                                       {"icebergHDFS", StorageKind::Hdfs},
                                                                       {"hdfs", StorageKind::Hdfs}};
    const auto found = kinds.find(name);
    return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> argument_name(const plan::TableFunctionArgument& argument) {
    if (!argument.expr || !argument.expr->is_function("equals") || argument.expr->args.size() != 2) return std::nullopt;
    const sql::Expr& name = *argument.expr->args[0];
    if (name.is(sql::ExprKind::Identifier)) return name.joined_name();
    return std::nullopt;
}

namespace {

/// Beyond these a setting means "as long as it takes".
constexpr uint64_t kLongestTimeout_ms = uint64_t{24} * 3600 * 1000;
constexpr uint64_t kMostTries = 1'000'000;

}  // namespace

storage::HttpOptions http_options(const Settings& settings, StorageKind kind) {
    storage::HttpOptions options;
    const auto milliseconds = [&](const char* name) {
        return std::chrono::milliseconds(std::min(settings.get_uint(name), kLongestTimeout_ms));
    };
    const auto count = [&](const char* name) {
        return static_cast<unsigned>(std::min<uint64_t>(settings.get_uint(name), kMostTries));
    };
    const auto seconds = [&](const char* name) {
        const double ms = settings.get_float(name) * 1000;
        const auto longest = static_cast<double>(kLongestTimeout_ms);
        return std::chrono::milliseconds(ms > 0 ? static_cast<int64_t>(std::min(ms, longest)) : 0);
    };
    if (kind == StorageKind::Azure) {
        if (settings.is_changed("azure_connect_timeout_ms"))
            options.connect_timeout = milliseconds("azure_connect_timeout_ms");
        options.idle_timeout = milliseconds("azure_request_timeout_ms");
        if (settings.is_changed("azure_sdk_max_retries")) options.attempts = count("azure_sdk_max_retries") + 1;
    } else if (kind == StorageKind::S3) {
        if (settings.is_changed("s3_connect_timeout_ms"))
            options.connect_timeout = milliseconds("s3_connect_timeout_ms");
        options.idle_timeout = milliseconds("s3_request_timeout_ms");
        if (settings.is_changed("s3_max_single_read_retries"))
            options.attempts = count("s3_max_single_read_retries") + 1;
    } else {
        if (settings.is_changed("http_connection_timeout"))
            options.connect_timeout = seconds("http_connection_timeout");
        options.idle_timeout = seconds("http_receive_timeout");
        if (settings.is_changed("http_max_tries")) options.attempts = std::max(1U, count("http_max_tries"));
    }
    if (options.idle_timeout.count() <= 0) options.idle_timeout = std::chrono::milliseconds(30'000);
    if (options.connect_timeout.count() <= 0) options.connect_timeout = std::chrono::milliseconds(1'000);
    return options;
}

namespace {

/// Credentials are renewed early enough for any window that people set; a wider one would not be kept.
void check_expiration_window(const std::string& shown, const std::string& text) {
    uint64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size())
        fail(ErrorCode::BAD_ARGUMENTS, "{}: expiration_window_seconds is '{}', which is no number of seconds", shown,
             text);
    if (seconds > static_cast<uint64_t>(storage::kRenewedBefore_s))
        fail(ErrorCode::NOT_IMPLEMENTED,
             "{}: expiration_window_seconds cannot be more than the {} seconds before which credentials are renewed",
             shown, storage::kRenewedBefore_s);
}

}  // namespace

void apply_named(LocationArguments& out, const std::map<std::string, std::string>& values, const Settings& settings,
                 UnknownNames unknown) {
    const auto value = [&](std::initializer_list<const char*> names) -> const std::string* {
        for (const char* name : names) {
            if (const auto found = values.find(name); found != values.end()) return &found->second;
        }
        return nullptr;
    };
    storage::StorageAccess& access = out.access;
    static const std::map<std::string, std::string storage::StorageAccess::*, std::less<>> plain{
        {"role_arn", &storage::StorageAccess::role_arn},
        {"role_session_name", &storage::StorageAccess::role_session_name},
        {"external_id", &storage::StorageAccess::external_id},
        {"sts_endpoint", &storage::StorageAccess::sts_endpoint},
        {"gcs_token", &storage::StorageAccess::gcs_token}};
    static const std::map<std::string, int, std::less<>> others{{"url", 0},
                                                                {"endpoint", 0},
                                                                {"path", 0},
                                                                {"filename", 0},
                                                                {"format", 0},
                                                                {"structure", 0},
                                                                {"compression_method", 0},
                                                                {"compression", 0},
                                                                {"access_key_id", 0},
                                                                {"secret_access_key", 0},
                                                                {"session_token", 0},
                                                                {"no_sign_request", 0},
                                                                {"region", 0},
                                                                {"use_environment_credentials", 0},
                                                                {"connection_string", 0},
                                                                {"storage_account_url", 0},
                                                                {"container", 0},
                                                                {"blob_path", 0},
                                                                {"account_name", 0},
                                                                {"account_key", 0},
                                                                {"sas_token", 0},
                                                                {"user", 0},
                                                                {"hdfs_user", 0},
                                                                {"delegation_token", 0},
                                                                {"webhdfs_url", 0},
                                                                {"ca_file", 0},
                                                                {"expiration_window_seconds", 0}};
    for (const auto& [name, text] : values) {
        if (const auto found = plain.find(name); found != plain.end()) {
            access.*(found->second) = text;
        } else if (unknown == UnknownNames::Refused && !others.contains(name)) {
            fail(ErrorCode::BAD_ARGUMENTS, "{}: unexpected key '{}'", out.shown, name);
        }
    }
    if (const auto* text = value({"region"})) access.s3.region = *text;
    switch (out.kind) {
        case StorageKind::S3:
            if (const auto* url = value({"url"})) set_s3_url(out, *url, settings);
            break;
        case StorageKind::Azure: {
            const auto* address = value({"connection_string", "storage_account_url"});
            const auto* container = value({"container"});
            const auto* path = value({"blob_path", "path"});
            if (address && container) set_azure(out, *address, *container, path ? *path : "");
            break;
        }
        case StorageKind::Hdfs:
            if (const auto* url = value({"url", "path"})) set_hdfs_url(out, *url);
            break;
        case StorageKind::Local:
            if (const auto* path = value({"path", "url"})) out.root = iceberg::local_path(*path);
    }
    if (const auto* text = value({"endpoint"})) {
        const std::string region = access.s3.region;
        storage::Url url = storage::parse_url(*text);
        access.s3 = {url.origin(), region, storage::S3Addressing::Path};
    }
    if (const auto* text = value({"access_key_id"})) access.keys.access_key_id = *text;
    if (const auto* text = value({"secret_access_key"})) access.keys.secret_access_key = *text;
    if (const auto* text = value({"session_token"})) access.keys.session_token = *text;
    if (const auto* text = value({"no_sign_request"})) access.sign = !(*text == "1" || lower(*text) == "true");
    if (const auto* text = value({"use_environment_credentials"}))
        access.environment_keys = !(*text == "0" || lower(*text) == "false");
    if (const auto* text = value({"expiration_window_seconds"})) check_expiration_window(out.shown, *text);
    if (const auto* text = value({"account_name"})) access.azure.account_name = *text;
    if (const auto* text = value({"account_key"})) access.azure.account_key = *text;
    if (const auto* text = value({"sas_token"})) access.azure.sas_token = *text;
    if (const auto* text = value({"user", "hdfs_user"})) access.hdfs.user = *text;
    if (const auto* text = value({"delegation_token"})) access.hdfs.delegation_token = *text;
    if (const auto* text = value({"webhdfs_url"})) access.hdfs.endpoints = {storage::parse_url(*text).origin()};
    if (const auto* text = value({"ca_file"})) access.http.ca_file = *text;
    if (const auto* text = value({"format"})) out.format = *text;
    if (const auto* text = value({"structure"})) out.structure = *text;
    if (const auto* text = value({"compression_method", "compression"})) out.compression = *text;
    if (const auto* text = value({"filename"})) out.root = join_path(out.root, *text);
}

LocationArguments parse_location(const TableCall& call, StorageKind kind) {
    LocationArguments out;
    out.kind = kind;
    out.shown = call.name;
    out.access.http = http_options(call.settings, kind);
    const bool plain_files = !lower(call.name).starts_with("iceberg");
    Arguments arguments(call);
    switch (kind) {
        case StorageKind::S3:
            parse_s3(arguments, out, call.settings, plain_files);
            break;
        case StorageKind::Azure:
            parse_azure(arguments, out, plain_files);
            break;
        case StorageKind::Hdfs:
            if (arguments.left()) set_hdfs_url(out, arguments.take("the address"));
            take_format(arguments, out, plain_files);
            break;
        case StorageKind::Local:
            if (arguments.left()) out.root = iceberg::local_path(arguments.take("the table's path"));
            take_format(arguments, out, plain_files);
    }
    if (call.collection.empty()) {
        apply_named(out, arguments.named(), call.settings);
    } else {
        auto values = arguments.named();  // extra_credentials
        for (const auto& [key, value] : values) call.check_override(key);
        for (const auto& [key, value] : call.options) values.emplace(key, value);
        apply_named(out, values, call.settings, UnknownNames::PassedOver);
    }
    // The word itself may be a key that stands in the wrong place.
    if (!is_format_name(out.format))
        fail(ErrorCode::UNKNOWN_FORMAT,
             "'{}': the files' format is given by an unknown name; Parquet, ORC, Avro or auto is expected", call.name);
    if (out.root.empty() && !call.collection.empty())
        fail(ErrorCode::BAD_ARGUMENTS, "Named collection `{}` has no {} for '{}'", call.collection,
             kind == StorageKind::Local ? "path" : "url", call.name);
    if (out.root.empty())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "'{}' needs an address: where the table is", call.name);
    out.shown = fmt::format("{}('{}')", call.name, storage::shown_url(out.root));
    return out;
}

LocationArguments location_on_disk(const TableCall& call, const Disk& disk) {
    static const std::map<Disk::Kind, StorageKind> kinds{{Disk::Kind::Local, StorageKind::Local},
                                                         {Disk::Kind::S3, StorageKind::S3},
                                                         {Disk::Kind::Azure, StorageKind::Azure},
                                                         {Disk::Kind::Hdfs, StorageKind::Hdfs}};
    LocationArguments out;
    out.kind = kinds.at(disk.kind);
    out.shown = call.name;
    out.access.http = http_options(call.settings, out.kind);
    call.expect_arguments(0, 2);
    std::string path = call.arguments.empty() ? "" : call.text(0, "a path inside the disk");
    for (const char* key : {"path", "url", "filename"})
        if (const auto found = call.options.find(key); found != call.options.end())
            path = join_path(path, found->second);
    std::map<std::string, std::string> values(disk.options.begin(), disk.options.end());
    const auto rename = [&](const char* from, const char* to) {
        if (auto node = values.extract(from); !node.empty()) values[to] = std::move(node.mapped());
    };
    switch (disk.kind) {
        case Disk::Kind::Local:
            values["path"] = disk.inside(path);
            break;
        case Disk::Kind::Azure:
            rename("container_name", "container");
            values["blob_path"] = join_path(values["blob_path"], disk.relative(path));
            values.erase("endpoint");
            break;
        default:
            values["url"] = disk.inside(path);
            values.erase("endpoint");
            values.erase("path");
    }
    apply_named(out, values, call.settings, UnknownNames::PassedOver);
    out.shown = fmt::format("{}('{}')", call.name, storage::shown_url(out.root));
    return out;
}

}  // namespace firn::table
