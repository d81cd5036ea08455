#include "firn/types/data_type.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "firn/base/error.h"

namespace firn {

namespace {

struct SimpleType {
    std::string_view name;
    Physical physical;
};

// In the order of TypeId.
constexpr SimpleType kSimpleTypes[] = {{"Nothing", Physical::None},     {"Bool", Physical::UInt8},
                                       {"UInt8", Physical::UInt8},      {"UInt16", Physical::UInt16},
                                       {"UInt32", Physical::UInt32},    {"UInt64", Physical::UInt64},
                                       {"UInt128", Physical::UInt128},  {"UInt256", Physical::UInt256},
                                       {"Int8", Physical::Int8},        {"Int16", Physical::Int16},
                                       {"Int32", Physical::Int32},      {"Int64", Physical::Int64},
                                       {"Int128", Physical::Int128},    {"Int256", Physical::Int256},
                                       {"Float32", Physical::Float32},  {"Float64", Physical::Float64},
                                       {"Decimal", Physical::Int64},    {"Date", Physical::UInt16},
                                       {"Date32", Physical::Int32},     {"DateTime", Physical::UInt32},
                                       {"DateTime64", Physical::Int64}, {"Time", Physical::Int32},
                                       {"Time64", Physical::Int64},     {"Interval", Physical::Int64},
                                       {"String", Physical::Str},       {"FixedString", Physical::Str},
                                       {"UUID", Physical::UInt128},     {"IPv4", Physical::UInt32},
                                       {"IPv6", Physical::UInt128},     {"Enum8", Physical::Int8},
                                       {"Enum16", Physical::Int16},     {"Array", Physical::Array},
                                       {"Map", Physical::Array},        {"Tuple", Physical::Tuple},
                                       {"Nullable", Physical::None},    {"LowCardinality", Physical::None},
                                       {"Function", Physical::None},    {"AggregateFunction", Physical::Str},
                                       {"Dynamic", Physical::None},     {"JSON", Physical::None},
                                       {"Variant", Physical::None}};

std::string quoted(std::string_view text, char quote) {
    std::string out(1, quote);
    for (char c : text) {
        if (c == quote || c == '\\') out.push_back('\\');
        if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else
            out.push_back(c);
    }
    out.push_back(quote);
    return out;
}

bool plain_identifier(std::string_view name) {
    if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_')) return false;
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

std::string join_names(const std::vector<TypePtr>& types) {
    std::string out;
    for (const auto& type : types) {
        if (!out.empty()) out += ", ";
        out += type->name();
    }
    return out;
}

}  // namespace

struct TypeMaker {
    static std::shared_ptr<DataType> make(TypeId id) {
        std::shared_ptr<DataType> type(new DataType());
        type->id_ = id;
        type->physical_ = kSimpleTypes[static_cast<size_t>(id)].physical;
        type->name_ = kSimpleTypes[static_cast<size_t>(id)].name;
        return type;
    }
    static TypePtr decimal(int precision, int scale) {
        auto type = make(TypeId::Decimal);
        type->precision_ = precision;
        type->scale_ = scale;
        type->physical_ = precision <= 9    ? Physical::Int32
                          : precision <= 18 ? Physical::Int64
                          : precision <= 38 ? Physical::Int128
                                            : Physical::Int256;
        type->name_ = fmt::format("Decimal({}, {})", precision, scale);
        return type;
    }
    static TypePtr scaled(TypeId id, int scale, std::string zone) {
        auto type = make(id);
        type->scale_ = scale;
        type->name_ += zone.empty() ? fmt::format("({})", scale) : fmt::format("({}, {})", scale, quoted(zone, '\''));
        type->text_ = std::move(zone);
        return type;
    }
    static TypePtr datetime(std::string zone) {
        auto type = make(TypeId::DateTime);
        type->name_ = "DateTime(" + quoted(zone, '\'') + ")";
        type->text_ = std::move(zone);
        return type;
    }
    static TypePtr fixed_string(size_t length) {
        auto type = make(TypeId::FixedString);
        type->length_ = length;
        type->name_ = fmt::format("FixedString({})", length);
        return type;
    }
    static TypePtr interval(IntervalKind kind) {
        auto type = make(TypeId::Interval);
        type->interval_kind_ = kind;
        type->name_ += interval_name(kind);
        return type;
    }
    static TypePtr enumeration(bool wide, std::vector<std::pair<std::string, int16_t>> values) {
        auto type = make(wide ? TypeId::Enum16 : TypeId::Enum8);
        std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        type->name_ += "(";
        for (size_t i = 0; i < values.size(); ++i)
            type->name_ += fmt::format("{}{} = {}", i ? ", " : "", quoted(values[i].first, '\''), values[i].second);
        type->name_ += ")";
        type->enum_values_ = std::move(values);
        return type;
    }
    static TypePtr wrap(TypeId id, std::vector<TypePtr> children, std::vector<std::string> names = {}) {
        auto type = make(id);
        if (id == TypeId::Nullable || id == TypeId::LowCardinality) {
            type->physical_ = children[0]->physical();
            type->length_ = children[0]->length();
        }
        if (names.empty()) {
            type->name_ += "(" + join_names(children) + ")";
        } else {
            type->name_ += "(";
            for (size_t i = 0; i < children.size(); ++i)
                type->name_ +=
                    fmt::format("{}{} {}", i ? ", " : "", plain_identifier(names[i]) ? names[i] : quoted(names[i], '`'),
                                children[i]->name());
            type->name_ += ")";
        }
        type->children_ = std::move(children);
        type->names_ = std::move(names);
        return type;
    }
    static TypePtr function(std::vector<TypePtr> arguments, TypePtr result) {
        auto type = make(TypeId::Function);
        type->name_ = "Function((" + join_names(arguments) + ") -> " + result->name() + ")";
        type->children_ = std::move(arguments);
        type->children_.push_back(std::move(result));
        return type;
    }
    static TypePtr aggregate_state(std::string text, std::vector<TypePtr> arguments) {
        auto type = make(TypeId::AggregateFunction);
        type->name_ = "AggregateFunction(" + text + (arguments.empty() ? "" : ", ") + join_names(arguments) + ")";
        type->text_ = std::move(text);
        type->children_ = std::move(arguments);
        return type;
    }
};

size_t DataType::value_size() const noexcept {
    size_t size = physical_ == Physical::Str ? 16 : 0;
    dispatch_fixed(physical_, [&]<typename T>() { size = sizeof(T); });
    return size;
}

TypePtr make_type(TypeId id) {
    constexpr size_t kCount = static_cast<size_t>(TypeId::Variant) + 1;
    static_assert(std::size(kSimpleTypes) == kCount);
    static const auto simple = [] {
        std::array<TypePtr, kCount> types;
        for (size_t i = 0; i < kCount; ++i) types[i] = TypeMaker::make(static_cast<TypeId>(i));
        return types;
    }();
    return simple[static_cast<size_t>(id)];
}

TypePtr make_decimal(int precision, int scale) {
    if (precision < 1 || precision > 76)
        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "Wrong precision: it must be between 1 and 76, got {}", precision);
    if (scale < 0 || scale > precision)
        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "The scale of Decimal({}, {}) must be between 0 and its precision",
             precision, scale);
    return TypeMaker::decimal(precision, scale);
}

