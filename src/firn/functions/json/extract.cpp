// JSONExtract and its kin: what stands at a path of keys and positions in a JSON text.
#include <algorithm>
#include <functional>

#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/json/typed.h"
#include "firn/functions/registration.h"

namespace firn::functions {

namespace dom = simdjson::dom;

namespace json {
namespace {

/// What a row's path leads to.
struct Found {
    Element element;
    std::string_view key;  // of the last step, where that was into an object
};

/// Appends one row, or nothing and gives false: then it becomes a default.
using Extract = std::function<bool(const Found&, VectorBuilder& out)>;

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool step_to_key(Found& found, std::string_view key, bool any_case) {
    dom::object object;
    if (found.element.get_object().get(object) != simdjson::SUCCESS) return false;
    for (const dom::key_value_pair member : object) {
        if (any_case ? !equal_ignoring_case(member.key, key) : member.key != key) continue;
        found = {member.value, member.key};
        return true;
    }
    return false;
}

/// Counted from 1, or from the end when negative; members of objects too.
bool step_to_place(Found& found, int64_t place) {
    const bool is_object = found.element.is_object();
    if (!is_container(found.element)) return false;
    const auto size = static_cast<int64_t>(is_object ? found.element.get_object().value_unsafe().size()
                                                     : found.element.get_array().value_unsafe().size());
    int64_t left = place > 0 ? place - 1 : size + place;
    if (place == 0 || left < 0 || left >= size) return false;
    if (is_object) {
        for (const dom::key_value_pair member : dom::object(found.element.get_object().value_unsafe()))
            if (left-- == 0) {
                found = {member.value, member.key};
                return true;
            }
    } else {
        for (const Element item : dom::array(found.element.get_array().value_unsafe()))
            if (left-- == 0) {
                found = {item, {}};
                return true;
            }
    }
    return false;
}

/// The path arguments of a call, [1, 1 + steps).
class Path {
public:
    Path(const KernelArguments& call, size_t steps, bool any_case) : any_case_(any_case) {
        for (size_t i = 1; i <= steps; ++i) {
            const bool is_text = call[i]->type()->physical() == Physical::Str;
            vectors_.push_back(is_text ? call[i] : as_int64(call[i]));
        }
    }
    bool follow(Found& found, size_t row) const {
        for (const auto& vector : vectors_) {
            const size_t at = vector->is_constant() ? 0 : row;
            const Vector& flat = vector->flat_base();
            const bool good = flat.type()->physical() == Physical::Str
                                  ? step_to_key(found, flat.values<StringRef>()[at].view(), any_case_)
                                  : step_to_place(found, flat.values<int64_t>()[at]);
            if (!good) return false;
        }
        return true;
    }

private:
    std::vector<VectorPtr> vectors_;
    bool any_case_;
};

/// The first argument and `steps` path arguments are checked.
void check_arguments(ArgumentList arguments, size_t steps, const std::string& name) {
    if (arguments[0].type->id() != TypeId::String)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The first argument of function {} has to be a JSON text, not {}",
             name, arguments[0].type->name());
    for (size_t i = 1; i <= steps; ++i)
        if (!is_string_like(arguments[i].type->id()) && !is_integer(arguments[i].type->id()))
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                 "Argument {} of function {} has to be a key (String) or a position (integer), not {}", i + 1, name,
                 arguments[i].type->name());
}

Overload make_overload(TypePtr type, size_t steps, bool any_case, Extract extract) {
    return {
        type, [=](const KernelArguments& call) {
            const Reader<StringRef> texts(call[0]);
            const Path path(call, steps, any_case);
            Document document;
            VectorBuilder out(type);
            out.reserve(call.rows);
            for (size_t i = 0; i < call.rows; ++i) {
                Found found;
                if (!document.parse(texts[i].view(), found.element) || !path.follow(found, i) || !extract(found, out))
                    out.append_default();
            }
            return out.finish();
        }};
}

struct Kind {
    const char* name;
    TypePtr type;
    Extract extract;
    bool any_case = true;  // there is a …CaseInsensitive too
};

void add(FunctionRegistry& registry, const Kind& kind) {
    for (const bool any_case : {false, true}) {
        if (any_case && !kind.any_case) continue;
        Definition definition;
        definition.name = std::string(kind.name) + (any_case ? "CaseInsensitive" : "");
        definition.min_arguments = 1;
        definition.resolve = [kind, any_case, name = definition.name](ArgumentList arguments, const FunctionContext&) {
            check_arguments(arguments, arguments.size() - 1, name);
            return make_overload(kind.type, arguments.size() - 1, any_case, kind.extract);
        };
        registry.add(std::move(definition));
    }
}

/// The type that the last argument names.
TypePtr wanted_type(ArgumentList arguments, const std::string& name) {
    const auto text = constant_text(arguments.back());
    if (!text)
        fail(ErrorCode::ILLEGAL_COLUMN,
             "The last argument of function {} has to be a constant string that names the type to return", name);
    const TypePtr type = parse_type_name(*text);
    check_extractable(name, *type);
    return type;
}

/// JSONExtract: a value; JSONExtractKeysAndValues: (key, value) of each member.
void add_typed(FunctionRegistry& registry, const char* base, bool of_members) {
    for (const bool any_case : {false, true}) {
        Definition definition;
        definition.name = std::string(base) + (any_case ? "CaseInsensitive" : "");
        definition.min_arguments = 2;
        definition.resolve = [=, name = definition.name](ArgumentList arguments, const FunctionContext& context) {
            check_arguments(arguments, arguments.size() - 2, name);
            const TypePtr type = wanted_type(arguments, name);
            const ExtractRule rule{&TimeZone::find(context.time_zone)};
            if (!of_members)
                return make_overload(type, arguments.size() - 2, any_case, [=](const Found& found, VectorBuilder& out) {
                    return append_typed(found.element, out, rule);
                });
            const TypePtr pairs = make_array(make_tuple_type({make_type(TypeId::String), type}));
            return make_overload(pairs, arguments.size() - 2, any_case, [=](const Found& found, VectorBuilder& out) {
                dom::object object;
                if (found.element.get_object().get(object) != simdjson::SUCCESS) return false;
                for (const dom::key_value_pair member : object) {
                    if (!append_typed(member.value, out.element().element(1), rule)) continue;
                    out.element().element(0).append_string(member.key);
                    out.element().end_tuple();
                }
                out.end_array();
                return true;
            });
        };
        registry.add(std::move(definition));
    }
}

bool extract_number(const Found& found, VectorBuilder& out) {
    return append_typed(found.element, out, ExtractRule{&TimeZone::utc(), false});
}
bool extract_string(const Found& found, VectorBuilder& out) { return append_typed(found.element, out, {}); }

bool extract_bool(const Found& found, VectorBuilder& out) {
    bool truth = false;
    if (found.element.get_bool().get(truth) != simdjson::SUCCESS) {
        int64_t number = 0;
        if (found.element.get_int64().get(number) != simdjson::SUCCESS) return false;
        truth = number != 0;
    }
    out.append<uint8_t>(truth);
    return true;
}

std::string raw(const Element& element) {
    std::string text;
    append_element(text, element);
    return text;
}
bool extract_raw(const Found& found, VectorBuilder& out) {
    out.append_string(raw(found.element));
    return true;
}
bool extract_array_raw(const Found& found, VectorBuilder& out) {
    if (!found.element.is_array()) return false;
    for (const Element item : dom::array(found.element.get_array().value_unsafe()))
        out.element().append_string(raw(item));
    out.end_array();
    return true;
}
bool extract_keys(const Found& found, VectorBuilder& out) {
    if (!found.element.is_object()) return false;
    for (const dom::key_value_pair member : dom::object(found.element.get_object().value_unsafe()))
        out.element().append_string(member.key);
    out.end_array();
    return true;
}
bool extract_members_raw(const Found& found, VectorBuilder& out) {
    if (!found.element.is_object()) return false;
    for (const dom::key_value_pair member : dom::object(found.element.get_object().value_unsafe())) {
        out.element().element(0).append_string(member.key);
        out.element().element(1).append_string(raw(member.value));
        out.element().end_tuple();
    }
    out.end_array();
    return true;
}

bool has(const Found&, VectorBuilder& out) {
    out.append<uint8_t>(1);
    return true;
}
bool key_of(const Found& found, VectorBuilder& out) {
    out.append_string(found.key);
    return true;
}
bool length_of(const Found& found, VectorBuilder& out) {
    if (!is_container(found.element)) return false;
    out.append<uint64_t>(found.element.is_object() ? found.element.get_object().value_unsafe().size()
                                                   : found.element.get_array().value_unsafe().size());
    return true;
}

/// The letters are simdjson's, and ClickHouse's, numbers of the kinds.
TypePtr kinds_type() {
    return make_enum(false, {{"Null", 0},
                             {"String", '"'},
                             {"Array", '['},
                             {"Bool", 'b'},
                             {"Double", 'd'},
                             {"Int64", 'i'},
                             {"UInt64", 'u'},
                             {"Object", '{'}});
}
bool kind_of(const Found& found, VectorBuilder& out) {
    int8_t kind = 0;
    switch (found.element.type()) {
        case dom::element_type::ARRAY:
            kind = '[';
            break;
        case dom::element_type::OBJECT:
            kind = '{';
            break;
        case dom::element_type::INT64:
            kind = 'i';
            break;
        case dom::element_type::UINT64:
            kind = 'u';
            break;
        case dom::element_type::DOUBLE:
            kind = 'd';
            break;
        case dom::element_type::STRING:
            kind = '"';
            break;
        case dom::element_type::BOOL:
            kind = 'b';
            break;
        case dom::element_type::NULL_VALUE:
            break;
    }
    out.append<int8_t>(kind);
    return true;
}

}  // namespace
}  // namespace json

