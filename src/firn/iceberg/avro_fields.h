// The fields of an Avro record as Iceberg reads them: by field id, each optional or not.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "firn/base/error.h"
#include "firn/file/avro/cursor.h"
#include "firn/file/avro/schema.h"
#include "firn/iceberg/schema.h"

namespace firn::iceberg {

/// One field of a record, in the file's order.
struct AvroField {
    int32_t id = -1;               ///< -1: has none, to be passed over
    file::avro::NodeId whole = 0;  ///< the type as written, unions included
    file::avro::NodeId type = 0;   ///< the type that is not null
    file::avro::Kind kind{};       ///< of `type`
    int32_t null_branch = -1;      ///< of the union with null; -1: never null
    bool simple = true;            ///< false: a union of another form; only to be passed over
    std::string_view name;
};

/// The fields of a record node. The views live as long as the schema.
std::vector<AvroField> avro_fields(const file::avro::Schema& schema, file::avro::NodeId record);

/// Reads a union's branch where there is one: whether the value is there.
inline bool read_presence(const AvroField& field, file::avro::Cursor& cursor) {
    if (field.null_branch < 0) return true;
    int64_t branch = cursor.read_long();
    if (branch == field.null_branch) return false;
    if (branch != 1 - field.null_branch) fail(ErrorCode::INCORRECT_DATA, "Avro union has no branch {}", branch);
    return true;
}

/// The Iceberg type of an Avro primitive (spec: Appendix A, Avro); null for nested types.
TypePtr type_of_avro(const file::avro::Node& node);

}  // namespace firn::iceberg
