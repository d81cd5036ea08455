#include "firn/functions/json/document.h"

#include "firn/base/escape.h"
#include "firn/types/value_text.h"

namespace firn::functions::json {

namespace dom = simdjson::dom;

void append_element(std::string& out, const Element& element) {
    switch (element.type()) {
        case dom::element_type::ARRAY: {
            char before = '[';
            for (const Element item : dom::array(element.get_array().value_unsafe())) {
                out.push_back(before);
                append_element(out, item);
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
            return;
        }
        case dom::element_type::OBJECT: {
            char before = '{';
            for (const dom::key_value_pair member : dom::object(element.get_object().value_unsafe())) {
                out.push_back(before);
                append_json_string(out, member.key);
                out.push_back(':');
                append_element(out, member.value);
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
            return;
        }
        case dom::element_type::INT64:
            return append_int(out, element.get_int64().value_unsafe());
        case dom::element_type::UINT64:
            return append_uint(out, element.get_uint64().value_unsafe());
        case dom::element_type::DOUBLE:
            return append_float(out, element.get_double().value_unsafe());
        case dom::element_type::STRING:
            return append_json_string(out, text_of(element));
        case dom::element_type::BOOL:
            out.append(element.get_bool().value_unsafe() ? "true" : "false");
            return;
        case dom::element_type::NULL_VALUE:
            out.append("null");
    }
}

}  // namespace firn::functions::json
