// Whole JSON texts: isValidJSON, JSONArrayLength, JSONMergePatch, toJSONString.
#include <cmath>

#include "firn/base/escape.h"
#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/json/document.h"
#include "firn/functions/registration.h"
#include "firn/types/value_text.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace dom = simdjson::dom;

namespace json {
namespace {

/// As the JSON formats print it, with "/" escaped; NaN and infinities are null.
void append_value_as_json(std::string& out, const Vector& vector, size_t row, const TimeZone& zone) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    if (flat.nulls() && flat.nulls()[at]) {
        out.append("null");
        return;
    }
    const TypePtr type = unwrap(flat.type());
    const TypeId id = type->id();
    const auto list = [&](char open, char close, size_t begin, size_t end, const auto& item) {
        out.push_back(open);
        for (size_t i = begin; i < end; ++i) {
            if (i > begin) out.push_back(',');
            item(i);
        }
        out.push_back(close);
    };
    const auto key = [&](const Vector& keys, size_t i) {
        std::string text;
        append_value_as_json(text, keys, i, zone);
        out.append(text.starts_with('"') ? text : '"' + text + '"');
        out.push_back(':');
    };
    switch (type->physical()) {
        case Physical::None:
            out.append("null");
            return;
        case Physical::Str:
            return append_json_string(out, flat.values<StringRef>()[at].view(), JsonSlash::Escaped);
        case Physical::Array: {
            const auto begin = static_cast<size_t>(flat.offsets()[at]),
                       end = static_cast<size_t>(flat.offsets()[at + 1]);
            if (id == TypeId::Map) {
                const VectorPtr entries = flatten(flat.child());
                return list('{', '}', begin, end, [&](size_t i) {
                    key(*entries->child(0), i);
                    append_value_as_json(out, *entries->child(1), i, zone);
                });
            }
            return list('[', ']', begin, end, [&](size_t i) { append_value_as_json(out, *flat.child(), i, zone); });
        }
        case Physical::Tuple: {
            const bool named = !type->names().empty();
            return list(named ? '{' : '[', named ? '}' : ']', 0, flat.children().size(), [&](size_t i) {
                if (named) {
                    append_json_string(out, type->names()[i], JsonSlash::Escaped);
                    out.push_back(':');
                }
                append_value_as_json(out, *flat.child(i), at, zone);
            });
        }
        default:
            break;
    }
    std::string text;
    append_value(text, *type, flat.values_buffer()->data() + at * type->value_size(), zone);
    const bool special = is_float(id) && (text.ends_with("nan") || text.ends_with("inf"));
    if (special)
        out.append("null");
    else if (is_number(id) || id == TypeId::Interval)
        out.append(text);
    else
        append_json_string(out, text, JsonSlash::Escaped);
}

std::string merged(const Element& left, const Element& right) {
    dom::object a, b;
    std::string out;
    if (left.get_object().get(a) != simdjson::SUCCESS || right.get_object().get(b) != simdjson::SUCCESS) {
        append_element(out, right);
        return out;
    }
    const auto member = [&](std::string_view key, const std::string& value) {
        out.push_back(out.empty() ? '{' : ',');
        append_json_string(out, key);
        out.push_back(':');
        out.append(value);
    };
    for (const dom::key_value_pair old : a) {
        Element changed;
        std::string value;
        if (b.at_key(old.key).get(changed) == simdjson::SUCCESS)
            value = merged(old.value, changed);
        else
            append_element(value, old.value);
        member(old.key, value);
    }
    for (const dom::key_value_pair added : b) {
        Element ignored;
        if (a.at_key(added.key).get(ignored) == simdjson::SUCCESS) continue;
        std::string value;
        append_element(value, added.value);
        member(added.key, value);
    }
    return out.empty() ? "{}" : out + '}';
}

void parse_object(Document& document, std::string_view text, Element& root) {
    if (!document.parse(text, root))
        fail(ErrorCode::BAD_ARGUMENTS, "JSONMergePatch: '{}' is no JSON", text.substr(0, 100));
    if (!root.is_object())
        fail(ErrorCode::BAD_ARGUMENTS, "JSONMergePatch: '{}' is no JSON object", text.substr(0, 100));
}

Overload resolve_merge(ArgumentList arguments, const FunctionContext&) {
    for (size_t i = 0; i < arguments.size(); ++i)
        if (arguments[i].type->id() != TypeId::String) fail_argument("JSONMergePatch", *arguments[i].type, i);
    const TypePtr type = make_type(TypeId::String);
    return {type, [=](const KernelArguments& call) {
                std::vector<Reader<StringRef>> texts(call.vectors.begin(), call.vectors.end());
                Document left, right;
                StringOutput out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    Element a, b;
                    parse_object(left, texts[0][i].view(), a);
                    std::string sum = merged(a, a);
                    for (size_t n = 1; n < texts.size(); ++n) {
                        parse_object(left, sum, a);
                        parse_object(right, texts[n][i].view(), b);
                        sum = merged(a, b);
                    }
                    out.set(i, sum);
                }
                return out.finish(type);
            }};
}

Overload resolve_array_length(ArgumentList arguments, const FunctionContext&) {
    require_string(arguments, 0, "JSONArrayLength");
    const TypePtr type = make_nullable(make_type(TypeId::UInt64));
    return {type, [=](const KernelArguments& call) {
                const Reader<StringRef> texts(call[0]);
                Document document;
                VectorBuilder out(type);
                for (size_t i = 0; i < call.rows; ++i) {
                    Element root;
                    if (document.parse(texts[i].view(), root) && root.is_array())
                        out.append<uint64_t>(root.get_array().value_unsafe().size());
                    else
                        out.append_null();
                }
                return out.finish();
            }};
}

Overload resolve_is_valid(ArgumentList arguments, const FunctionContext&) {
    if (arguments[0].type->id() != TypeId::String) fail_argument("isValidJSON", *arguments[0].type, 0);
    const TypePtr type = make_type(TypeId::UInt8);
    return {type, [=](const KernelArguments& call) {
                Document document;
                return map_unary<StringRef, uint8_t>(call[0], call.rows, type, [&](const StringRef& text) {
                    Element root;
                    return document.parse(text.view(), root);
                });
            }};
}

Overload resolve_to_json(ArgumentList, const FunctionContext& context) {
    const TypePtr type = make_type(TypeId::String);
    const TimeZone* zone = &TimeZone::find(context.time_zone);
    return {type, [=](const KernelArguments& call) {
                StringOutput out(call.rows);
                std::string text;
                for (size_t i = 0; i < call.rows; ++i) {
                    text.clear();
                    append_value_as_json(text, *call[0], i, *zone);
                    out.set(i, text);
                }
                return out.finish(type);
            }};
}

}  // namespace
}  // namespace json

void register_json_text_functions(FunctionRegistry& registry) {
    declare(registry, {"isValidJSON"}, 1, 1, json::resolve_is_valid);
    declare(registry, {"JSONArrayLength", {"JSON_ARRAY_LENGTH"}}, 1, 1, json::resolve_array_length);
    declare(registry, {"JSONMergePatch", {"jsonMergePatch"}}, 1, SIZE_MAX, json::resolve_merge);
    declare(registry, {"toJSONString"}, 1, 1, json::resolve_to_json);
}

}  // namespace firn::functions
