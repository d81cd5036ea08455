// XML as services and configuration files write it: parsed whole into a tree of elements.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::storage {

struct XmlElement {
    std::string name;  ///< without a namespace prefix
    std::vector<std::pair<std::string, std::string>> attributes;
    std::string text;  ///< all character data directly inside, one after the other
    std::vector<XmlElement> children;

    /// The first child of that name, or null.
    const XmlElement* child(std::string_view child_name) const;
    /// The text of the first child of that name; empty where there is none.
    std::string_view child_text(std::string_view child_name) const;
    /// Null where there is no such attribute.
    const std::string* attribute(std::string_view attribute_name) const;
};

/// The root element. INCORRECT_DATA, naming `what` and the line, for what is not well formed, nested deeper than 200
/// elements, or declares entities (an expanding one could fill the memory).
XmlElement parse_xml(std::string_view text, std::string_view what);

}  // namespace firn::storage
