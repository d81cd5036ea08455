#include "firn/storage/configuration.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "firn/base/error.h"
#include "firn/storage/xml.h"

namespace firn::storage {
namespace {

constexpr int kMaxDepth = 100;
constexpr size_t kMaxNodes = 100'000;

std::string trimmed(std::string_view text) {
    const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return std::string(text);
}

/// Puts the environment's value where from_env asks for it.
void take_environment(ConfigurationNode& node, std::string_view where) {
    const auto variable = node.attributes.find("from_env");
    if (variable == node.attributes.end()) return;
    const char* value = std::getenv(variable->second.c_str());
    if (!value)
        fail(ErrorCode::BAD_ARGUMENTS,
             "Configuration {}: {} is taken from the environment variable {}, which is not set", where, node.name,
             variable->second);
    node.text = value;
}

ConfigurationNode node_of_xml(const XmlElement& element, std::string_view where) {
    ConfigurationNode node;
    node.name = element.name;
    node.text = trimmed(element.text);
    for (const auto& [name, value] : element.attributes) node.attributes[name] = value;
    for (const auto& child : element.children) node.children.push_back(node_of_xml(child, where));
    take_environment(node, where);
    return node;
}

/// Makes nodes of a YAML document. Its aliases may nest a value in itself, and repeat it without end.
class YamlNodes {
public:
    explicit YamlNodes(std::string_view where) : where_(where) {}

    void fill(ConfigurationNode& node, const YAML::Node& yaml, int depth) {
        check(depth);
        if (yaml.IsScalar()) {
            node.text = yaml.Scalar();
        } else if (yaml.IsMap()) {
            for (const auto& entry : yaml) {
                const std::string key = entry.first.Scalar();
                if (key.starts_with('@'))
                    node.attributes[key.substr(1)] = entry.second.IsScalar() ? entry.second.Scalar() : "";
                else if (key == "#text")
                    node.text = entry.second.Scalar();
                else
                    add_child(node, key, entry.second, depth + 1);
            }
        }
    }

private:
    void add_child(ConfigurationNode& parent, const std::string& name, const YAML::Node& yaml, int depth) {
        check(depth);
        if (yaml.IsSequence()) {
            for (const auto& item : yaml) add_child(parent, name, item, depth + 1);
            return;
        }
        ConfigurationNode node;
        node.name = name;
        fill(node, yaml, depth);
        take_environment(node, where_);
        parent.children.push_back(std::move(node));
    }

    void check(int depth) {
        if (depth > kMaxDepth)
            fail(ErrorCode::INCORRECT_DATA, "Configuration {} is nested deeper than {} levels", where_, kMaxDepth);
        if (++nodes_ > kMaxNodes)
            fail(ErrorCode::INCORRECT_DATA, "Configuration {} has more than {} values", where_, kMaxNodes);
    }

    std::string_view where_;
    size_t nodes_ = 0;
};

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) fail(ErrorCode::FILE_DOESNT_EXIST, "Cannot open the configuration file '{}'", path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

bool is_yaml(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

ConfigurationNode read_one(const std::string& path) {
    const std::string text = read_text(path);
    return is_yaml(path) ? parse_yaml_configuration(text, path) : parse_xml_configuration(text, path);
}

size_t count_named(const ConfigurationNode& node, std::string_view name) {
    return static_cast<size_t>(std::count_if(node.children.begin(), node.children.end(),
                                             [&](const ConfigurationNode& child) { return child.name == name; }));
}

}  // namespace

const ConfigurationNode* ConfigurationNode::child(std::string_view child_name) const {
    for (const auto& node : children)
        if (node.name == child_name) return &node;
    return nullptr;
}

std::string ConfigurationNode::child_text(std::string_view child_name, std::string_view otherwise) const {
    const ConfigurationNode* found = child(child_name);
    return found ? found->text : std::string(otherwise);
}

ConfigurationNode parse_xml_configuration(std::string_view text, std::string_view where) {
    return node_of_xml(parse_xml(text, where), where);
}

ConfigurationNode parse_yaml_configuration(const std::string& text, std::string_view where) {
    ConfigurationNode root;
    root.name = "clickhouse";
    try {
        const YAML::Node document = YAML::Load(text);
        if (!document.IsMap() && !document.IsNull())
            fail(ErrorCode::INCORRECT_DATA, "Configuration {} must be a mapping of names to values", where);
        YamlNodes(where).fill(root, document, 0);
    } catch (const YAML::Exception& error) {
        fail(ErrorCode::INCORRECT_DATA, "Configuration {}: {}", where, error.what());
    }
    // XML's root would be dropped, so one named alike is too.
    if (root.children.size() == 1 && (root.children[0].name == "clickhouse" || root.children[0].name == "yandex")) {
        ConfigurationNode inner = std::move(root.children[0]);
        return inner;
    }
    return root;
}

void merge_configuration(ConfigurationNode& base, ConfigurationNode other) {
    if (!other.text.empty()) base.text = other.text;
    for (const auto& [name, value] : other.attributes) base.attributes[name] = value;
    // Before children are moved away, and their names with them.
    std::set<std::string> lists;
    for (const ConfigurationNode* node : {&std::as_const(base), &std::as_const(other)})
        for (const auto& child : node->children)
            if (count_named(*node, child.name) > 1) lists.insert(child.name);
    for (auto& child : other.children) {
        const auto same = std::find_if(base.children.begin(), base.children.end(),
                                       [&](const ConfigurationNode& node) { return node.name == child.name; });
        if (child.attributes.contains("remove")) {
            std::erase_if(base.children, [&](const ConfigurationNode& node) { return node.name == child.name; });
        } else if (same == base.children.end()) {
            base.children.push_back(std::move(child));
        } else if (child.attributes.contains("replace")) {
            *same = std::move(child);
        } else if (lists.contains(child.name)) {
            base.children.push_back(std::move(child));
        } else {
            merge_configuration(*same, std::move(child));
        }
    }
}

ConfigurationNode read_configuration(const std::string& path) {
    ConfigurationNode root = read_one(path);
    const std::filesystem::path folder = std::filesystem::path(path).replace_extension(".d");
    std::error_code error;
    std::vector<std::string> more;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = entry.path().string();
        if (is_yaml(name) || name.ends_with(".xml")) more.push_back(name);
    }
    std::sort(more.begin(), more.end());
    for (const auto& name : more) merge_configuration(root, read_one(name));
    return root;
}

}  // namespace firn::storage
