// Data types, names, settings.
#include "firn/base/error.h"
#include "firn/sql/parser_impl.h"

namespace firn::sql {

std::string Parser::parse_name(std::string_view what) {
    std::string name;
    if (at_name()) {
        if (decode_name(token_text(), name)) {
            ++index_;
            return name;
        }
    }
    expected(what);
    syntax_error();
}

std::vector<std::string> Parser::parse_compound_name() {
    std::vector<std::string> parts{parse_name()};
    while (at(TokenType::Dot) && at_name(1)) {
        ++index_;
        parts.push_back(parse_name());
    }
    return parts;
}

TableName Parser::parse_table_name() {
    TableName name;
    name.pos = pos();
    std::vector<std::string> parts = parse_compound_name();
    // a.b.c: database a, table b.c, as catalogs name their tables by namespace.
    if (parts.size() > 1) {
        name.database = parts[0];
        parts.erase(parts.begin());
    }
    for (const std::string& part : parts) name.table += (name.table.empty() ? "" : ".") + part;
    return name;
}

std::string Parser::parse_string(std::string_view what) {
    std::string value;
    if (at(TokenType::String) && decode_string(token_text(), value)) {
        ++index_;
        return value;
    }
    expected(what);
    syntax_error();
}

namespace {

// Names of SQL types that have several words; the longer first.
constexpr std::string_view kLongTypes[] = {
    "BINARY LARGE OBJECT",
    "BINARY VARYING",
    "CHAR LARGE OBJECT",
    "CHAR VARYING",
    "CHARACTER LARGE OBJECT",
    "CHARACTER VARYING",
    "DOUBLE PRECISION",
    "NATIONAL CHAR VARYING",
    "NATIONAL CHARACTER LARGE OBJECT",
    "NATIONAL CHARACTER VARYING",
    "NATIONAL CHAR",
    "NATIONAL CHARACTER",
    "NCHAR LARGE OBJECT",
    "NCHAR VARYING",
};
constexpr std::string_view kIntegers[] = {"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT", "INT1"};

}  // namespace

TypeExprPtr Parser::parse_type() {
    Nesting nesting(*this);
    auto type = std::make_shared<TypeExpr>();
    type->pos = pos();
    if (at(TokenType::BareWord)) {
        std::string_view longest;
        for (std::string_view name : kLongTypes) {
            if (name.size() > longest.size() && at_keyword(name)) longest = name;
        }
        if (!longest.empty()) {
            accept_keyword(longest);
            type->name = longest;
        }
    }
    if (type->name.empty()) {
        const bool word = at(TokenType::BareWord);
        type->name = parse_name("type");
        bool integer = false;
        for (std::string_view name : kIntegers) integer = integer || (word && equal_ignoring_case(type->name, name));
        if (integer) {
            // MySQL's width is no argument: INT(11) UNSIGNED.
            if (at(TokenType::OpenRound) && at(TokenType::Number, 1) && at(TokenType::CloseRound, 2)) index_ += 3;
            const std::string_view sign = accept_any({"UNSIGNED", "SIGNED"});
            if (!sign.empty()) {
                for (char& c : type->name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
                type->name += ' ';
                type->name += sign;
            }
        }
    }
    count_elements(1);
    if (!at(TokenType::OpenRound)) return type;
    ++index_;
    type->has_arguments = true;
    while (!at(TokenType::CloseRound)) {
        type->arguments.push_back(parse_type_argument(*type));
        if (!accept(TokenType::Comma, "Comma")) break;
    }
    expect(TokenType::CloseRound, "ClosingRoundBracket");
    return type;
}

TypeArgument Parser::parse_type_argument(const TypeExpr& type) {
    TypeArgument argument;
    if (at(TokenType::String)) {
        std::string value = parse_string();
        if (accept(TokenType::Equals, "Equals")) {
            argument.kind = TypeArgument::Kind::EnumValue;
            argument.name = std::move(value);
            if (!try_literal(argument.literal)) syntax_error();
        } else if (type.name.starts_with("Enum") || equal_ignoring_case(type.name, "enum")) {
            argument.kind = TypeArgument::Kind::EnumValue;
            argument.name = std::move(value);
        } else {
            argument.kind = TypeArgument::Kind::Literal;
            argument.literal = Literal::from_string(std::move(value));
        }
        return argument;
    }
    if (!at_name()) {
        argument.kind = TypeArgument::Kind::Literal;
        expected("type argument");
        if (!try_literal(argument.literal)) syntax_error();
        return argument;
    }
    if (at(TokenType::Equals, 1)) {
        argument.kind = TypeArgument::Kind::Setting;
        argument.name = parse_name();
        ++index_;
        if (!try_literal(argument.literal)) syntax_error();
        return argument;
    }
    // `a Int32`, `a.b Int32` (of JSON), SKIP path; a name alone is a type.
    const bool compound = at(TokenType::Dot, 1) && at_name(2);
    const bool long_type = at_keyword("DOUBLE PRECISION") || at_keyword("CHAR VARYING") ||
                           at_keyword("CHARACTER VARYING") || at_keyword("BINARY LARGE") ||
                           at_keyword("INT UNSIGNED") || at_keyword("BIGINT UNSIGNED") ||
                           at_keyword("SMALLINT UNSIGNED") || at_keyword("TINYINT UNSIGNED") ||
                           at_keyword("INTEGER UNSIGNED") || at_keyword("INT SIGNED");
    if (at_keyword("SKIP REGEXP") && at(TokenType::String, 2)) {
        argument.kind = TypeArgument::Kind::NamedType;
        index_ += 2;
        argument.name = "SKIP REGEXP";
        argument.literal = Literal::from_string(parse_string());
        return argument;
    }
    if ((at_name(1) && !long_type) || compound) {
        argument.kind = TypeArgument::Kind::NamedType;
        for (const std::string& part : parse_compound_name())
            argument.name += (argument.name.empty() ? "" : ".") + part;
        if (argument.name == "SKIP" || argument.name == "skip") {
            std::string path;
            for (const std::string& part : parse_compound_name()) path += (path.empty() ? "" : ".") + part;
            argument.name = "SKIP";
            argument.literal = Literal::from_string(std::move(path));
            return argument;
        }
        argument.type = parse_type();
        return argument;
    }
    argument.type = parse_type();
    return argument;
}

Literal Parser::parse_setting_value() {
    Literal value;
    if (at(TokenType::OpenCurly)) {
        Nesting nesting(*this);
        ++index_;
        value.kind = Literal::Kind::Map;
        while (!at(TokenType::CloseCurly)) {
            value.elements.push_back(Literal::from_string(parse_string()));
            expect(TokenType::Colon, "Colon");
            value.elements.push_back(parse_setting_value());
            if (!accept(TokenType::Comma, "Comma")) break;
        }
        expect(TokenType::CloseCurly, "ClosingCurlyBrace");
        return value;
    }
    if (try_literal(value)) return value;
    expected("literal");
    syntax_error();
}

std::vector<SettingChange> Parser::parse_settings_list() {
    std::vector<SettingChange> changes;
    do {
        SettingChange change;
        change.pos = pos();
        for (const std::string& part : parse_compound_name()) change.name += (change.name.empty() ? "" : ".") + part;
        if (accept(TokenType::Equals, "Equals")) {
            if (at_keyword("DEFAULT")) {
                ++index_;
                change.is_default = true;
            } else {
                change.value = parse_setting_value();
            }
        } else {
            change.value = Literal::from_uint64(1);
            change.name_alone = true;
        }
        changes.push_back(std::move(change));
    } while (accept(TokenType::Comma, "Comma"));
    return changes;
}

}  // namespace firn::sql
