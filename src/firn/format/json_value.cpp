#include "firn/format/json_value.h"

#include <cmath>

namespace firn::format {
namespace {

bool is_nested(TypeId id) { return id == TypeId::Array || id == TypeId::Tuple || id == TypeId::Map; }

class Writer {
public:
    Writer(std::string& out, const JsonOptions& options) : out_(out), options_(options) {}

    void value(const Vector& vector, size_t row, int indent) {
        const Vector& flat = vector.flat_base();
        const size_t at = vector.base_row(row);
        const TypePtr type = unwrap(flat.type());
        if ((flat.nulls() && flat.nulls()[at]) || type->id() == TypeId::Nothing) {
            out_ += "null";
            return;
        }
        switch (type->id()) {
            case TypeId::Array:
                return array(flat, at, *type, indent);
            case TypeId::Map:
                return map(flat, at, indent);
            case TypeId::Tuple:
                return tuple(flat, at, *type, indent);
            case TypeId::String:
            case TypeId::FixedString:
            case TypeId::AggregateFunction:
                return append_json_string(out_, flat.values<StringRef>()[at].view(), options_.slashes);
            default:
                return scalar(flat, at, *type);
        }
    }

private:
    void line(int indent) {
        out_.push_back('\n');
        out_.append(static_cast<size_t>(indent), '\t');
    }

    void array(const Vector& flat, size_t at, const DataType& type, int indent) {
        const bool lines = indent >= 0 && is_nested(unwrap(type.child())->id());
        const int64_t begin = flat.offsets()[at], end = flat.offsets()[at + 1];
        out_.push_back('[');
        for (int64_t i = begin; i < end; ++i) {
            if (i != begin) out_.push_back(',');
            if (lines) line(indent + 1);
            value(*flat.child(), static_cast<size_t>(i), lines ? indent + 1 : -1);
        }
        if (lines && begin != end) line(indent);
        out_.push_back(']');
    }

    void map(const Vector& flat, size_t at, int indent) {
        const Vector& pairs = flat.child()->flat_base();
        const int64_t begin = flat.offsets()[at], end = flat.offsets()[at + 1];
        out_.push_back('{');
        for (int64_t i = begin; i < end; ++i) {
            if (i != begin) out_.push_back(',');
            if (indent >= 0) line(indent + 1);
            const size_t pair = flat.child()->base_row(static_cast<size_t>(i));
            std::string key;
            append_text(key, *pairs.child(0), pair, options_.text);
            append_json_string(out_, key, options_.slashes);
            out_ += indent >= 0 ? ": " : ":";
            value(*pairs.child(1), pair, indent >= 0 ? indent + 1 : -1);
        }
        if (indent >= 0 && begin != end) line(indent);
        out_.push_back('}');
    }

    void tuple(const Vector& flat, size_t at, const DataType& type, int indent) {
        const bool object = options_.named_tuples_as_objects && !type.names().empty();
        out_.push_back(object ? '{' : '[');
        for (size_t i = 0; i < flat.children().size(); ++i) {
            if (i) out_.push_back(',');
            if (indent >= 0) line(indent + 1);
            if (object) {
                append_json_string(out_, type.names()[i], options_.slashes);
                out_ += indent >= 0 ? ": " : ":";
            }
            value(*flat.child(i), at, indent >= 0 ? indent + 1 : -1);
        }
        if (indent >= 0 && !flat.children().empty()) line(indent);
        out_.push_back(object ? '}' : ']');
    }

    bool quoted(const DataType& type) const {
        switch (type.id()) {
            case TypeId::UInt64:
            case TypeId::Int64:
            case TypeId::UInt128:
            case TypeId::Int128:
            case TypeId::UInt256:
            case TypeId::Int256:
            case TypeId::Interval:
                return options_.quote_64bit_integers;
            case TypeId::Float64:
                return options_.quote_64bit_floats;
            case TypeId::Decimal:
                return options_.quote_decimals;
            default:
                return !is_number(type.id());
        }
    }

    void scalar(const Vector& flat, size_t at, const DataType& type) {
        const size_t begin = out_.size();
        append_text(out_, flat, at, options_.text);
        if (is_float(type.id())) {
            const double number = type.id() == TypeId::Float32 ? flat.values<float>()[at] : flat.values<double>()[at];
            if (!std::isfinite(number)) {
                if (options_.quote_denormals) {
                    out_.insert(begin, 1, '"');
                    out_.push_back('"');
                } else {
                    out_.resize(begin);
                    out_ += "null";
                }
                return;
            }
        }
        if (!quoted(type)) return;
        const std::string text = out_.substr(begin);
        out_.resize(begin);
        append_json_string(out_, text, options_.slashes);
    }

    std::string& out_;
    const JsonOptions& options_;
};

}  // namespace

JsonOptions JsonOptions::from(const OutputContext& context) {
    const Settings& settings = *context.settings;
    JsonOptions options;
    options.text.zone = context.zone;
    options.text.decimal_trailing_zeros = settings.get_bool("output_format_decimal_trailing_zeros");
    options.quote_64bit_integers = settings.get_bool("output_format_json_quote_64bit_integers");
    options.quote_64bit_floats = settings.get_bool("output_format_json_quote_64bit_floats");
    options.quote_denormals = settings.get_bool("output_format_json_quote_denormals");
    options.quote_decimals = settings.get_bool("output_format_json_quote_decimals");
    options.named_tuples_as_objects = settings.get_bool("output_format_json_named_tuples_as_objects");
    options.slashes =
        settings.get_bool("output_format_json_escape_forward_slashes") ? JsonSlash::Escaped : JsonSlash::Bare;
    return options;
}

void append_json(std::string& out, const Vector& vector, size_t row, const JsonOptions& options, int indent) {
    if (options.all_as_strings) {
        std::string text;
        if (vector.is_null(row) || unwrap(vector.type())->id() == TypeId::Nothing)
            text = "ᴺᵁᴸᴸ";
        else
            append_text(text, vector, row, options.text);
        append_json_string(out, text, options.slashes);
        return;
    }
    Writer(out, options).value(vector, row, indent);
}

}  // namespace firn::format
