// Expressions, literals, names and types as text.
#include "firn/sql/lexer.h"
#include "firn/sql/number.h"
#include "firn/sql/printer_impl.h"
#include "firn/sql/secrets.h"

namespace firn::sql {
namespace {

std::string name_part(const std::string& part) {
    // Subcolumns of JSON keep their sign outside of the quotes.
    const bool subcolumn =
        part.size() > 3 && (part[0] == '^' || part[0] == ':') && part[1] == '`' && part.back() == '`';
    return subcolumn ? part[0] + quote_identifier(std::string_view(part).substr(2, part.size() - 3))
                     : quote_identifier(part);
}

std::string name_text(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts) {
        if (!out.empty()) out += '.';
        out += name_part(part);
    }
    return out;
}

struct Infix {
    std::string_view function, sign;
};
constexpr Infix kInfix[] = {
    {"plus", " + "},
    {"minus", " - "},
    {"multiply", " * "},
    {"divide", " / "},
    {"modulo", " % "},
    {"equals", " = "},
    {"notEquals", " != "},
    {"less", " < "},
    {"greater", " > "},
    {"lessOrEquals", " <= "},
    {"greaterOrEquals", " >= "},
    {"isNotDistinctFrom", " <=> "},
    {"isDistinctFrom", " IS DISTINCT FROM "},
    {"like", " LIKE "},
    {"notLike", " NOT LIKE "},
    {"ilike", " ILIKE "},
    {"notILike", " NOT ILIKE "},
    {"in", " IN "},
    {"notIn", " NOT IN "},
    {"globalIn", " GLOBAL IN "},
    {"globalNotIn", " GLOBAL NOT IN "},
    {"and", " AND "},
    {"or", " OR "},
};

std::string_view infix_sign(std::string_view function) {
    for (const Infix& infix : kInfix) {
        if (infix.function == function) return infix.sign;
    }
    return "";
}

bool is_negative(const Expr& expr) {
    if (!expr.is(ExprKind::Literal)) return false;
    const Literal& literal = expr.literal;
    return literal.kind == Literal::Kind::Int64 ||
           (literal.kind == Literal::Kind::Float64 && format_float(literal.float64).starts_with('-'));
}

/// Whether it is printed as an operator, and so needs brackets as another one's operand.
bool is_operator_text(const Expr& expr) {
    if (expr.is(ExprKind::Lambda)) return true;
    if (!expr.is(ExprKind::Function) || !expr.is_operator || expr.is_window) return false;
    if (expr.name == "array" || expr.name == "concat" || expr.name == "match" || expr.name == "intDiv") return false;
    if (expr.name == "tuple") return false;
    if (expr.name == "tupleElement") return expr.args[1]->literal.kind != Literal::Kind::String;
    return true;
}

}  // namespace

// ---- expressions

void Printer::expr(const Expr& expr) {
    const bool brackets = expr.parenthesized || (expr.is(ExprKind::Lambda) && !expr.alias.empty());
    // `(SELECT 1)` has its brackets anyhow, and @@x brings its alias itself.
    const bool wrap = brackets && !expr.is(ExprKind::Subquery);
    if (wrap) out_ += '(';
    bare_expr(expr);
    if (wrap) out_ += ')';
    const bool variable = expr.is_function("globalVariable") && expr.alias.starts_with("@@");
    if (!expr.alias.empty() && !variable) *this << " AS " << quote_identifier(expr.alias);
}

void Printer::operand(const Expr& expr) {
    const bool variable = expr.is_function("globalVariable") && expr.alias.starts_with("@@");
    const bool alias = !expr.alias.empty() && !variable;
    const bool brackets = alias || is_operator_text(expr) || (expr.parenthesized && !expr.is(ExprKind::Subquery));
    if (brackets) out_ += '(';
    bare_expr(expr);
    if (alias) *this << " AS " << quote_identifier(expr.alias);
    if (brackets) out_ += ')';
}

void Printer::list(const std::vector<ExprPtr>& exprs) {
    for (size_t i = 0; i < exprs.size(); ++i) {
        if (i > 0) out_ += ", ";
        expr(*exprs[i]);
    }
}

void Printer::bare_expr(const Expr& expr) {
    switch (expr.kind) {
        case ExprKind::Literal:
            literal(expr.literal);
            break;
        case ExprKind::Identifier:
            *this << name_text(expr.parts);
            break;
        case ExprKind::Function:
            function(expr);
            break;
        case ExprKind::Lambda:
            lambda(expr);
            break;
        case ExprKind::Asterisk:
        case ExprKind::Columns:
            columns(expr);
            break;
        case ExprKind::Subquery:
            bracketed_query(*expr.query);
            break;
        case ExprKind::Parameter:
            *this << "{" << quote_identifier(expr.name) << ":" << expr.type_text << "}";
            break;
    }
}

