// Types from text: "DateTime64(6, 'UTC')".
#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>

#include "firn/base/error.h"
#include "firn/functions/function.h"

namespace firn::functions {

namespace {

constexpr int kMaxDepth = 100;

std::string upper_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

/// Names of other dialects, in upper case.
const std::map<std::string, std::string, std::less<>>& aliases() {
    static const std::map<std::string, std::string, std::less<>> names = {{"TINYINT", "Int8"},
                                                                          {"INT1", "Int8"},
                                                                          {"BYTE", "Int8"},
                                                                          {"SMALLINT", "Int16"},
                                                                          {"INT", "Int32"},
                                                                          {"INT4", "Int32"},
                                                                          {"INTEGER", "Int32"},
                                                                          {"MEDIUMINT", "Int32"},
                                                                          {"BIGINT", "Int64"},
                                                                          {"SIGNED", "Int64"},
                                                                          {"UNSIGNED", "UInt64"},
                                                                          {"TINYINT UNSIGNED", "UInt8"},
                                                                          {"SMALLINT UNSIGNED", "UInt16"},
                                                                          {"INT UNSIGNED", "UInt32"},
                                                                          {"INTEGER UNSIGNED", "UInt32"},
                                                                          {"MEDIUMINT UNSIGNED", "UInt32"},
                                                                          {"BIGINT UNSIGNED", "UInt64"},
                                                                          {"TINYINT SIGNED", "Int8"},
                                                                          {"SMALLINT SIGNED", "Int16"},
                                                                          {"INT SIGNED", "Int32"},
                                                                          {"INTEGER SIGNED", "Int32"},
                                                                          {"BIGINT SIGNED", "Int64"},
                                                                          {"FLOAT", "Float32"},
                                                                          {"REAL", "Float32"},
                                                                          {"SINGLE", "Float32"},
                                                                          {"DOUBLE", "Float64"},
                                                                          {"DOUBLE PRECISION", "Float64"},
                                                                          {"BOOL", "Bool"},
                                                                          {"BOOLEAN", "Bool"},
                                                                          {"DATE", "Date"},
                                                                          {"DATE32", "Date32"},
                                                                          {"DATETIME", "DateTime"},
                                                                          {"DATETIME32", "DateTime"},
                                                                          {"TIMESTAMP", "DateTime"},
                                                                          {"DATETIME64", "DateTime64"},
                                                                          {"VARCHAR", "String"},
                                                                          {"VARCHAR2", "String"},
                                                                          {"CHAR", "String"},
                                                                          {"CHARACTER", "String"},
                                                                          {"TEXT", "String"},
                                                                          {"TINYTEXT", "String"},
                                                                          {"MEDIUMTEXT", "String"},
                                                                          {"LONGTEXT", "String"},
                                                                          {"BLOB", "String"},
                                                                          {"TINYBLOB", "String"},
                                                                          {"MEDIUMBLOB", "String"},
                                                                          {"LONGBLOB", "String"},
                                                                          {"CLOB", "String"},
                                                                          {"BYTEA", "String"},
                                                                          {"NVARCHAR", "String"},
                                                                          {"NCHAR", "String"},
                                                                          {"BINARY VARYING", "String"},
                                                                          {"BINARY LARGE OBJECT", "String"},
                                                                          {"CHARACTER VARYING", "String"},
                                                                          {"CHAR VARYING", "String"},
                                                                          {"NATIONAL CHARACTER", "String"},
                                                                          {"VARBINARY", "String"},
                                                                          {"BINARY", "FixedString"},
                                                                          {"STRING", "String"},
                                                                          {"DECIMAL", "Decimal"},
                                                                          {"DEC", "Decimal"},
                                                                          {"NUMERIC", "Decimal"},
                                                                          {"FIXED", "Decimal"},
                                                                          {"DECIMAL32", "Decimal32"},
                                                                          {"DECIMAL64", "Decimal64"},
                                                                          {"DECIMAL128", "Decimal128"},
                                                                          {"DECIMAL256", "Decimal256"},
                                                                          {"INET4", "IPv4"},
                                                                          {"INET6", "IPv6"},
                                                                          {"ENUM", "Enum"},
                                                                          {"TIME", "Time"},
                                                                          {"TIME64", "Time64"},
                                                                          {"YEAR", "UInt16"},
                                                                          {"BIT", "UInt64"},
                                                                          {"SET", "UInt64"}};
    return names;
}

class TypeParser {
public:
    explicit TypeParser(std::string_view text) : text_(text) {}

    TypePtr whole() {
        TypePtr type = parse(0);
        skip_space();
        if (at_ != text_.size()) fail_syntax();
        return type;
    }

private:
    [[noreturn]] void fail_syntax() const {
        fail(ErrorCode::SYNTAX_ERROR, "Cannot parse data type '{}': wrong at position {}", text_, at_ + 1);
    }

    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }
    bool peek(char c) {
        skip_space();
        return at_ < text_.size() && text_[at_] == c;
    }
    bool take(char c) {
        if (!peek(c)) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!take(c)) fail_syntax();
    }
    static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

