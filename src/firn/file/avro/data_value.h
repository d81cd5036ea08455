// Readers of values: each appends the values of one field, one by one as they stand in the file, and gives them as a
// vector of the wanted type.
#pragma once

#include <memory>
#include <string>

#include "firn/file/avro/cursor.h"
#include "firn/file/avro/data_schema.h"

namespace firn::file::avro {

/// What the readers of a file's values share.
struct DataContext {
    const Schema& schema;
    const DataSchema& fields;
    std::vector<const FileField*> by_index;
    std::string file;
    std::shared_ptr<const void> owner;  ///< keeps schema and fields
    std::shared_ptr<const void> block;  ///< keeps the bytes that are read now
};

class ValueReader {
public:
    ValueReader(DataContext& context, int null_branch, std::string name)
        : context_(context), name_(std::move(name)), null_branch_(null_branch) {}
    virtual ~ValueReader() = default;

    /// The next value of the file.
    void append(Cursor& cursor) {
        if (null_branch_ >= 0) {
            const int64_t branch = cursor.read_long();
            if (branch == null_branch_) return append_null();
            if (branch != 1 - null_branch_) fail_column("a union has no branch " + std::to_string(branch));
        }
        append_value(cursor);
    }
    /// A row of which the file holds nothing, since what the value belongs to is NULL.
    virtual void append_absent() = 0;
    /// The values appended since the last call.
    virtual VectorPtr finish() = 0;

protected:
    virtual void append_value(Cursor& cursor) = 0;
    virtual void append_null() = 0;
    [[noreturn]] void fail_column(const std::string& what) const;

    DataContext& context_;
    const std::string name_;

private:
    const int null_branch_;
};

/// The reader of a wanted field that the file has, children and all. `name`: the column's path, for errors.
std::unique_ptr<ValueReader> make_value_reader(DataContext& context, const ReadField& wanted, const std::string& name);
/// The same for fields that are no record, array or map.
std::unique_ptr<ValueReader> make_leaf_reader(DataContext& context, const ReadField& wanted, const std::string& name);
/// The same for a variant, read as JSON text.
std::unique_ptr<ValueReader> make_variant_reader(DataContext& context, const ReadField& wanted,
                                                 const std::string& name);
/// A reader for the keys of an Avro map.
std::unique_ptr<ValueReader> make_key_reader(DataContext& context, const TypePtr& wanted, const std::string& name);

}  // namespace firn::file::avro
