// Reading fields of Iceberg's JSON with messages that say which field of which file is wrong. Heavy to compile
// (simdjson): for .cpp files that parse JSON only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "firn/base/error.h"
#include "firn/iceberg/schema.h"
#include "firn/iceberg/values.h"

namespace firn::iceberg {

/// A JSON document and the parser that owns its memory.
class JsonDocument {
public:
    /// INCORRECT_DATA, naming `where`, when the text is not JSON.
    JsonDocument(std::string_view text, std::string_view where);
    simdjson::dom::element root() const { return root_; }

private:
    simdjson::dom::parser parser_;
    simdjson::dom::element root_;
};

/// A JSON object at a place of a file ("v3.metadata.json: schemas[0]"). A field that is null counts as absent. A field
/// of a wrong type or out of range is an ICEBERG_SPECIFICATION_VIOLATION that names file and field.
class JsonFields {
public:
    JsonFields(simdjson::dom::object object, std::string where) : object_(object), where_(std::move(where)) {}
    JsonFields(simdjson::dom::element element, std::string where);

    const std::string& where() const { return where_; }
    simdjson::dom::object object() const { return object_; }
    std::optional<simdjson::dom::element> find(std::string_view name) const;

    std::optional<int64_t> long_or_nothing(std::string_view name) const;
    std::optional<int32_t> int_or_nothing(std::string_view name) const;
    std::optional<bool> bool_or_nothing(std::string_view name) const;
    std::optional<std::string_view> text_or_nothing(std::string_view name) const;
    std::optional<simdjson::dom::array> array_or_nothing(std::string_view name) const;
    std::optional<JsonFields> object_or_nothing(std::string_view name) const;

    int64_t required_long(std::string_view name) const { return required(long_or_nothing(name), name); }
    int32_t required_int(std::string_view name) const { return required(int_or_nothing(name), name); }
    std::string_view required_text(std::string_view name) const { return required(text_or_nothing(name), name); }
    simdjson::dom::array required_array(std::string_view name) const { return required(array_or_nothing(name), name); }
    simdjson::dom::element required_element(std::string_view name) const { return required(find(name), name); }

    /// A map of text to text. Values that are numbers or booleans are taken as their text, as some writers leave them.
    std::map<std::string, std::string> text_map(std::string_view name) const;
    std::vector<int32_t> int_list(std::string_view name) const;

    /// Place of an item of an array field.
    std::string item_place(std::string_view name, size_t index) const {
        return fmt::format("{}{}{}[{}]", where_, separator(), name, index);
    }
    /// read(fields) for each object of an array field, in order; how many there were. Without such a field: for none.
    template <typename Read>
    size_t each_object(std::string_view name, const Read& read) const {
        const auto list = array_or_nothing(name);
        size_t index = 0;
        if (list)
            for (const simdjson::dom::element item : *list) read(JsonFields(item, item_place(name, index++)));
        return index;
    }
    /// The same of a field that must be there.
    template <typename Read>
    size_t each_required_object(std::string_view name, const Read& read) const {
        required_array(name);
        return each_object(name, read);
    }
    std::string field_place(std::string_view name) const { return fmt::format("{}{}{}", where_, separator(), name); }

    [[noreturn]] void bad(std::string_view name, std::string_view what) const;

private:
    template <typename T>
    T required(std::optional<T> value, std::string_view name) const {
        if (!value) bad(name, "is missing");
        return *std::move(value);
    }
    /// "file.json: field", then "file.json: field.inner".
    std::string_view separator() const { return where_.find(": ") == std::string::npos ? ": " : "."; }

    simdjson::dom::object object_;
    std::string where_;
};

// The parts of metadata that have JSON of their own, from an element.
Schema schema_of_json(simdjson::dom::element element, const std::string& where);
TypePtr type_of_json(simdjson::dom::element element, const std::string& where, int depth);
Literal literal_of_json(const TypePtr& type, simdjson::dom::element element, const std::string& where, int depth = 0);

}  // namespace firn::iceberg
