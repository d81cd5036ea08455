// Finding a table's columns in a data file: by field id, by the name mapping, or by name (spec: Column Projection).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "firn/file/data_file.h"
#include "firn/iceberg/metadata.h"
#include "firn/iceberg/schema.h"
#include "firn/table/iceberg_types.h"

namespace firn::table {

/// The ids of a file's fields: its own, or those that the name mapping gives. Immutable.
class FileFields {
public:
    FileFields(const file::DataFile& file, const iceberg::NameMapping* mapping);

    /// The field of that id on one level of the file's schema; by `name` where the file has no ids and no mapping.
    const file::FileField* find(const std::vector<file::FileField>& level, int32_t id, std::string_view name) const;
    const std::vector<file::FileField>& top() const { return top_; }
    /// A leaf at any depth by the ids from the top ("point" → "x"); null where the file lacks it.
    const file::FileField* find_path(const iceberg::Schema& schema, int32_t id) const;

private:
    void map_names(const std::vector<file::FileField>& level, const std::vector<iceberg::NameMapping::Field>& names);
    const std::vector<file::FileField>& top_;
    bool by_name_ = false;
    std::unordered_map<int, int32_t> ids_;  // by FileField::index
};

/// How to read a table's field from the file. A field that the file lacks gets its initial default, else NULL (the type's
/// default inside Array, Map and Tuple). `type`: the SQL type wanted, of the field as the table has it.
file::ReadField project(const iceberg::NestedField& field, const TypePtr& type, const FileFields& file,
                        const std::vector<file::FileField>& level);

}  // namespace firn::table
