#include "firn/table/table_functions.h"

#include <map>

#include "firn/base/error.h"
#include "firn/functions/function.h"
#include "firn/table/iceberg_source.h"
#include "firn/table/table_location.h"

namespace firn::table {

std::string TableCall::text(size_t i, std::string_view what) const {
    if (i >= arguments.size())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Table function '{}' needs {} as argument {}", name, what,
             i + 1);
    const auto& argument = arguments[i];
    if (argument.value && !argument.value->is_null(0)) {
        if (unwrap(argument.value->type())->id() == TypeId::String)
            return std::string(argument.value->flat_base().values<StringRef>()[argument.value->base_row(0)].view());
    } else if (argument.expr && argument.expr->is(sql::ExprKind::Identifier)) {
        return argument.expr->joined_name();
    }
    fail(ErrorCode::BAD_ARGUMENTS, "Argument {} of table function '{}' must be {}, a string", i + 1, name, what);
}

void TableCall::set(const std::string& setting, const std::string& value) {
    if (setting == "disk")
        disk = value;
    else
        settings.set(setting, value);
}

namespace {

/// The value of `name = value`: a constant of any type, or a bare word.
std::string value_text(const plan::TableFunctionArgument& argument) {
    if (!argument.value) {
        const sql::Expr& value = *argument.expr->args[1];
        if (value.is(sql::ExprKind::Identifier)) return value.joined_name();
        fail(ErrorCode::BAD_ARGUMENTS, "The value of {} must be constant", *argument_name(argument));
    }
    if (argument.value->is_null(0)) return {};
    const VectorPtr text = functions::cast_vector(argument.value, make_type(TypeId::String));
    return std::string(text->flat_base().values<StringRef>()[text->base_row(0)].view());
}

}  // namespace

void TableCall::apply_collection() {
    const auto named = [](const plan::TableFunctionArgument& argument) { return argument_name(argument).has_value(); };
    const bool has_collection = !arguments.empty() && !arguments[0].value && arguments[0].expr &&
                                arguments[0].expr->is(sql::ExprKind::Identifier);
    if (!has_collection) return;
    collection = arguments[0].expr->joined_name();
    const NamedCollection found = catalog->collections().get(collection);
    const bool by_default = settings.get_bool("allow_named_collection_override_by_default");
    for (const auto& [key, value] : found.values) {
        options[key] = value.text;
        if (!value.overridable.value_or(by_default)) fixed.insert(key);
    }
    for (size_t i = 1; i < arguments.size(); ++i) {
        if (!named(arguments[i])) {
            // extra_credentials(…), headers(…) may stand beside them.
            if (arguments[i].expr && arguments[i].expr->is(sql::ExprKind::Function)) continue;
            fail(ErrorCode::BAD_ARGUMENTS,
                 "Table function '{}': arguments behind named collection {} must be name = value", name, collection);
        }
        const std::string key = *argument_name(arguments[i]);
        check_override(key);
        options[key] = value_text(arguments[i]);
    }
    std::erase_if(arguments, named);
    arguments.erase(arguments.begin());
}

void TableCall::check_override(std::string_view option) const {
    if (fixed.contains(option)) fail(ErrorCode::BAD_ARGUMENTS, "Override not allowed for '{}'", option);
}

uint64_t TableCall::number(size_t i, std::string_view what) const {
    if (i >= arguments.size() || !arguments[i].value)
        fail(ErrorCode::BAD_ARGUMENTS, "Argument {} of table function '{}' must be {}, a constant number", i + 1, name,
             what);
    const VectorPtr value = functions::cast_vector(arguments[i].value, make_type(TypeId::UInt64));
    return value->flat_base().values<uint64_t>()[value->base_row(0)];
}

void TableCall::expect_arguments(size_t least, size_t most) const {
    if (arguments.size() < least || arguments.size() > most)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Table function '{}' takes {} to {} arguments, {} are given",
             name, least, most, arguments.size());
}

const TableFunction* find_table_function(std::string_view name) {
    static const std::map<std::string, TableFunction, std::less<>> functions{
        {"icebergLocal", iceberg_table},
        {"iceberg", iceberg_table},
        {"icebergS3", iceberg_table},
        {"icebergAzure", iceberg_table},
        {"icebergHDFS", iceberg_table},
        {"file", file_table},
        {"s3", remote_files},
        {"gcs", remote_files},
        {"azureBlobStorage", remote_files},
        {"hdfs", remote_files},
        {"numbers", numbers_table},
        {"numbers_mt", numbers_table},
        {"zeros", numbers_table},
        {"zeros_mt", numbers_table},
        {"generate_series", numbers_table},
        {"generateSeries", numbers_table},
    };
    static const std::map<std::string, int, std::less<>> later{{"icebergCluster", 0},      {"icebergS3Cluster", 0},
                                                               {"icebergAzureCluster", 0}, {"icebergHDFSCluster", 0},
                                                               {"s3Cluster", 0},           {"url", 0}};
    if (later.contains(name))
        fail(ErrorCode::NOT_IMPLEMENTED,
             "Table function '{}' is not there yet: firn reads tables with icebergLocal, icebergS3, icebergAzure and "
             "icebergHDFS, and files with file, s3, azureBlobStorage and hdfs",
             name);
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : &found->second;
}

namespace {

LocationArguments location_of(const TableCall& call) {
    if (!call.disk.empty()) return location_on_disk(call, call.catalog->disk(call.disk));
    return parse_location(call, *storage_of_function(call.name));
}

IcebergPlace place_of(const TableCall& call, const LocationArguments& location) {
    const Settings& settings = call.settings;
    IcebergPlace place;
    place.store = location.kind == StorageKind::Local ? call.catalog->store() : storage::open_storage(location.access);
    place.root = location.root;
    iceberg::MetadataLocationOptions& options = place.options;
    options.metadata_file_path = settings.get_string("iceberg_metadata_file_path");
    options.table_uuid = settings.get_string("iceberg_metadata_table_uuid");
    options.by_last_updated_ms = settings.get_bool("iceberg_recent_metadata_file_by_last_updated_ms_field");
    options.use_version_hint = settings.get_bool("iceberg_use_version_hint");
    if (settings.get_bool("use_iceberg_metadata_files_cache")) place.cache = call.catalog->cache();
    return place;
}

}  // namespace

IcebergPlace iceberg_place(const TableCall& call) { return place_of(call, location_of(call)); }

std::shared_ptr<const plan::Source> iceberg_table(const TableCall& call) {
    const LocationArguments location = location_of(call);
    auto table = place_of(call, location).open(metadata_staleness(call.settings));
    const SnapshotChoice choice = choose_snapshot(table.metadata(), call.settings);
    return std::make_shared<IcebergSource>(std::move(table), choice, IcebergReadOptions::from(call.settings),
                                           location.shown);
}

}  // namespace firn::table
