#include "firn/functions/text.h"

#include "firn/base/error.h"
#include "firn/types/value_text.h"
#include "firn/vector/vector_text.h"

namespace firn::functions {

namespace {

bool is_quoted_type(TypeId id) {
    switch (id) {
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
            return true;
        default:
            return false;
    }
}

void append_nested(std::string& out, const Vector& flat, size_t row, const DataType& type, const TextOptions& options) {
    if (type.id() == TypeId::Tuple) {
        out.push_back('(');
        for (size_t i = 0; i < flat.children().size(); ++i) {
            if (i) out.push_back(',');
            append_quoted(out, *flat.child(i), row, options);
        }
        out.push_back(')');
        return;
    }
    const auto begin = static_cast<size_t>(flat.offsets()[row]), end = static_cast<size_t>(flat.offsets()[row + 1]);
    const bool map = type.id() == TypeId::Map;
    out.push_back(map ? '{' : '[');
    for (size_t i = begin; i < end; ++i) {
        if (i != begin) out.push_back(',');
        if (map) {
            const Vector& entries = flat.child()->flat_base();
            const size_t at = flat.child()->base_row(i);
            append_quoted(out, *entries.child(0), at, options);
            out.push_back(':');
            append_quoted(out, *entries.child(1), at, options);
        } else {
            append_quoted(out, *flat.child(), i, options);
        }
    }
    out.push_back(map ? '}' : ']');
}

void append(std::string& out, const Vector& vector, size_t row, const TextOptions& options, bool quoted) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    const TypePtr type = unwrap(flat.type());
    if (type->id() == TypeId::Nothing || (flat.nulls() && flat.nulls()[at])) {
        out += "NULL";
        return;
    }
    switch (flat.type()->physical()) {
        case Physical::Str: {
            const std::string_view bytes = flat.values<StringRef>()[at].view();
            if (quoted)
                append_quoted_string(out, bytes);
            else
                out += bytes;
            return;
        }
        case Physical::Array:
        case Physical::Tuple:
            return append_nested(out, flat, at, *type, options);
        case Physical::None:
            fail(ErrorCode::NOT_IMPLEMENTED, "Values of type {} have no text yet", type->name());
        default:
            break;
    }
    const char* data = flat.values_buffer()->data() + at * type->value_size();
    if (quoted && is_quoted_type(type->id())) {
        if (type->id() == TypeId::Enum8 || type->id() == TypeId::Enum16) {
            std::string name;
            append_value(name, *type, data, *options.time_zone);
            return append_quoted_string(out, name);
        }
        out.push_back('\'');
        append_value(out, *type, data, *options.time_zone);
        out.push_back('\'');
        return;
    }
    append_value(out, *type, data, *options.time_zone, options.decimal_trailing_zeros);
}

}  // namespace

void append_plain(std::string& out, const Vector& vector, size_t row, const TextOptions& options) {
    append(out, vector, row, options, false);
}

void append_quoted(std::string& out, const Vector& vector, size_t row, const TextOptions& options) {
    append(out, vector, row, options, true);
}

void append_quoted_string(std::string& out, std::string_view bytes) {
    out.push_back('\'');
    append_escaped(out, bytes, '\'');
    out.push_back('\'');
}

}  // namespace firn::functions
