#include "firn/sql/ast.h"

#include "firn/sql/printer.h"
#include "firn/sql/statement.h"

namespace firn::sql {

Literal Literal::from_bool(bool value) {
    Literal literal;
    literal.kind = Kind::Bool;
    literal.boolean = value;
    return literal;
}

Literal Literal::from_uint64(uint64_t value) {
    Literal literal;
    literal.kind = Kind::UInt64;
    literal.uint64 = value;
    literal.text = std::to_string(value);
    return literal;
}

Literal Literal::from_int64(int64_t value) {
    Literal literal;
    literal.kind = Kind::Int64;
    literal.int64 = value;
    literal.text = std::to_string(value);
    return literal;
}

Literal Literal::from_float64(double value) {
    Literal literal;
    literal.kind = Kind::Float64;
    literal.float64 = value;
    literal.text = format_literal(literal);
    return literal;
}

Literal Literal::from_string(std::string bytes) {
    Literal literal;
    literal.kind = Kind::String;
    literal.text = std::move(bytes);
    return literal;
}

std::string Expr::joined_name() const {
    std::string name;
    for (const std::string& part : parts) {
        if (!name.empty()) name += '.';
        name += part;
    }
    return name;
}

ExprPtr make_literal(Literal value, size_t pos) {
    auto expr = std::make_shared<Expr>();
    expr->kind = ExprKind::Literal;
    expr->literal = std::move(value);
    expr->pos = pos;
    return expr;
}

ExprPtr make_identifier(std::vector<std::string> parts, size_t pos) {
    auto expr = std::make_shared<Expr>();
    expr->kind = ExprKind::Identifier;
    expr->parts = std::move(parts);
    expr->pos = pos;
    return expr;
}

ExprPtr make_function(std::string name, std::vector<ExprPtr> args, size_t pos) {
    auto expr = std::make_shared<Expr>();
    expr->kind = ExprKind::Function;
    expr->name = std::move(name);
    expr->args = std::move(args);
    expr->pos = pos;
    return expr;
}

std::string TableName::display() const {
    return database.empty() ? quote_identifier(table) : quote_identifier(database) + "." + quote_identifier(table);
}

}  // namespace firn::sql