TypePtr make_datetime(std::string zone) {
    return zone.empty() ? make_type(TypeId::DateTime) : TypeMaker::datetime(std::move(zone));
}

namespace {
void check_tick_scale(int scale) {
    if (scale < 0 || scale > 9)
        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "Scale {} is out of bounds: it must be between 0 and 9", scale);
}
}  // namespace

TypePtr make_datetime64(int scale, std::string zone) {
    check_tick_scale(scale);
    return TypeMaker::scaled(TypeId::DateTime64, scale, std::move(zone));
}

TypePtr make_time64(int scale) {
    check_tick_scale(scale);
    return TypeMaker::scaled(TypeId::Time64, scale, {});
}

TypePtr make_fixed_string(size_t length) {
    if (length == 0 || length > 0xFFFFFF)
        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "FixedString size must be between 1 and 16777215, got {}", length);
    return TypeMaker::fixed_string(length);
}

TypePtr make_interval(IntervalKind kind) { return TypeMaker::interval(kind); }

TypePtr make_enum(bool wide, std::vector<std::pair<std::string, int16_t>> values) {
    return TypeMaker::enumeration(wide, std::move(values));
}

TypePtr make_array(TypePtr element) { return TypeMaker::wrap(TypeId::Array, {std::move(element)}); }

TypePtr make_map(TypePtr key, TypePtr value) {
    return TypeMaker::wrap(TypeId::Map, {std::move(key), std::move(value)});
}

TypePtr make_tuple_type(std::vector<TypePtr> elements, std::vector<std::string> names) {
    return TypeMaker::wrap(TypeId::Tuple, std::move(elements), std::move(names));
}

TypePtr make_nullable(TypePtr inner) {
    switch (inner->id()) {
        case TypeId::Nullable:
        case TypeId::Array:
        case TypeId::Map:
        case TypeId::Tuple:
        case TypeId::Function:
        case TypeId::AggregateFunction:
            return inner;
        case TypeId::LowCardinality:
            return make_low_cardinality(make_nullable(inner->child()));
        default:
            return TypeMaker::wrap(TypeId::Nullable, {std::move(inner)});
    }
}

TypePtr make_nullable_checked(TypePtr inner) {
    switch (inner->id()) {
        case TypeId::Nullable:
        case TypeId::Array:
        case TypeId::Map:
        case TypeId::Tuple:
        case TypeId::LowCardinality:
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Nested type {} cannot be inside Nullable type", inner->name());
        default:
            return make_nullable(std::move(inner));
    }
}