void Printer::lambda(const Expr& expr) {
    if (expr.lambda_args.size() == 1) {
        *this << quote_identifier(expr.lambda_args[0]);
    } else {
        out_ += '(';
        for (size_t i = 0; i < expr.lambda_args.size(); ++i) {
            if (i > 0) out_ += ", ";
            *this << quote_identifier(expr.lambda_args[i]);
        }
        out_ += ')';
    }
    *this << " -> ";
    operand(*expr.args[0]);
}

void Printer::function(const Expr& expr) {
    if (expr.is_function("globalVariable") && expr.alias.starts_with("@@")) {
        *this << "@@" << quote_identifier(expr.args[0]->literal.text);
        return;
    }
    if (expr.is_operator && !expr.is_window && operator_form(expr)) return;
    call(expr);
}

void Printer::in_right_side(const Expr& expr) {
    const bool as_is = expr.alias.empty() &&
                       (expr.is(ExprKind::Subquery) || expr.is_function("tuple") || expr.is_function("array") ||
                        (expr.is(ExprKind::Literal) &&
                         (expr.literal.kind == Literal::Kind::Array || expr.literal.kind == Literal::Kind::Tuple)));
    if (as_is) {
        bare_expr(expr);
        return;
    }
    out_ += '(';
    bare_expr(expr);
    if (!expr.alias.empty()) *this << " AS " << quote_identifier(expr.alias);
    out_ += ')';
}

/// x.1; false where that would not read back.
bool Printer::element_access(const Expr& expr) {
    const Expr& base = *expr.args[0];
    const Expr& element = *expr.args[1];
    if (element.literal.kind != Literal::Kind::UInt64) return false;
    const bool plain = base.is(ExprKind::Identifier) || base.is_function("tuple") || base.parenthesized ||
                       (base.is(ExprKind::Literal) && base.literal.kind == Literal::Kind::Tuple);
    if (base.is(ExprKind::Literal) && base.literal.kind != Literal::Kind::Tuple) return false;
    if (plain) {
        operand(base);
    } else {
        out_ += '(';
        expr_with_alias(base);
        out_ += ')';
    }
    *this << "." << std::to_string(element.literal.uint64);
    return true;
}

void Printer::expr_with_alias(const Expr& expr) {
    bare_expr(expr);
    if (!expr.alias.empty()) *this << " AS " << quote_identifier(expr.alias);
}

bool Printer::operator_form(const Expr& expr) {
    const std::string& name = expr.name;
    const std::vector<ExprPtr>& args = expr.args;
    if (name == "tuple") {
        if (args.size() < 2) return false;
        out_ += '(';
        list(args);
        out_ += ')';
        return true;
    }
    if (name == "array") {
        out_ += '[';
        list(args);
        out_ += ']';
        return true;
    }
    if (name == "negate" || name == "not") {
        *this << (name == "not" ? "NOT " : "-");
        const bool literal = args[0]->is(ExprKind::Literal) && name == "negate" && !args[0]->parenthesized;
        if (literal && args[0]->alias.empty()) out_ += '(';
        operand(*args[0]);
        if (literal && args[0]->alias.empty()) out_ += ')';
        return true;
    }
    if (name == "isNull" || name == "isNotNull") {
        operand(*args[0]);
        *this << (name == "isNull" ? " IS NULL" : " IS NOT NULL");
        return true;
    }
    if (name == "tupleElement") return element_access(expr);
    if (name == "arrayElement") {
        if (is_negative(*args[0]) && !args[0]->parenthesized) return false;
        operand(*args[0]);
        out_ += '[';
        this->expr(*args[1]);
        out_ += ']';
        return true;
    }
    const std::string_view sign = infix_sign(name);
    if (sign.empty()) return false;
    const bool in = name == "in" || name == "notIn" || name == "globalIn" || name == "globalNotIn";
    for (size_t i = 0; i < args.size(); ++i) {
        if (i > 0) *this << sign;
        if (in && i == 1) {
            in_right_side(*args[i]);
        } else {
            operand(*args[i]);
        }
    }
    return true;
}

