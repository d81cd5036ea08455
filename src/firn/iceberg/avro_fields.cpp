#include "firn/iceberg/avro_fields.h"

namespace firn::iceberg {

namespace avro = file::avro;

std::vector<AvroField> avro_fields(const avro::Schema& schema, avro::NodeId record) {
    std::vector<AvroField> out;
    for (const avro::Field& field : schema.node(record).fields) {
        AvroField step;
        step.id = field.field_id.value_or(-1);
        step.name = field.name;
        step.whole = field.type;
        if (auto nullable = schema.nullable(field.type)) {
            step.type = nullable->type;
            step.null_branch = nullable->null_branch;
        } else {
            step.type = field.type;
            step.simple = false;
        }
        step.kind = schema.node(step.type).kind;
        out.push_back(step);
    }
    return out;
}

TypePtr type_of_avro(const avro::Node& node) {
    bool zoned = node.adjust_to_utc.value_or(true);
    switch (node.kind) {
        case avro::Kind::Null:
            return Type::primitive(TypeKind::Unknown);
        case avro::Kind::Boolean:
            return Type::primitive(TypeKind::Boolean);
        case avro::Kind::Int:
            if (node.logical == avro::Logical::Date) return Type::primitive(TypeKind::Date);
            if (node.logical == avro::Logical::TimeMillis) return Type::primitive(TypeKind::Time);
            return Type::primitive(TypeKind::Int);
        case avro::Kind::Long:
            break;
        case avro::Kind::Float:
            return Type::primitive(TypeKind::Float);
        case avro::Kind::Double:
            return Type::primitive(TypeKind::Double);
        case avro::Kind::String:
        case avro::Kind::Enum:
            return Type::primitive(TypeKind::String);
        case avro::Kind::Bytes:
        case avro::Kind::Fixed:
            if (node.logical == avro::Logical::Decimal) return Type::decimal(node.precision, node.scale);
            if (node.logical == avro::Logical::Uuid) return Type::primitive(TypeKind::Uuid);
            if (node.kind == avro::Kind::Bytes) return Type::primitive(TypeKind::Binary);
            return Type::fixed(static_cast<int32_t>(node.size));
        default:
            return nullptr;
    }
    switch (node.logical) {
        case avro::Logical::TimeMicros:
            return Type::primitive(TypeKind::Time);
        case avro::Logical::TimestampMillis:
        case avro::Logical::TimestampMicros:
            return Type::primitive(zoned ? TypeKind::TimestampTz : TypeKind::Timestamp);
        case avro::Logical::TimestampNanos:
            return Type::primitive(zoned ? TypeKind::TimestampTzNs : TypeKind::TimestampNs);
        case avro::Logical::LocalTimestampMillis:
        case avro::Logical::LocalTimestampMicros:
            return Type::primitive(TypeKind::Timestamp);
        case avro::Logical::LocalTimestampNanos:
            return Type::primitive(TypeKind::TimestampNs);
        default:
            return Type::primitive(TypeKind::Long);
    }
}

}  // namespace firn::iceberg