TypePtr make_low_cardinality(TypePtr inner) {
    if (inner->is_low_cardinality()) return inner;
    const TypeId id = unwrap(inner)->id();
    const bool fits = is_integer(id) || is_float(id) || is_string_like(id) || id == TypeId::Bool ||
                      id == TypeId::Date || id == TypeId::Date32 || id == TypeId::DateTime || id == TypeId::UUID ||
                      id == TypeId::IPv4 || id == TypeId::IPv6 || id == TypeId::Nothing;
    if (!fits)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
             "DataTypeLowCardinality is supported only for numbers, strings, Date or DateTime, but got {}",
             inner->name());
    return TypeMaker::wrap(TypeId::LowCardinality, {std::move(inner)});
}

TypePtr make_function(std::vector<TypePtr> arguments, TypePtr result) {
    return TypeMaker::function(std::move(arguments), std::move(result));
}

TypePtr make_aggregate_state(std::string text, std::vector<TypePtr> arguments) {
    return TypeMaker::aggregate_state(std::move(text), std::move(arguments));
}

TypePtr strip_low_cardinality(const TypePtr& type) { return type->is_low_cardinality() ? type->child() : type; }

TypePtr strip_nullable(const TypePtr& type) {
    if (type->is_nullable()) return type->child();
    if (type->is_low_cardinality() && type->child()->is_nullable()) return make_low_cardinality(type->child()->child());
    return type;
}

TypePtr unwrap(const TypePtr& type) { return strip_nullable(strip_low_cardinality(type)); }

bool accepts_null(const DataType& type) {
    return type.is_nullable() || (type.is_low_cardinality() && type.child()->is_nullable());
}

bool same_type(const DataType& a, const DataType& b) { return a.id() == b.id() && a.name() == b.name(); }

bool is_unsigned_integer(TypeId id) { return id >= TypeId::UInt8 && id <= TypeId::UInt256; }
bool is_signed_integer(TypeId id) { return id >= TypeId::Int8 && id <= TypeId::Int256; }
bool is_integer(TypeId id) { return is_unsigned_integer(id) || is_signed_integer(id); }
bool is_float(TypeId id) { return id == TypeId::Float32 || id == TypeId::Float64; }
bool is_number(TypeId id) { return is_integer(id) || is_float(id) || id == TypeId::Bool || id == TypeId::Decimal; }
bool is_date_or_time(TypeId id) { return id >= TypeId::Date && id <= TypeId::DateTime64; }
bool is_string_like(TypeId id) { return id == TypeId::String || id == TypeId::FixedString; }

int integer_bits(TypeId id) {
    const int step = static_cast<int>(id) - static_cast<int>(is_unsigned_integer(id) ? TypeId::UInt8 : TypeId::Int8);
    return 8 << step;
}

TypePtr integer_type(int bits, bool is_signed) {
    int step = 0;
    while ((8 << step) < bits) ++step;
    return make_type(static_cast<TypeId>(static_cast<int>(is_signed ? TypeId::Int8 : TypeId::UInt8) + step));
}

std::string_view interval_name(IntervalKind kind) {
    constexpr std::string_view names[] = {"Nanosecond", "Microsecond", "Millisecond", "Second",  "Minute", "Hour",
                                          "Day",        "Week",        "Month",       "Quarter", "Year"};
    return names[static_cast<size_t>(kind)];
}

Int128 power_of_ten(int n) {
    static const auto powers = [] {
        std::array<Int128, 39> table{};
        table[0] = 1;
        for (size_t i = 1; i < table.size(); ++i) table[i] = table[i - 1] * 10;
        return table;
    }();
    return powers[static_cast<size_t>(n)];
}

const Int256& wide_power_of_ten(int n) {
    static const auto powers = [] {
        std::array<Int256, 77> table{};
        table[0] = Int256(Int128{1});
        for (size_t i = 1; i < table.size(); ++i) table[i] = table[i - 1] * Int256(Int128{10});
        return table;
    }();
    return powers[static_cast<size_t>(n)];
}

namespace {

void append_pretty(std::string& out, const DataType& type, size_t indent) {
    switch (type.id()) {
        case TypeId::Array:
        case TypeId::Map:
        case TypeId::Nullable:
        case TypeId::LowCardinality:
        case TypeId::Tuple:
            break;
        default:
            out += type.name();
            return;
    }
    const bool named = type.id() == TypeId::Tuple && !type.names().empty();
    out += type.name().substr(0, type.name().find('('));
    out.push_back('(');
    for (size_t i = 0; i < type.children().size(); ++i) {
        if (named) {
            out += i ? ",\n" : "\n";
            out.append(4 * (indent + 1), ' ');
            out += plain_identifier(type.names()[i]) ? type.names()[i] : quoted(type.names()[i], '`');
            out.push_back(' ');
        } else if (i) {
            out += ", ";
        }
        append_pretty(out, *type.child(i), indent + (named ? 1 : 0));
    }
    out.push_back(')');
}

}  // namespace

std::string pretty_name(const DataType& type) {
    std::string out;
    append_pretty(out, type, 0);
    return out;
}

}  // namespace firn
