#include "firn/file/orc/schema.h"

#include "firn/base/error.h"

namespace firn::file::orc {
namespace {

constexpr int kMaxDecimalDigits = 38;
// Hive 0.11 wrote decimals without precision and scale.
constexpr int kOldDecimalScale = 18;

class FieldMaker {
public:
    FieldMaker(const Tail& tail, const std::string& file) : tail_(tail), file_(file) {}

    std::vector<FileField> fields() {
        if (tail_.types.empty()) fail(ErrorCode::INCORRECT_DATA, "ORC file {}: it has no types", file_);
        if (tail_.types[0].kind != Kind::Struct)
            fail(ErrorCode::NOT_IMPLEMENTED, "ORC file {}: its rows are not structs", file_);
        next_ = 1;
        auto fields = struct_fields(tail_.types[0], 0);
        if (next_ != tail_.types.size())
            fail(ErrorCode::INCORRECT_DATA, "ORC file {}: {} of its types belong to no column", file_,
                 tail_.types.size() - next_);
        return fields;
    }

private:
    const Type& take(uint32_t column) {
        if (column != next_ || column >= tail_.types.size())
            fail(ErrorCode::INCORRECT_DATA, "ORC file {}: its types are not numbered depth first (at {})", file_,
                 column);
        return tail_.types[next_++];
    }

    std::vector<FileField> struct_fields(const Type& type, int depth) {
        if (type.field_names.size() != type.subtypes.size())
            fail(ErrorCode::INCORRECT_DATA, "ORC file {}: a struct has {} names for {} fields", file_,
                 type.field_names.size(), type.subtypes.size());
        std::vector<FileField> fields;
        for (size_t i = 0; i < type.subtypes.size(); ++i)
            fields.push_back(field(type.subtypes[i], type.field_names[i], depth + 1));
        return fields;
    }

    FileField field(uint32_t column, const std::string& name, int depth, bool optional = true) {
        if (depth > kMaxDepth)
            fail(ErrorCode::TOO_DEEP_RECURSION, "ORC file {}: types nest deeper than {}", file_, kMaxDepth);
        const Type& type = take(column);
        FileField field;
        field.name = name;
        field.field_id = type.iceberg_id;
        field.index = static_cast<int>(column) - 1;
        field.optional = optional;
        field.utc = type.kind == Kind::TimestampInstant;
        switch (type.kind) {
            case Kind::Struct: {
                if (is_variant(tail_, column)) {
                    next_ += 2;
                    field.type = make_nullable(make_type(TypeId::String));
                    break;
                }
                field.children = struct_fields(type, depth);
                std::vector<TypePtr> types;
                for (const auto& child : field.children) types.push_back(child.type);
                field.type = make_tuple_type(std::move(types), type.field_names);
                break;
            }
            case Kind::List:
                expect_children(type, name, 1);
                field.children.push_back(this->field(type.subtypes[0], "element", depth + 1));
                field.type = make_array(field.children[0].type);
                break;
            case Kind::Map:
                expect_children(type, name, 2);
                field.children.push_back(this->field(type.subtypes[0], "key", depth + 1, false));
                field.children.push_back(this->field(type.subtypes[1], "value", depth + 1));
                field.type = make_map(field.children[0].type, field.children[1].type);
                break;
            default:
                expect_children(type, name, 0);
                field.type = leaf_type(type, name);
                if (optional) field.type = make_nullable(field.type);
        }
        return field;
    }

    void expect_children(const Type& type, const std::string& name, size_t count) const {
        if (type.kind == Kind::Union)
            fail(ErrorCode::NOT_IMPLEMENTED, "ORC file {}: column {} is a union, which is not supported", file_, name);
        if (type.subtypes.size() != count)
            fail(ErrorCode::INCORRECT_DATA, "ORC file {}: column {} has {} subtypes instead of {}", file_, name,
                 type.subtypes.size(), count);
    }

    TypePtr leaf_type(const Type& type, const std::string& name) const {
        switch (type.kind) {
            case Kind::Boolean:
                return make_type(TypeId::Bool);
            case Kind::Byte:
                return make_type(TypeId::Int8);
            case Kind::Short:
                return make_type(TypeId::Int16);
            case Kind::Int:
                return make_type(TypeId::Int32);
            case Kind::Long:
                return make_type(TypeId::Int64);
            case Kind::Float:
                return make_type(TypeId::Float32);
            case Kind::Double:
                return make_type(TypeId::Float64);
            case Kind::Date:
                return make_type(TypeId::Date32);
            case Kind::Timestamp:
                return make_datetime64(timestamp_digits(type));
            case Kind::TimestampInstant:
                return make_datetime64(timestamp_digits(type), "UTC");
            case Kind::Binary:
                if (type.binary_type == "UUID") return make_type(TypeId::UUID);
                if (type.binary_type == "FIXED" && type.fixed_length > 0) return make_fixed_string(type.fixed_length);
                return make_type(TypeId::String);
            case Kind::Decimal: {
                if (type.precision == 0) return make_decimal(kMaxDecimalDigits, kOldDecimalScale);
                if (type.precision > kMaxDecimalDigits || type.scale > type.precision)
                    fail(ErrorCode::INCORRECT_DATA, "ORC file {}: column {} is a decimal({}, {})", file_, name,
                         type.precision, type.scale);
                return make_decimal(static_cast<int>(type.precision), static_cast<int>(type.scale));
            }
            default:
                return make_type(TypeId::String);
        }
    }

    static int timestamp_digits(const Type& type) {
        if (type.timestamp_unit == "NANOS") return 9;
        return type.timestamp_unit == "MICROS" || type.iceberg_id ? 6 : 9;
    }

    const Tail& tail_;
    const std::string& file_;
    uint32_t next_ = 0;
};

}  // namespace

bool is_variant(const Tail& tail, uint32_t column) {
    const Type& type = tail.types[column];
    if (type.struct_type != "VARIANT" || type.kind != Kind::Struct || type.field_names.size() != 2) return false;
    if (column + 2 >= tail.types.size() || type.subtypes != std::vector<uint32_t>{column + 1, column + 2}) return false;
    return type.field_names[0] == "metadata" && type.field_names[1] == "value" &&
           tail.types[column + 1].kind == Kind::Binary && tail.types[column + 2].kind == Kind::Binary;
}

std::vector<FileField> to_fields(const Tail& tail, const std::string& file) { return FieldMaker(tail, file).fields(); }

}  // namespace firn::file::orc
