#include <gtest/gtest.h>

#include "firn/sql/parser.h"
#include "firn/sql/printer.h"
#include "firn/sql/secrets.h"

namespace firn::sql {
namespace {

std::string printed(std::string_view text) { return format_statement(*parse_statement(text)); }
std::string shown(std::string_view text) { return format_statement(*parse_statement(text), {.hide_secrets = true}); }

TEST(NamedCollections, ParsedAndPrinted) {
    for (const char* text :
         {"CREATE NAMED COLLECTION IF NOT EXISTS c AS a = 1 OVERRIDABLE, `b c` = 'x' NOT OVERRIDABLE",
          "CREATE NAMED COLLECTION c ON CLUSTER k AS a = 'x'", "ALTER NAMED COLLECTION c SET a = 1",
          "ALTER NAMED COLLECTION IF EXISTS c SET a = 1, d = 'x' DELETE b, e", "ALTER NAMED COLLECTION c DELETE b",
          "DROP NAMED COLLECTION IF EXISTS c", "DROP NAMED COLLECTION c"})
        EXPECT_EQ(printed(text), text);
}

TEST(NamedCollections, ValuesAreHidden) {
    EXPECT_EQ(shown("create named collection c as a = 1 overridable, b = 'x'"),
              "CREATE NAMED COLLECTION c AS a = '[HIDDEN]' OVERRIDABLE, b = '[HIDDEN]'");
    EXPECT_EQ(shown("alter named collection c set a = 1 delete b"),
              "ALTER NAMED COLLECTION c SET a = '[HIDDEN]' DELETE b");
}

TEST(NamedCollections, HalfStatementsAreErrors) {
    for (const char* text : {"CREATE NAMED COLLECTION c", "CREATE NAMED COLLECTION c AS a", "ALTER NAMED COLLECTION c",
                             "CREATE NAMED COLLECTION c AS a = b", "DROP NAMED COLLECTION"})
        EXPECT_ANY_THROW(parse_statement(text)) << text;
}

TEST(Secrets, CatalogsAreShownWithoutCredentials) {
    EXPECT_EQ(
        shown("CREATE DATABASE d ENGINE = DataLakeCatalog('http://h', 'u', 'p') SETTINGS catalog_type = 'rest', "
              "catalog_credential = 'a:b', auth_header = 'A: x', vended_credentials = 1, aws_access_key_id = 'AK', "
              "oauth_server_uri = 'http://t'"),
        "CREATE DATABASE d ENGINE = DataLakeCatalog('http://h', 'u', '[HIDDEN]') SETTINGS catalog_type = 'rest', "
        "catalog_credential = '[HIDDEN]', auth_header = '[HIDDEN]', vended_credentials = 1, "
        "aws_access_key_id = '[HIDDEN]', oauth_server_uri = 'http://t'");
}

TEST(Secrets, NamesOfSettings) {
    for (const char* name :
         {"secret_access_key", "session_token", "account_key", "catalog_credential", "auth_header", "password"})
        EXPECT_TRUE(is_secret_name(name)) << name;
    for (const char* name : {"vended_credentials", "url", "region", "oauth_server_uri", "max_query_size", "filename"})
        EXPECT_FALSE(is_secret_name(name)) << name;
}

}  // namespace
}  // namespace firn::sql