void register_json_extract_functions(FunctionRegistry& registry) {
    using namespace json;
    const TypePtr text = make_type(TypeId::String), flag = make_type(TypeId::UInt8);
    const TypePtr texts = make_array(text);
    add(registry, {"JSONExtractInt", make_type(TypeId::Int64), extract_number});
    add(registry, {"JSONExtractUInt", make_type(TypeId::UInt64), extract_number});
    add(registry, {"JSONExtractFloat", make_type(TypeId::Float64), extract_number});
    add(registry, {"JSONExtractString", text, extract_string});
    add(registry, {"JSONExtractRaw", text, extract_raw});
    add(registry, {"JSONExtractArrayRaw", texts, extract_array_raw});
    add(registry, {"JSONExtractKeys", texts, extract_keys});
    add(registry, {"JSONExtractKeysAndValuesRaw", make_array(make_tuple_type({text, text})), extract_members_raw});
    add(registry, {"JSONExtractBool", flag, extract_bool});
    add(registry, {"JSONHas", flag, has, false});
    add(registry, {"JSONKey", text, key_of, false});
    add(registry, {"JSONLength", make_type(TypeId::UInt64), length_of, false});
    add(registry, {"JSONType", kinds_type(), kind_of, false});
    add_typed(registry, "JSONExtract", false);
    add_typed(registry, "JSONExtractKeysAndValues", true);
}

}  // namespace firn::functions
