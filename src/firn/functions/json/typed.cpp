#include "firn/functions/json/typed.h"

#include <cmath>

#include "firn/base/error.h"
#include "firn/functions/cast.h"
#include "firn/functions/text_parse.h"
#include "firn/types/number.h"
#include "firn/types/value_parse.h"

namespace firn::functions::json {

namespace dom = simdjson::dom;

namespace {

/// A number as T where it lies in its range; a fraction is cut off.
template <typename T, typename From>
bool to_integer(From value, T& out) {
    if constexpr (kIsFloat<From>) value = std::trunc(value);
    if (!number_fits<T>(value)) return false;
    out = number_cast<T>(value);
    return true;
}

template <typename T>
bool integer_of_text(const Element& element, const DataType& type, const ExtractRule& rule, T& out) {
    const std::string_view text = text_of(element);
    if (parse_value(text, type, *rule.zone, ParseMode::Strict, reinterpret_cast<char*>(&out)) == kParsed) return true;
    double number = 0;
    return !text.empty() && parse_float(text, number) == kParsed && to_integer<T>(number, out);
}

template <typename T>
bool append_integer(const Element& element, const DataType& type, VectorBuilder& out, const ExtractRule& rule) {
    T value{};
    bool good = false;
    if (element.is_string())
        good = integer_of_text(element, type, rule, value);
    else if (element.type() == dom::element_type::DOUBLE)  // is_double() holds for integers too
        good = to_integer<T>(element.get_double().value_unsafe(), value);
    else if (element.is_bool() && rule.bool_as_number)
        good = to_integer<T>(uint8_t{element.get_bool().value_unsafe()}, value);
    else if (element.type() == dom::element_type::INT64)
        good = to_integer<T>(element.get_int64().value_unsafe(), value);
    else if (element.type() == dom::element_type::UINT64)
        good = to_integer<T>(element.get_uint64().value_unsafe(), value);
    if (good) out.append<T>(value);
    return good;
}

bool number_of(const Element& element, double& out) {
    switch (element.type()) {
        case dom::element_type::INT64:
            out = static_cast<double>(element.get_int64().value_unsafe());
            return true;
        case dom::element_type::UINT64:
            out = static_cast<double>(element.get_uint64().value_unsafe());
            return true;
        case dom::element_type::DOUBLE:
            out = element.get_double().value_unsafe();
            return true;
        default:
            return false;
    }
}

bool append_float_value(const Element& element, const DataType& type, VectorBuilder& out) {
    double value = 0;
    if (!number_of(element, value)) {
        if (!element.is_string() || text_of(element).empty()) return false;
        if (parse_float(text_of(element), value) != kParsed) return false;
    }
    if (type.id() == TypeId::Float32)
        out.append<float>(static_cast<float>(value));
    else
        out.append<double>(value);
    return true;
}

bool append_bool(const Element& element, VectorBuilder& out) {
    double number = 0;
    bool value = false;
    if (element.is_bool())
        value = element.get_bool().value_unsafe();
    else if (number_of(element, number))
        value = number != 0;
    else
        return false;
    out.append<uint8_t>(value);
    return true;
}

bool append_text_value(const Element& element, const DataType& type, VectorBuilder& out) {
    if (element.is_null()) return false;
    std::string text;
    if (element.is_string())
        text = text_of(element);
    else
        append_element(text, element);
    if (type.id() == TypeId::FixedString) {
        if (text.size() > type.length()) return false;
        text.resize(type.length(), '\0');
    }
    out.append_string(text);
    return true;
}

/// Numbers become decimals, times and enums as CAST makes them.
bool append_number_as(const Element& element, const TypePtr& type, VectorBuilder& out, const ExtractRule& rule) {
    VectorPtr number;
    if (element.is_int64())
        number = make_value<int64_t>(make_type(TypeId::Int64), element.get_int64().value_unsafe());
    else if (element.is_uint64())
        number = make_value<uint64_t>(make_type(TypeId::UInt64), element.get_uint64().value_unsafe());
    else if (element.is_double() && type->id() != TypeId::DateTime)
        number = make_value<double>(make_type(TypeId::Float64), element.get_double().value_unsafe());
    else
        return false;
    FunctionContext context;
    context.time_zone = rule.zone->name();
    out.append_from(*make_cast(number->type(), type, context)(number), 0);
    return true;
}

bool append_enum(const Element& element, const DataType& type, VectorBuilder& out) {
    int64_t wanted = 0;
    const bool by_number = element.get_int64().get(wanted) == simdjson::SUCCESS;
    if (!by_number && !element.is_string()) return false;
    for (const auto& [name, value] : type.enum_values()) {
        if (by_number ? value != wanted : name != text_of(element)) continue;
        if (type.physical() == Physical::Int8)
            out.append<int8_t>(static_cast<int8_t>(value));
        else
            out.append<int16_t>(value);
        return true;
    }
    return false;
}

bool append_scalar(const Element& element, const TypePtr& type, VectorBuilder& out, const ExtractRule& rule) {
    const TypeId id = type->id();
    if (id == TypeId::Bool) return append_bool(element, out);
    if (is_float(id)) return append_float_value(element, *type, out);
    if (is_string_like(id)) return append_text_value(element, *type, out);
    if (is_integer(id)) {
        bool good = false;
        dispatch_fixed(type->physical(), [&]<typename T>() {
            if constexpr (!kIsFloat<T>) good = append_integer<T>(element, *type, out, rule);
        });
        return good;
    }
    if (id == TypeId::Enum8 || id == TypeId::Enum16) return append_enum(element, *type, out);
    if (element.is_string()) return parse_plain(text_of(element), out, *rule.zone) == kParsed;
    if (id == TypeId::Decimal || id == TypeId::DateTime || id == TypeId::DateTime64)
        return append_number_as(element, type, out, rule);
    return false;
}

void append_or_default(const Element& element, VectorBuilder& out, const ExtractRule& rule) {
    if (!append_typed(element, out, rule)) out.append_default();
}

bool append_tuple(const Element& element, const DataType& type, VectorBuilder& out, const ExtractRule& rule) {
    const size_t size = type.children().size();
    if (element.is_object() && !type.names().empty()) {
        const dom::object object = element.get_object().value_unsafe();
        for (size_t i = 0; i < size; ++i) {
            Element member;
            if (object.at_key(type.names()[i]).get(member) == simdjson::SUCCESS)
                append_or_default(member, out.element(i), rule);
            else
                out.element(i).append_default();
        }
    } else if (is_container(element)) {
        size_t i = 0;
        if (element.is_array()) {
            for (const Element item : dom::array(element.get_array().value_unsafe()))
                if (i < size) append_or_default(item, out.element(i++), rule);
        } else {
            for (const dom::key_value_pair member : dom::object(element.get_object().value_unsafe()))
                if (i < size) append_or_default(member.value, out.element(i++), rule);
        }
        for (; i < size; ++i) out.element(i).append_default();
    } else {
        return false;
    }
    out.end_tuple();
    return true;
}

}  // namespace

void check_extractable(std::string_view function, const DataType& type) {
    const TypeId id = type.id();
    if (id == TypeId::Map && type.child(0)->physical() != Physical::Str)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "{} does not support the type {}: a map's key must be a String",
             function, type.name());
    if (id == TypeId::Interval || id == TypeId::Nothing || id == TypeId::Function)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "{} does not support the type {}", function, type.name());
    for (const auto& child : type.children()) check_extractable(function, *child);
}

bool append_typed(const Element& element, VectorBuilder& out, const ExtractRule& rule) {
    if (accepts_null(*out.type()) && element.is_null()) {
        out.append_null();
        return true;
    }
    const TypePtr type = unwrap(out.type());
    switch (type->id()) {
        case TypeId::Array:
            if (!element.is_array()) return false;
            for (const Element item : dom::array(element.get_array().value_unsafe()))
                append_or_default(item, out.element(), rule);
            out.end_array();
            return true;
        case TypeId::Map:
            if (!element.is_object()) return false;
            for (const dom::key_value_pair member : dom::object(element.get_object().value_unsafe())) {
                out.element().element(0).append_string(member.key);
                append_or_default(member.value, out.element().element(1), rule);
                out.element().end_tuple();
            }
            out.end_array();
            return true;
        case TypeId::Tuple:
            return append_tuple(element, *type, out, rule);
        default:
            return append_scalar(element, type, out, rule);
    }
}

}  // namespace firn::functions::json
