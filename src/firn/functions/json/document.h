// JSON texts as simdjson's elements, and elements as text again.
#pragma once

#include <string>
#include <string_view>

#include <simdjson.h>

namespace firn::functions::json {

using Element = simdjson::dom::element;

/// Parses one text after another. An element is good until the next text. For one thread.
class Document {
public:
    /// False where the text is no JSON (or nested deeper than simdjson's limit of 1024); `root` is then not set.
    bool parse(std::string_view text, Element& root) {
        return parser_.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS;
    }

private:
    simdjson::dom::parser parser_;
};

inline bool is_container(const Element& element) { return element.is_array() || element.is_object(); }
inline std::string_view text_of(const Element& element) { return element.get_string().value_unsafe(); }

/// The element without spaces: {"a":[1,2.5]}.
void append_element(std::string& out, const Element& element);

}  // namespace firn::functions::json