    std::string word() {
        skip_space();
        if (at_ < text_.size() && (text_[at_] == '`' || text_[at_] == '"')) return quoted(text_[at_]);
        const size_t start = at_;
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        if (start == at_) fail_syntax();
        return std::string(text_.substr(start, at_ - start));
    }
    std::string quoted(char quote) {
        skip_space();
        expect(quote);
        std::string out;
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == quote) {
                if (at_ < text_.size() && text_[at_] == quote) {
                    out.push_back(text_[at_++]);
                    continue;
                }
                return out;
            }
            if (c == '\\' && at_ < text_.size()) {
                const char escaped = text_[at_++];
                out.push_back(escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == '0' ? '\0' : escaped);
            } else {
                out.push_back(c);
            }
        }
        fail_syntax();
    }
    int64_t number() {
        skip_space();
        int64_t value = 0;
        const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (result.ec != std::errc() || result.ptr == text_.data() + at_) fail_syntax();
        at_ = static_cast<size_t>(result.ptr - text_.data());
        return value;
    }
    int small_number() { return static_cast<int>(std::clamp<int64_t>(number(), -1, 1000)); }

    /// A type's name: a word, or two or three where dialects write so ("DOUBLE PRECISION").
    std::string name() {
        std::string out = word();
        for (int i = 0; i < 2; ++i) {
            const size_t before = at_;
            skip_space();
            if (at_ >= text_.size() || !std::isalpha(static_cast<unsigned char>(text_[at_]))) break;
            const std::string longer = out + " " + word();
            const std::string key = upper_case(longer);
            const bool is_prefix = std::any_of(aliases().begin(), aliases().end(), [&](const auto& a) {
                return a.first == key || a.first.starts_with(key + " ");
            });
            if (!is_prefix) {
                at_ = before;
                break;
            }
            out = longer;
        }
        return out;
    }

    TypePtr parse(int depth) {
        if (depth > kMaxDepth)
            fail(ErrorCode::TOO_DEEP_RECURSION, "Data type '{}…' is nested too deeply", text_.substr(0, 60));
        const std::string written = name();
        if (TypePtr simple = simple_type(written); simple && !peek('(')) return simple;
        if (TypePtr type = type_of(written, depth)) return type;
        const auto it = aliases().find(upper_case(written));
        if (it != aliases().end())
            if (TypePtr type = type_of(it->second, depth)) return type;
        fail(ErrorCode::UNKNOWN_TYPE, "Unknown data type family: {}", written);
    }

    static TypePtr simple_type(const std::string& name) {
        static const std::map<std::string, TypeId> simple = {
            {"Nothing", TypeId::Nothing},   {"Bool", TypeId::Bool},       {"UInt8", TypeId::UInt8},
            {"UInt16", TypeId::UInt16},     {"UInt32", TypeId::UInt32},   {"UInt64", TypeId::UInt64},
            {"UInt128", TypeId::UInt128},   {"UInt256", TypeId::UInt256}, {"Int8", TypeId::Int8},
            {"Int16", TypeId::Int16},       {"Int32", TypeId::Int32},     {"Int64", TypeId::Int64},
            {"Int128", TypeId::Int128},     {"Int256", TypeId::Int256},   {"Float32", TypeId::Float32},
            {"Float64", TypeId::Float64},   {"Date", TypeId::Date},       {"Date32", TypeId::Date32},
            {"DateTime", TypeId::DateTime}, {"Time", TypeId::Time},       {"String", TypeId::String},
            {"UUID", TypeId::UUID},         {"IPv4", TypeId::IPv4},       {"IPv6", TypeId::IPv6}};
        if (const auto it = simple.find(name); it != simple.end()) return make_type(it->second);
        if (name.starts_with("Interval"))
            for (int kind = 0; kind <= static_cast<int>(IntervalKind::Year); ++kind)
                if (name.substr(8) == interval_name(static_cast<IntervalKind>(kind)))
                    return make_interval(static_cast<IntervalKind>(kind));
        return nullptr;
    }

    /// Null where there is no such name.
    TypePtr type_of(const std::string& name, int depth) {
        if (TypePtr simple = simple_type(name)) {
            if (!peek('(')) return simple;
            if (name == "DateTime") return datetime();
            if (name == "String" || name.starts_with("Int") || name.starts_with("UInt") || name.starts_with("Float")) {
                expect('(');  // VARCHAR(10), INT(11), FLOAT(5, 2): the numbers mean nothing
                number();
                if (take(',')) number();
                expect(')');
                return simple;
            }
            fail(ErrorCode::DATA_TYPE_CANNOT_HAVE_ARGUMENTS, "Data type {} cannot have arguments", name);
        }
        if (name == "DateTime64") return datetime64();
        if (name == "Time64") return time64();
        if (name.starts_with("Decimal")) return decimal(name);
        if (name == "FixedString") return fixed_string();
        if (name == "Enum8" || name == "Enum16" || name == "Enum") return enumeration(name);
        if (name == "Tuple" || name == "Nested") return tuple(name == "Nested", depth);
        if (name == "JSON" || name == "Dynamic" || name == "Variant" || name == "AggregateFunction" ||
            name == "SimpleAggregateFunction" || name == "Object")
            fail(ErrorCode::NOT_IMPLEMENTED, "Data type {} is not supported yet", name);
        if (name != "Array" && name != "Map" && name != "Nullable" && name != "LowCardinality") return nullptr;
        std::vector<TypePtr> inner;
        if (take('(')) {
            do inner.push_back(parse(depth + 1));
            while (take(','));
            expect(')');
        }
        if (inner.size() != (name == "Map" ? 2U : 1U))
            fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "{} data type takes {} argument(s)", name,
                 name == "Map" ? 2 : 1);
        if (name == "Array") return make_array(inner[0]);
        if (name == "Map") return make_map(inner[0], inner[1]);
        if (name == "Nullable") return make_nullable_checked(inner[0]);
        return make_low_cardinality(inner[0]);
    }

    TypePtr datetime() {
        expect('(');
        skip_space();
        if (peek('\'')) {
            std::string zone = quoted('\'');
            expect(')');
            return make_datetime(std::move(zone));
        }
        const int scale = small_number();
        std::string zone;
        if (take(',')) zone = quoted('\'');
        expect(')');
        return make_datetime64(scale, std::move(zone));
    }
    TypePtr datetime64() {
        if (!take('(')) return make_datetime64(3);
        const int scale = small_number();
        std::string zone;
        if (take(',')) zone = quoted('\'');
        expect(')');
        return make_datetime64(scale, std::move(zone));
    }
    TypePtr time64() {
        int scale = 3;
        if (take('(')) {
            scale = small_number();
            expect(')');
        }
        return make_time64(scale);
    }
    TypePtr decimal(const std::string& name) {
        const int fixed = name == "Decimal32"    ? 9
                          : name == "Decimal64"  ? 18
                          : name == "Decimal128" ? 38
                          : name == "Decimal256" ? 76
                                                 : 0;
        if (!fixed && name != "Decimal") return nullptr;
        if (!take('(')) {
            if (fixed)
                fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "{} data type takes one argument, its scale", name);
            return make_decimal(10, 0);
        }
        const int first = small_number();
        int second = 0;
        if (!fixed && take(',')) second = small_number();
        expect(')');
        return fixed ? make_decimal(fixed, first) : make_decimal(first, second);
    }
    TypePtr fixed_string() {
        if (!take('('))
            fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                 "FixedString data type takes one argument, its size in bytes");
        const int64_t length = number();
        expect(')');
        if (length <= 0) fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "FixedString's size must be positive");
        return make_fixed_string(static_cast<size_t>(length));
    }
    TypePtr enumeration(const std::string& name) {
        expect('(');
        std::vector<std::pair<std::string, int16_t>> values;
        bool wide = name == "Enum16";
        int64_t next = 1;
        do {
            std::string label = quoted('\'');
            if (take('=')) next = number();
            if (next < INT16_MIN || next > INT16_MAX || (name == "Enum8" && (next < INT8_MIN || next > INT8_MAX)))
                fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "Value {} of '{}' is out of range of {}", next, label, name);
            if (name == "Enum" && (next < INT8_MIN || next > INT8_MAX)) wide = true;
            values.emplace_back(std::move(label), static_cast<int16_t>(next++));
        } while (take(','));
        expect(')');
        return make_enum(wide, std::move(values));
    }
    TypePtr tuple(bool nested, int depth) {
        std::vector<TypePtr> elements;
        std::vector<std::string> names;
        expect('(');
        if (!peek(')')) {
            do {
                const size_t before = at_;
                std::string element_name = word();
                skip_space();
                const bool named =
                    at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '`') && names.size() == elements.size();
                if (named) {
                    names.push_back(std::move(element_name));
                } else {
                    at_ = before;
                }
                elements.push_back(parse(depth + 1));
            } while (take(','));
        }
        expect(')');
        if (!names.empty() && names.size() != elements.size())
            fail(ErrorCode::BAD_ARGUMENTS, "Names are given for some elements of Tuple and not for all");
        TypePtr made = make_tuple_type(std::move(elements), std::move(names));
        return nested ? make_array(made) : made;
    }

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace

TypePtr parse_type_name(std::string_view text) { return TypeParser(text).whole(); }

}  // namespace firn::functions