namespace {

/// A function's name before its bracket: quoted where the bare word would begin a special form of the grammar.
std::string call_name(const Expr& expr) {
    auto is_one_of = [&](std::initializer_list<std::string_view> words) {
        for (std::string_view word : words) {
            if (equal_ignoring_case(word, expr.name)) return true;
        }
        return false;
    };
    auto quoted = [&] {
        const std::string name = quote_identifier(expr.name);
        return name[0] == '`' ? name : "`" + name + "`";
    };
    if (expr.name == "CAST") return expr.args.size() == 2 && !expr.has_parameters ? expr.name : quoted();
    if (expr.name == "exists") {
        return expr.args.size() == 1 && expr.args[0]->is(ExprKind::Subquery) && !expr.has_parameters ? expr.name
                                                                                                     : quoted();
    }
    if (is_one_of({"TRIM", "LTRIM", "RTRIM", "DATE_ADD", "DATEADD", "TIMESTAMP_ADD", "TIMESTAMPADD", "DATE_SUB",
                   "DATESUB", "TIMESTAMP_SUB", "TIMESTAMPSUB", "DATE_DIFF", "TIMESTAMP_DIFF", "TIMESTAMPDIFF"})) {
        return quoted();
    }
    if (is_one_of({"SUBSTRING", "POSITION", "EXTRACT", "OVERLAY", "DATEDIFF"})) {
        const bool own = is_one_of({"DATEDIFF"}) ? expr.name == "dateDiff" : expr.name[0] >= 'a';
        const bool word_first = !expr.args.empty() && expr.args[0]->is(ExprKind::Identifier);
        const bool unit = expr.name == "dateDiff" && word_first && expr.args[0]->parts.size() == 1;
        const bool form = expr.name == "substring" && expr.args.empty();
        if (!own || unit || form || expr.has_parameters || expr.is_window ||
            expr.nulls_action != NullsAction::Default) {
            return quoted();
        }
        return expr.name;
    }
    return quote_identifier(expr.name);
}

}  // namespace

void Printer::call(const Expr& expr) {
    // quantile(0.5)(x)
    *this << call_name(expr) << "(";
    if (expr.has_parameters) {
        list(expr.parameters);
        *this << ")(";
    }
    // The brackets of exists(...) are the subquery's own.
    if (expr.name == "exists" && expr.args.size() == 1 && expr.args[0]->is(ExprKind::Subquery)) {
        out_.pop_back();
        bracketed_query(*expr.args[0]->query);
        out_.pop_back();
    } else if ((equal_ignoring_case(expr.name, "view") || equal_ignoring_case(expr.name, "viewExplain")) &&
               expr.args.size() == 1 && expr.args[0]->is(ExprKind::Subquery)) {
        out_.pop_back();
        bracketed_query(*expr.args[0]->query);
        out_.pop_back();
    } else {
        list(hide_secrets_ ? shown_arguments(expr) : expr.args);
    }
    if (!expr.settings.empty()) {
        *this << (expr.args.empty() ? "SETTINGS " : ", SETTINGS ");
        for (size_t i = 0; i < expr.settings.size(); ++i) {
            if (i > 0) out_ += ", ";
            *this << quote_identifier(expr.settings[i].first) << " = ";
            setting_value(expr.settings[i].first, expr.settings[i].second);
        }
    }
    out_ += ')';
    if (expr.nulls_action == NullsAction::Respect) *this << " RESPECT NULLS";
    if (expr.nulls_action == NullsAction::Ignore) *this << " IGNORE NULLS";
    if (!expr.is_window) return;
    *this << " OVER ";
    if (expr.window) {
        window_spec(*expr.window);
    } else {
        *this << quote_identifier(expr.window_name);
    }
}

void Printer::window_spec(const WindowSpec& spec) {
    out_ += '(';
    const size_t begin = out_.size();
    auto blank = [&] {
        if (out_.size() > begin) out_ += ' ';
    };
    // A parent called like the clause that may follow needs quotes.
    if (!spec.parent.empty()) {
        std::string name = quote_identifier(spec.parent);
        if (name[0] != '`') {
            for (std::string_view word : {"PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS"}) {
                if (equal_ignoring_case(name, word)) name = "`" + spec.parent + "`";
            }
        }
        *this << name;
    }
    if (!spec.partition_by.empty()) {
        blank();
        *this << "PARTITION BY ";
        list(spec.partition_by);
    }
    if (!spec.order_by.empty()) {
        blank();
        *this << "ORDER BY ";
        for (size_t i = 0; i < spec.order_by.size(); ++i) {
            if (i > 0) out_ += ", ";
            order_by_element(spec.order_by[i]);
        }
    }
    if (spec.has_frame) {
        blank();
        *this << (spec.frame_type == WindowSpec::FrameType::Rows     ? "ROWS"
                  : spec.frame_type == WindowSpec::FrameType::Groups ? "GROUPS"
                                                                     : "RANGE");
        *this << " BETWEEN ";
        frame_bound(spec.begin);
        *this << " AND ";
        frame_bound(spec.end);
    }
    out_ += ')';
}

