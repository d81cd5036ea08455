#include "firn/table/iceberg_types.h"

#include "firn/base/error.h"

namespace firn::table {
namespace {

using iceberg::TypeKind;

constexpr int kMicroScale = 6;
constexpr int kNanoScale = 9;

TypePtr plain_type(const iceberg::Type& type, const IcebergTypeOptions& options) {
    switch (type.kind) {
        case TypeKind::Unknown:
            return make_type(TypeId::Nothing);
        case TypeKind::Boolean:
            return make_type(TypeId::Bool);
        case TypeKind::Int:
            return make_type(TypeId::Int32);
        case TypeKind::Long:
            return make_type(TypeId::Int64);
        case TypeKind::Float:
            return make_type(TypeId::Float32);
        case TypeKind::Double:
            return make_type(TypeId::Float64);
        case TypeKind::Decimal:
            return make_decimal(type.precision, type.scale);
        case TypeKind::Date:
            return make_type(TypeId::Date32);
        case TypeKind::Time:
            return options.time_as_time64 ? make_time64(kMicroScale) : make_type(TypeId::Int64);
        case TypeKind::Timestamp:
            return make_datetime64(kMicroScale);
        case TypeKind::TimestampTz:
            return make_datetime64(kMicroScale, "UTC");
        case TypeKind::TimestampNs:
            return make_datetime64(kNanoScale);
        case TypeKind::TimestampTzNs:
            return make_datetime64(kNanoScale, "UTC");
        case TypeKind::Uuid:
            return make_type(TypeId::UUID);
        case TypeKind::Fixed:
            return make_fixed_string(static_cast<size_t>(type.length));
        case TypeKind::String:
        case TypeKind::Binary:
        case TypeKind::Variant:
        case TypeKind::Geometry:
        case TypeKind::Geography:
            return make_type(TypeId::String);
        case TypeKind::Struct: {
            std::vector<TypePtr> elements;
            std::vector<std::string> names;
            for (const auto& field : type.fields) {
                elements.push_back(sql_type(field, options));
                names.push_back(field.name);
            }
            return make_tuple_type(std::move(elements), std::move(names));
        }
        case TypeKind::List:
            return make_array(sql_type(type.element(), options));
        case TypeKind::Map:
            return make_map(sql_type(type.key(), options), sql_type(type.value(), options));
    }
    fail(ErrorCode::LOGICAL_ERROR, "Iceberg type {} has no SQL type", type.to_string());
}

UInt128 uuid_from_bytes(std::string_view bytes) {
    UInt128 value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

void append_literal(VectorBuilder& builder, const iceberg::Literal& literal) {
    if (literal.is_null) return builder.append_default();
    switch (literal.type->kind) {
        case TypeKind::Struct:
            for (size_t i = 0; i < literal.type->fields.size(); ++i) {
                const auto& field = literal.type->fields[i];
                const bool given = i < literal.item_given.size() ? literal.item_given[i] : i < literal.items.size();
                if (given)
                    append_literal(builder.element(i), literal.items[i]);
                else if (field.initial_default)
                    append_literal(builder.element(i), *field.initial_default);
                else
                    builder.element(i).append_default();
            }
            return builder.end_tuple();
        case TypeKind::List:
            for (const auto& item : literal.items) append_literal(builder.element(), item);
            return builder.end_array();
        case TypeKind::Map:
            for (size_t i = 0; i + 1 < literal.items.size(); i += 2) {
                append_literal(builder.element().element(0), literal.items[i]);
                append_literal(builder.element().element(1), literal.items[i + 1]);
                builder.element().end_tuple();
            }
            return builder.end_array();
        default:
            append_datum(builder, literal.datum);
    }
}

}  // namespace

TypePtr sql_type(const iceberg::Type& type, bool required, const IcebergTypeOptions& options) {
    TypePtr plain = plain_type(type, options);
    return required && type.kind != TypeKind::Unknown ? plain : make_nullable(std::move(plain));
}

void append_datum(VectorBuilder& builder, const iceberg::Datum& value) {
    if (value.is_null()) return builder.append_default();
    const TypePtr type = unwrap(builder.type());
    if (type->id() == TypeId::UUID) return builder.append<UInt128>(uuid_from_bytes(value.view()));
    switch (type->physical()) {
        case Physical::Str:
            return builder.append_string(value.view());
        case Physical::UInt8:
            return builder.append<uint8_t>(static_cast<uint8_t>(value.integer()));
        case Physical::Float32:
            return builder.append<float>(static_cast<float>(value.real()));
        case Physical::Float64:
            return builder.append<double>(value.real());
        case Physical::Int32:
            return builder.append<int32_t>(static_cast<int32_t>(
                type->id() == TypeId::Decimal ? static_cast<int64_t>(value.unscaled()) : value.integer()));
        case Physical::Int64:
            return builder.append<int64_t>(type->id() == TypeId::Decimal ? static_cast<int64_t>(value.unscaled())
                                                                         : value.integer());
        case Physical::Int128:
            return builder.append<Int128>(value.unscaled());
        default:
            fail(ErrorCode::LOGICAL_ERROR, "An Iceberg value cannot be of type {}", type->name());
    }
}

VectorPtr literal_vector(const iceberg::Literal& literal, const TypePtr& type) {
    VectorBuilder builder(type);
    append_literal(builder, literal);
    return builder.finish();
}

VectorPtr datum_vector(const iceberg::Datum& value, const TypePtr& type) {
    VectorBuilder builder(type);
    append_datum(builder, value);
    return builder.finish();
}

std::optional<iceberg::Datum> datum_of(const Vector& vector, size_t row, const iceberg::Type& type) {
    using iceberg::Datum;
    if (vector.is_null(row)) return Datum::null();
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    switch (type.kind) {
        case TypeKind::Boolean:
            return Datum::boolean(flat.values<uint8_t>()[at] != 0);
        case TypeKind::Int:
        case TypeKind::Date:
            return Datum::integral(type.kind, flat.values<int32_t>()[at]);
        case TypeKind::Long:
        case TypeKind::Time:
        case TypeKind::Timestamp:
        case TypeKind::TimestampTz:
        case TypeKind::TimestampNs:
        case TypeKind::TimestampTzNs:
            return Datum::integral(type.kind, flat.values<int64_t>()[at]);
        case TypeKind::Float:
            return Datum::floating(type.kind, flat.values<float>()[at]);
        case TypeKind::Double:
            return Datum::floating(type.kind, flat.values<double>()[at]);
        case TypeKind::Decimal:
            switch (unwrap(vector.type())->physical()) {
                case Physical::Int32:
                    return Datum::decimal(flat.values<int32_t>()[at], type.scale);
                case Physical::Int64:
                    return Datum::decimal(flat.values<int64_t>()[at], type.scale);
                case Physical::Int128:
                    return Datum::decimal(flat.values<Int128>()[at], type.scale);
                default:
                    return std::nullopt;
            }
        case TypeKind::String:
        case TypeKind::Binary:
        case TypeKind::Fixed:
            return Datum::bytes(type.kind, flat.values<StringRef>()[at].view());
        default:
            return std::nullopt;  // Uuid: its bytes are not in the vector; nested types
    }
}

}  // namespace firn::table
