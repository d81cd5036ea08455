// Table functions and engines by name: from arguments to sources.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firn/base/settings.h"
#include "firn/plan/analyzer.h"
#include "firn/table/catalog.h"
#include "firn/table/iceberg_place.h"

namespace firn::table {

/// What a table function is called with.
struct TableCall {
    std::string name;                                    // as written
    std::vector<plan::TableFunctionArgument> arguments;  // without the collection and its options, once it is applied
    Settings settings;                                   // the query's, with those inside the call on top
    std::string disk;                                    // SETTINGS disk = '…'; empty: none
    std::string collection;                              // the named collection; empty: none
    std::map<std::string, std::string, std::less<>> options;  // of the collection, with those given over them
    std::set<std::string, std::less<>> fixed;                 // options that nothing may be given over
    const Catalog* catalog = nullptr;

    /// BAD_ARGUMENTS for an option of the collection that must not be overridden.
    void check_override(std::string_view option) const;
    /// SETTINGS inside the call or behind the engine: a setting of the query, or `disk`.
    void set(const std::string& setting, const std::string& value);
    /// Where the first argument is a bare word: takes the named collection of that name and the `name = value` arguments
    /// behind it out of `arguments` into `options`. NAMED_COLLECTION_DOESNT_EXIST, BAD_ARGUMENTS for an option that
    /// must not be overridden.
    void apply_collection();

    /// Argument as text: a constant string, or a bare word. BAD_ARGUMENTS, NUMBER_OF_ARGUMENTS_DOESNT_MATCH otherwise.
    std::string text(size_t i, std::string_view what) const;
    uint64_t number(size_t i, std::string_view what) const;
    void expect_arguments(size_t least, size_t most) const;
};

using TableFunction = std::function<std::shared_ptr<const plan::Source>(const TableCall&)>;

/// Null where there is no such function.
const TableFunction* find_table_function(std::string_view name);

/// An Iceberg table, on the storage that the function's name says.
std::shared_ptr<const plan::Source> iceberg_table(const TableCall& call);
/// Where that table is.
IcebergPlace iceberg_place(const TableCall& call);
/// s3, gcs, azureBlobStorage, hdfs: plain files, with patterns in the path.
std::shared_ptr<const plan::Source> remote_files(const TableCall& call);
std::shared_ptr<const plan::Source> file_table(const TableCall& call);
std::shared_ptr<const plan::Source> numbers_table(const TableCall& call);

/// Tables of database system; null where there is none by that name.
std::shared_ptr<const plan::Source> system_table(std::string_view name, const Catalog& catalog,
                                                 const Settings& settings);
std::vector<std::string> system_table_names();

}  // namespace firn::table
