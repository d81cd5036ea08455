#include "firn/storage/configuration.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/unit/error_of.h"

namespace firn::storage {
namespace {

template <typename Action>
std::optional<ErrorCode> failure_code(Action action) {
    return failure_of(action).code;
}

constexpr std::string_view kXml = R"(<?xml version="1.0"?>
<clickhouse>
    <named_collections>
        <a><url> s3://b </url><key overridable="false">k</key></a>
    </named_collections>
    <list>1</list><list>2</list>
</clickhouse>)";

TEST(Configuration, XmlAndYamlGiveOneTree) {
    const auto xml = parse_xml_configuration(kXml, "x");
    const auto yaml = parse_yaml_configuration(
        "named_collections:\n  a:\n    url: s3://b\n    key:\n      '@overridable': 'false'\n      '#text': k\nlist: "
        "[1, 2]\n",
        "y");
    for (const auto* root : {&xml, &yaml}) {
        const auto* a = root->child("named_collections")->child("a");
        ASSERT_NE(a, nullptr);
        EXPECT_EQ(a->child_text("url"), "s3://b");
        EXPECT_EQ(a->child("key")->text, "k");
        EXPECT_EQ(a->child("key")->attributes.at("overridable"), "false");
        ASSERT_EQ(root->children.size(), 3U);
        EXPECT_EQ(root->children[2].text, "2");
    }
}

TEST(Configuration, TextFromTheEnvironment) {
    setenv("FIRN_TEST_VALUE", "secret", 1);
    const auto root = parse_xml_configuration("<c><k from_env=\"FIRN_TEST_VALUE\"/></c>", "x");
    EXPECT_EQ(root.child_text("k"), "secret");
    unsetenv("FIRN_TEST_VALUE");
    EXPECT_EQ(failure_code([] { parse_xml_configuration("<c><k from_env=\"FIRN_TEST_VALUE\"/></c>", "x"); }),
              ErrorCode::BAD_ARGUMENTS);
}

TEST(Configuration, ListsOfTheSecondFileStayLists) {
    auto base = parse_xml_configuration("<c><one>0</one></c>", "x");
    merge_configuration(base, parse_xml_configuration("<c><p>1</p><p>2</p><p>3</p><one>1</one><one>2</one></c>", "y"));
    std::string all;
    for (const auto& child : base.children) all += child.name + child.text + " ";
    EXPECT_EQ(all, "one0 p1 p2 p3 one1 one2 ");
}

TEST(Configuration, DamagedFilesAreErrors) {
    EXPECT_EQ(failure_code([] { parse_xml_configuration("<a><b></a>", "x"); }), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(failure_code([] { parse_yaml_configuration("a: [1, 2", "y"); }), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(failure_code([] { parse_yaml_configuration("just text", "y"); }), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(failure_code([] { read_configuration("/no/such/file.xml"); }), ErrorCode::FILE_DOESNT_EXIST);
    // Aliases that stand for what they are in, or for more and more.
    EXPECT_EQ(failure_code([] { parse_yaml_configuration("a: &a [*a, *a]", "y"); }), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(failure_code([] { parse_yaml_configuration("a: &a {b: *a, c: *a}", "y"); }), ErrorCode::INCORRECT_DATA);
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) bomb += (k ? ", " : "") + before;
        bomb += "]\n";
    }
    EXPECT_EQ(failure_code([&] { parse_yaml_configuration(bomb, "y"); }), ErrorCode::INCORRECT_DATA);
}

TEST(Configuration, FilesOfTheFolderAreMerged) {
    const auto folder = std::filesystem::temp_directory_path() / "firn-configuration-test";
    std::filesystem::create_directories(folder / "main.d");
    std::ofstream(folder / "main.xml") << "<c><a><x>1</x><y>2</y></a><gone>1</gone></c>";
    std::ofstream(folder / "main.d" / "more.yaml") << "a:\n  x: 3\n  z: 4\ngone:\n  '@remove': '1'\n";
    const auto root = read_configuration((folder / "main.xml").string());
    std::filesystem::remove_all(folder);
    EXPECT_EQ(root.child("a")->child_text("x"), "3");
    EXPECT_EQ(root.child("a")->child_text("y"), "2");
    EXPECT_EQ(root.child("a")->child_text("z"), "4");
    EXPECT_EQ(root.child("gone"), nullptr);
}

}  // namespace
}  // namespace firn::storage
