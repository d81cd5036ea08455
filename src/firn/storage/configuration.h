// Configuration files in ClickHouse's layout, XML or YAML: one tree of named nodes.
//
// XML: the root element (<clickhouse>, <config>, …) is dropped. YAML: the document's mapping is the tree; a list is its
// key repeated; keys that begin with @ are attributes, #text is a node's own text. Attributes understood in both:
// from_env="NAME" (the text is that environment variable's), replace (instead of what was there before), remove.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace firn::storage {

struct ConfigurationNode {
    std::string name;
    std::string text;  ///< without blanks around it
    std::map<std::string, std::string, std::less<>> attributes;
    std::vector<ConfigurationNode> children;  ///< in the order written

    /// The first child of that name, or null.
    const ConfigurationNode* child(std::string_view child_name) const;
    /// The text of the child of that name, or `otherwise`.
    std::string child_text(std::string_view child_name, std::string_view otherwise = "") const;
};

/// The tree of a file, which is XML unless its name ends in .yaml or .yml. What lies in the folder of the same name with .d
/// for an ending (config.d beside config.xml) is merged into it, in the order of names. FILE_DOESNT_EXIST,
/// INCORRECT_DATA with file and line, BAD_ARGUMENTS for from_env of a variable that is not set.
ConfigurationNode read_configuration(const std::string& path);

/// The tree of a text; `where` is for messages.
ConfigurationNode parse_xml_configuration(std::string_view text, std::string_view where);
ConfigurationNode parse_yaml_configuration(const std::string& text, std::string_view where);

/// Puts `other` over `base`: children of one name are merged, text replaces text, lists of nodes of one name stay beside
/// each other where either side has several.
void merge_configuration(ConfigurationNode& base, ConfigurationNode other);

}  // namespace firn::storage
