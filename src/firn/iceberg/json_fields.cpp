#include "firn/iceberg/json_fields.h"

namespace firn::iceberg {

namespace dom = simdjson::dom;

JsonDocument::JsonDocument(std::string_view text, std::string_view where) {
    auto error = parser_.parse(text.data(), text.size()).get(root_);
    if (error != simdjson::SUCCESS) {
        ErrorCode code = error == simdjson::DEPTH_ERROR ? ErrorCode::TOO_DEEP_RECURSION : ErrorCode::INCORRECT_DATA;
        fail(code, "{} is not JSON that can be read: {}", where, simdjson::error_message(error));
    }
}

JsonFields::JsonFields(dom::element element, std::string where) : where_(std::move(where)) {
    if (element.get_object().get(object_) != simdjson::SUCCESS) {
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{} is no JSON object", where_);
    }
}

void JsonFields::bad(std::string_view name, std::string_view what) const {
    fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{}: field \"{}\" {}", where_, name, what);
}

std::optional<dom::element> JsonFields::find(std::string_view name) const {
    dom::element element;
    if (object_.at_key(name).get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
    return element;
}

std::optional<int64_t> JsonFields::long_or_nothing(std::string_view name) const {
    auto element = find(name);
    if (!element) return std::nullopt;
    int64_t value;
    if (element->get_int64().get(value) != simdjson::SUCCESS) bad(name, "is no 64-bit integer");
    return value;
}

std::optional<int32_t> JsonFields::int_or_nothing(std::string_view name) const {
    auto value = long_or_nothing(name);
    if (!value) return std::nullopt;
    if (*value < INT32_MIN || *value > INT32_MAX) bad(name, "is no 32-bit integer");
    return static_cast<int32_t>(*value);
}

std::optional<bool> JsonFields::bool_or_nothing(std::string_view name) const {
    auto element = find(name);
    if (!element) return std::nullopt;
    bool value;
    if (element->get_bool().get(value) != simdjson::SUCCESS) bad(name, "is neither true nor false");
    return value;
}

std::optional<std::string_view> JsonFields::text_or_nothing(std::string_view name) const {
    auto element = find(name);
    if (!element) return std::nullopt;
    std::string_view value;
    if (element->get_string().get(value) != simdjson::SUCCESS) bad(name, "is no text");
    return value;
}

std::optional<dom::array> JsonFields::array_or_nothing(std::string_view name) const {
    auto element = find(name);
    if (!element) return std::nullopt;
    dom::array value;
    if (element->get_array().get(value) != simdjson::SUCCESS) bad(name, "is no array");
    return value;
}

std::optional<JsonFields> JsonFields::object_or_nothing(std::string_view name) const {
    auto element = find(name);
    if (!element) return std::nullopt;
    dom::object value;
    if (element->get_object().get(value) != simdjson::SUCCESS) bad(name, "is no object");
    return JsonFields(value, field_place(name));
}

std::map<std::string, std::string> JsonFields::text_map(std::string_view name) const {
    std::map<std::string, std::string> out;
    auto fields = object_or_nothing(name);
    if (!fields) return out;
    for (auto [key, value] : fields->object()) {
        std::string_view text;
        if (value.get_string().get(text) == simdjson::SUCCESS) {
            out.insert_or_assign(std::string(key), std::string(text));
        } else if (!value.is_object() && !value.is_array() && !value.is_null()) {
            out.insert_or_assign(std::string(key), simdjson::minify(value));
        }
    }
    return out;
}

std::vector<int32_t> JsonFields::int_list(std::string_view name) const {
    std::vector<int32_t> out;
    auto items = array_or_nothing(name);
    if (!items) return out;
    for (dom::element item : *items) {
        int64_t value;
        if (item.get_int64().get(value) != simdjson::SUCCESS || value < INT32_MIN || value > INT32_MAX) {
            bad(name, "holds something that is no 32-bit integer");
        }
        out.push_back(static_cast<int32_t>(value));
    }
    return out;
}

}  // namespace firn::iceberg
