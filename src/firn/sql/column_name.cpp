// The names of result columns.
#include "firn/sql/ast.h"
#include "firn/sql/number.h"
#include "firn/sql/printer.h"

namespace firn::sql {
namespace {

void append(std::string& out, const Expr& expr);

/// The alias, if there is one: an aliased part of an expression is known by its alias.
void append_part(std::string& out, const Expr& expr) {
    if (!expr.alias.empty()) {
        out += expr.alias;
    } else {
        append(out, expr);
    }
}

void append_parts(std::string& out, const std::vector<ExprPtr>& parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) out += ", ";
        append_part(out, *parts[i]);
    }
}

/// What the elements of an array literal, which have one type, are printed as.
struct ElementStyle {
    bool floats = false;
    bool booleans_as_numbers = false;
};

void append_literal(std::string& out, const Literal& literal, ElementStyle style) {
    switch (literal.kind) {
        case Literal::Kind::UInt64:
        case Literal::Kind::Int64:
            if (style.floats) {
                const bool is_signed = literal.kind == Literal::Kind::Int64;
                out +=
                    format_float(is_signed ? static_cast<double>(literal.int64) : static_cast<double>(literal.uint64));
            } else {
                out += format_literal(literal);
            }
            break;
        case Literal::Kind::Bool:
            if (style.booleans_as_numbers) {
                out += literal.boolean ? "1" : "0";
            } else {
                out += format_literal(literal);
            }
            break;
        case Literal::Kind::Array:
        case Literal::Kind::Tuple: {
            const bool array = literal.kind == Literal::Kind::Array;
            ElementStyle inner;
            for (const Literal& element : literal.elements) {
                if (!array) break;
                inner.booleans_as_numbers = true;
                inner.floats = inner.floats || element.kind == Literal::Kind::Float64;
            }
            out += array ? '[' : '(';
            for (size_t i = 0; i < literal.elements.size(); ++i) {
                if (i > 0) out += ", ";
                append_literal(out, literal.elements[i], inner);
            }
            out += array ? ']' : ')';
            break;
        }
        default:
            out += format_literal(literal);
    }
}

void append_order_by(std::string& out, const std::vector<OrderByElement>& order_by) {
    for (size_t i = 0; i < order_by.size(); ++i) {
        if (i > 0) out += ", ";
        append_part(out, *order_by[i].expr);
        out += order_by[i].descending ? " DESC" : " ASC";
        if (order_by[i].nulls_first) out += *order_by[i].nulls_first ? " NULLS FIRST" : " NULLS LAST";
        if (!order_by[i].collation.empty()) out += " COLLATE " + order_by[i].collation;
    }
}

void append_bound(std::string& out, const FrameBound& bound) {
    if (bound.kind == FrameBound::Kind::CurrentRow) {
        out += "CURRENT ROW";
        return;
    }
    if (bound.kind == FrameBound::Kind::Unbounded) {
        out += "UNBOUNDED";
    } else {
        append_part(out, *bound.offset);
    }
    out += bound.preceding ? " PRECEDING" : " FOLLOWING";
}

void append_window(std::string& out, const WindowSpec& window) {
    out += '(';
    const size_t begin = out.size();
    auto blank = [&] {
        if (out.size() > begin) out += ' ';
    };
    out += window.parent;
    if (!window.partition_by.empty()) {
        blank();
        out += "PARTITION BY ";
        append_parts(out, window.partition_by);
    }
    if (!window.order_by.empty()) {
        blank();
        out += "ORDER BY ";
        append_order_by(out, window.order_by);
    }
    if (window.has_frame) {
        blank();
        out += window.frame_type == WindowSpec::FrameType::Rows     ? "ROWS"
               : window.frame_type == WindowSpec::FrameType::Groups ? "GROUPS"
                                                                    : "RANGE";
        out += " BETWEEN ";
        append_bound(out, window.begin);
        out += " AND ";
        append_bound(out, window.end);
    }
    out += ')';
}

void append_function(std::string& out, const Expr& expr) {
    if (expr.name == "tuple" || expr.name == "array") {
        out += expr.name == "tuple" ? '(' : '[';
        append_parts(out, expr.args);
        out += expr.name == "tuple" ? ')' : ']';
        return;
    }
    out += expr.name;
    if (expr.has_parameters) {
        out += '(';
        append_parts(out, expr.parameters);
        out += ')';
    }
    out += '(';
    // count(*) is count().
    const bool all = expr.args.size() == 1 && expr.args[0]->is(ExprKind::Asterisk) && expr.args[0]->parts.empty() &&
                     expr.args[0]->transformers.empty();
    if (!all || (expr.name != "count" && expr.name != "COUNT" && expr.name != "Count")) append_parts(out, expr.args);
    out += ')';
    if (!expr.is_window) return;
    out += " OVER ";
    if (expr.window) {
        append_window(out, *expr.window);
    } else {
        out += expr.window_name;
    }
}

void append(std::string& out, const Expr& expr) {
    switch (expr.kind) {
        case ExprKind::Literal:
            append_literal(out, expr.literal, {});
            break;
        case ExprKind::Identifier:
            out += expr.joined_name();
            break;
        case ExprKind::Function:
            append_function(out, expr);
            break;
        case ExprKind::Lambda:
            out += "lambda(tuple(";
            for (size_t i = 0; i < expr.lambda_args.size(); ++i) {
                if (i > 0) out += ", ";
                out += expr.lambda_args[i];
            }
            out += "), ";
            append_part(out, *expr.args[0]);
            out += ')';
            break;
        case ExprKind::Subquery:
            out += "_subquery";
            break;
        case ExprKind::Asterisk:
        case ExprKind::Columns:
        case ExprKind::Parameter: {
            // These are expanded before names matter; their text is the best that can be said.
            out += format_expr(expr);
            break;
        }
    }
}

}  // namespace

std::string column_name(const Expr& expr) {
    std::string out;
    append(out, expr);
    return out;
}

}  // namespace firn::sql
