#include "firn/table/table_functions.h"

#include <map>

#include "firn/base/error.h"
#include "firn/functions/function.h"
#include "firn/iceberg/metadata_location.h"
#include "firn/iceberg/path_resolver.h"
#include "firn/table/iceberg_source.h"

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
        {"icebergLocal", iceberg_local},    {"file", file_table},
        {"numbers", numbers_table},         {"numbers_mt", numbers_table},
        {"zeros", numbers_table},           {"zeros_mt", numbers_table},
        {"generate_series", numbers_table}, {"generateSeries", numbers_table},
    };
    static const std::map<std::string, int, std::less<>> later{{"iceberg", 0},
                                                               {"icebergS3", 0},
                                                               {"icebergAzure", 0},
                                                               {"icebergHDFS", 0},
                                                               {"icebergCluster", 0},
                                                               {"icebergS3Cluster", 0},
                                                               {"icebergAzureCluster", 0},
                                                               {"icebergHDFSCluster", 0},
                                                               {"s3", 0},
                                                               {"url", 0},
                                                               {"azureBlobStorage", 0},
                                                               {"hdfs", 0}};
    if (later.contains(name))
        fail(ErrorCode::NOT_IMPLEMENTED,
             "Table function '{}' is not there yet: firn reads local tables with icebergLocal('path') and file('path')",
             name);
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : &found->second;
}

std::shared_ptr<const plan::Source> iceberg_local(const TableCall& call) {
    call.expect_arguments(1, 3);
    const std::string path = iceberg::local_path(call.text(0, "the table's path"));
    if (call.arguments.size() > 1) call.text(1, "the data files' format");
    const Settings& settings = call.settings;
    iceberg::MetadataLocationOptions options;
    options.metadata_file_path = settings.get_string("iceberg_metadata_file_path");
    options.table_uuid = settings.get_string("iceberg_metadata_table_uuid");
    options.by_last_updated_ms = settings.get_bool("iceberg_recent_metadata_file_by_last_updated_ms_field");
    options.use_version_hint = settings.get_bool("iceberg_use_version_hint");
    const std::string metadata_file = iceberg::find_metadata_file(*call.catalog->store(), path, options);
    auto cache = settings.get_bool("use_iceberg_metadata_files_cache") ? call.catalog->cache() : nullptr;
    auto table = iceberg::TableFiles::open(call.catalog->store(), path, metadata_file, std::move(cache));
    const SnapshotChoice choice = choose_snapshot(table.metadata(), settings);
    return std::make_shared<IcebergSource>(std::move(table), choice, IcebergReadOptions::from(settings),
                                           "icebergLocal('" + path + "')");
}

}  // namespace firn::table
