// Names, literals and types as text.
#include "firn/base/escape.h"
#include "firn/sql/lexer.h"
#include "firn/sql/number.h"
#include "firn/sql/printer_impl.h"

namespace firn::sql {
namespace {

// Words that would be read as something else than a name at the place of an operand.
constexpr std::string_view kReserved[] = {
    "ALL",      "CASE",   "COLUMNS",  "CUBE",     "DISTINCT", "EXPLAIN", "FALSE",  "FROM",
    "FUNCTION", "INF",    "INFINITY", "INTERVAL", "NAN",      "NOT",     "NULL",   "RECURSIVE",
    "ROLLUP",   "SELECT", "STRICT",   "TABLE",    "TOP",      "TRUE",    "VALUES", "WITH",
};

bool is_plain_name(std::string_view name) {
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    for (char c : name) {
        if (!is_word_char(c)) return false;
    }
    for (std::string_view word : kReserved) {
        if (equal_ignoring_case(word, name)) return false;
    }
    return true;
}

void append_in_quotes(std::string& out, std::string_view bytes, char quote) {
    out += quote;
    append_escaped(out, bytes, quote);
    out += quote;
}

}  // namespace

std::string quote_identifier(std::string_view name) {
    std::string out;
    if (is_plain_name(name)) {
        out = name;
    } else {
        append_in_quotes(out, name, '`');
    }
    return out;
}

std::string quote_string(std::string_view bytes) {
    std::string out;
    append_in_quotes(out, bytes, '\'');
    return out;
}

std::string format_literal(const Literal& literal) {
    Printer printer{PrintOptions{}};
    printer.literal(literal);
    return printer.take();
}

void Printer::literal(const Literal& literal) {
    auto elements = [&](char open, char close) {
        out_ += open;
        for (size_t i = 0; i < literal.elements.size(); ++i) {
            if (i > 0) out_ += ", ";
            this->literal(literal.elements[i]);
        }
        out_ += close;
    };
    switch (literal.kind) {
        case Literal::Kind::Null:
            out_ += "NULL";
            break;
        case Literal::Kind::Bool:
            out_ += literal.boolean ? "true" : "false";
            break;
        case Literal::Kind::UInt64:
            out_ += std::to_string(literal.uint64);
            break;
        case Literal::Kind::Int64:
            out_ += std::to_string(literal.int64);
            break;
        case Literal::Kind::Float64:
            out_ += format_float(literal.float64);
            break;
        case Literal::Kind::String:
            append_in_quotes(out_, literal.text, '\'');
            break;
        case Literal::Kind::Array:
            elements('[', ']');
            break;
        case Literal::Kind::Tuple:
            elements('(', ')');
            break;
        case Literal::Kind::Map:
            out_ += '{';
            for (size_t i = 0; i + 1 < literal.elements.size(); i += 2) {
                if (i > 0) out_ += ", ";
                this->literal(literal.elements[i]);
                out_ += ": ";
                this->literal(literal.elements[i + 1]);
            }
            out_ += '}';
            break;
    }
}

std::string format_type(const TypeExpr& type) {
    std::string out = type.name;
    bool plain = !type.name.empty();
    for (char c : type.name) plain = plain && (is_word_char(c) || c == ' ');
    if (!plain) out = quote_identifier(type.name);
    if (!type.has_arguments) return out;
    out += '(';
    for (size_t i = 0; i < type.arguments.size(); ++i) {
        const TypeArgument& argument = type.arguments[i];
        if (i > 0) out += ", ";
        switch (argument.kind) {
            case TypeArgument::Kind::Type:
                out += format_type(*argument.type);
                break;
            case TypeArgument::Kind::NamedType:
                if (!argument.type) {
                    out += argument.name + " ";
                    out += argument.name == "SKIP" ? quote_identifier(argument.literal.text)
                                                   : quote_string(argument.literal.text);
                } else {
                    out += quote_identifier(argument.name) + " " + format_type(*argument.type);
                }
                break;
            case TypeArgument::Kind::Literal:
                out += format_literal(argument.literal);
                break;
            case TypeArgument::Kind::EnumValue:
                out += quote_string(argument.name);
                if (argument.literal.kind != Literal::Kind::Null) out += " = " + format_literal(argument.literal);
                break;
            case TypeArgument::Kind::Setting:
                out += quote_identifier(argument.name) + "=" + format_literal(argument.literal);
                break;
        }
    }
    out += ')';
    return out;
}

}  // namespace firn::sql