void Printer::frame_bound(const FrameBound& bound) {
    if (bound.kind == FrameBound::Kind::CurrentRow) {
        *this << "CURRENT ROW";
        return;
    }
    if (bound.kind == FrameBound::Kind::Unbounded) {
        *this << "UNBOUNDED";
    } else {
        operand(*bound.offset);
    }
    *this << (bound.preceding ? " PRECEDING" : " FOLLOWING");
}

void Printer::order_by_element(const OrderByElement& element) {
    if (element.expr) {
        expr(*element.expr);
    } else {
        *this << "ALL";
    }
    *this << (element.descending ? " DESC" : " ASC");
    if (element.nulls_first) *this << (*element.nulls_first ? " NULLS FIRST" : " NULLS LAST");
    if (!element.collation.empty()) *this << " COLLATE " << quote_string(element.collation);
    if (!element.with_fill) return;
    *this << " WITH FILL";
    auto part = [&](std::string_view word, const ExprPtr& value) {
        if (!value) return;
        *this << word;
        expr(*value);
    };
    part(" FROM ", element.fill_from);
    part(" TO ", element.fill_to);
    part(" STEP ", element.fill_step);
    part(" STALENESS ", element.fill_staleness);
}

void Printer::setting_value(std::string_view name, const Literal& value) {
    if (hide_secrets_ && is_secret_name(name))
        *this << quote_string(kHidden);
    else
        literal(value);
}

void Printer::settings(const std::vector<SettingChange>& changes) {
    for (size_t i = 0; i < changes.size(); ++i) {
        if (i > 0) out_ += ", ";
        const std::string& name = changes[i].name;
        // A dotted name was written as words with dots.
        for (size_t begin = 0; begin <= name.size();) {
            const size_t dot = std::min(name.find('.', begin), name.size());
            *this << quote_identifier(std::string_view(name).substr(begin, dot - begin));
            if (dot < name.size()) out_ += '.';
            begin = dot + 1;
        }
        if (changes[i].name_alone) continue;
        *this << " = ";
        if (changes[i].is_default) {
            *this << "DEFAULT";
        } else {
            setting_value(name, changes[i].value);
        }
    }
}

// ---- asterisks

void Printer::columns(const Expr& expr) {
    for (const std::string& part : expr.parts) *this << quote_identifier(part) << ".";
    if (expr.is(ExprKind::Asterisk)) {
        out_ += '*';
    } else {
        *this << "COLUMNS(";
        if (expr.pattern) {
            *this << quote_string(*expr.pattern);
        } else {
            list(expr.args);
        }
        out_ += ')';
    }
    transformers(expr);
}

void Printer::transformers(const Expr& expr) {
    for (const ColumnsTransformer& transformer : expr.transformers) {
        switch (transformer.kind) {
            case ColumnsTransformer::Kind::Except: {
                *this << " EXCEPT " << (transformer.strict ? "STRICT " : "");
                if (transformer.except_pattern) {
                    *this << quote_string(*transformer.except_pattern);
                    break;
                }
                const bool several = transformer.except_names.size() > 1;
                if (several) out_ += '(';
                for (size_t i = 0; i < transformer.except_names.size(); ++i) {
                    if (i > 0) out_ += ", ";
                    *this << quote_identifier(transformer.except_names[i]);
                }
                if (several) out_ += ')';
                break;
            }
            case ColumnsTransformer::Kind::Replace:
                *this << " REPLACE " << (transformer.strict ? "STRICT " : "") << "(";
                for (size_t i = 0; i < transformer.replacements.size(); ++i) {
                    if (i > 0) out_ += ", ";
                    this->expr(*transformer.replacements[i].second);
                    *this << " AS " << quote_identifier(transformer.replacements[i].first);
                }
                out_ += ')';
                break;
            case ColumnsTransformer::Kind::Apply: {
                *this << " APPLY(";
                if (transformer.lambda) {
                    bare_expr(*transformer.lambda);
                } else {
                    *this << quote_identifier(transformer.function);
                    if (!transformer.parameters.empty()) {
                        out_ += '(';
                        list(transformer.parameters);
                        out_ += ')';
                    }
                }
                if (!transformer.column_name_prefix.empty())
                    *this << ", " << quote_string(transformer.column_name_prefix);
                out_ += ')';
                break;
            }
        }
    }
}

std::string format_expr(const Expr& expr, const PrintOptions& options) {
    Printer printer(options);
    printer.expr(expr);
    return printer.take();
}

}  // namespace firn::sql
