#include "firn/vector/vector_text.h"

#include "firn/base/escape.h"
#include "firn/types/value_text.h"

namespace firn {
namespace {

bool needs_quotes(TypeId id) {
    switch (id) {
        case TypeId::String:
        case TypeId::FixedString:
        case TypeId::Date:
        case TypeId::Date32:
        case TypeId::DateTime:
        case TypeId::DateTime64:
        case TypeId::Time:
        case TypeId::Time64:
        case TypeId::UUID:
        case TypeId::IPv4:
        case TypeId::IPv6:
        case TypeId::Enum8:
        case TypeId::Enum16:
        case TypeId::AggregateFunction:
            return true;
        default:
            return false;
    }
}

void append_elements(std::string& out, const Vector& flat, size_t row, const TextOptions& options) {
    out.push_back('[');
    for (int64_t i = flat.offsets()[row]; i < flat.offsets()[row + 1]; ++i) {
        if (i != flat.offsets()[row]) out.push_back(',');
        append_quoted_text(out, *flat.child(), static_cast<size_t>(i), options);
    }
    out.push_back(']');
}

void append_map(std::string& out, const Vector& flat, size_t row, const TextOptions& options) {
    const Vector& pairs = flat.child()->flat_base();
    out.push_back('{');
    for (int64_t i = flat.offsets()[row]; i < flat.offsets()[row + 1]; ++i) {
        if (i != flat.offsets()[row]) out.push_back(',');
        const size_t at = flat.child()->base_row(static_cast<size_t>(i));
        append_quoted_text(out, *pairs.child(0), at, options);
        out.push_back(':');
        append_quoted_text(out, *pairs.child(1), at, options);
    }
    out.push_back('}');
}

void append_tuple(std::string& out, const Vector& flat, size_t row, const TextOptions& options) {
    out.push_back('(');
    for (size_t i = 0; i < flat.children().size(); ++i) {
        if (i) out.push_back(',');
        append_quoted_text(out, *flat.child(i), row, options);
    }
    out.push_back(')');
}

}  // namespace

void append_text(std::string& out, const Vector& vector, size_t row, const TextOptions& options) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    if (flat.nulls() && flat.nulls()[at]) {
        out += "NULL";
        return;
    }
    const TypePtr type = unwrap(flat.type());
    switch (type->physical()) {
        case Physical::Str:
            out += flat.values<StringRef>()[at].view();
            return;
        case Physical::Array:
            return type->id() == TypeId::Map ? append_map(out, flat, at, options)
                                             : append_elements(out, flat, at, options);
        case Physical::Tuple:
            return append_tuple(out, flat, at, options);
        case Physical::None:
            out += "NULL";
            return;
        default:
            append_value(out, *type, flat.values_buffer()->data() + at * type->value_size(), *options.zone,
                         options.decimal_trailing_zeros);
    }
}

void append_quoted_text(std::string& out, const Vector& vector, size_t row, const TextOptions& options) {
    const TypePtr type = unwrap(vector.type());
    if (!needs_quotes(type->id()) || vector.is_null(row)) return append_text(out, vector, row, options);
    out.push_back('\'');
    if (type->physical() == Physical::Str) {
        append_escaped(out, vector.flat_base().values<StringRef>()[vector.base_row(row)].view(), '\'');
    } else if (type->id() == TypeId::Enum8 || type->id() == TypeId::Enum16) {
        std::string name;
        append_text(name, vector, row, options);
        append_escaped(out, name, '\'');
    } else {
        append_text(out, vector, row, options);
    }
    out.push_back('\'');
}

}  // namespace firn
