// SELECT and set operations as text.
#include "firn/sql/printer_impl.h"

namespace firn::sql {

void Printer::line() {
    if (!multi_line_) {
        if (!out_.empty() && out_.back() != '(') out_ += ' ';
        return;
    }
    out_ += '\n';
    out_.append(indent_ * 4, ' ');
}

void Printer::bracketed_query(const Query& query) {
    out_ += '(';
    if (multi_line_) {
        ++indent_;
        line();
    }
    this->query(query);
    if (multi_line_) {
        --indent_;
        line();
    }
    out_ += ')';
}

namespace {

std::string_view operator_text(SetOperator op) {
    switch (op) {
        case SetOperator::None:
            return "";
        case SetOperator::UnionDefault:
            return "UNION";
        case SetOperator::UnionAll:
            return "UNION ALL";
        case SetOperator::UnionDistinct:
            return "UNION DISTINCT";
        case SetOperator::IntersectDefault:
            return "INTERSECT";
        case SetOperator::IntersectAll:
            return "INTERSECT ALL";
        case SetOperator::IntersectDistinct:
            return "INTERSECT DISTINCT";
        case SetOperator::ExceptDefault:
            return "EXCEPT";
        case SetOperator::ExceptAll:
            return "EXCEPT ALL";
        case SetOperator::ExceptDistinct:
            return "EXCEPT DISTINCT";
    }
    return "";
}

bool is_intersect(SetOperator op) {
    return op == SetOperator::IntersectDefault || op == SetOperator::IntersectAll ||
           op == SetOperator::IntersectDistinct;
}

}  // namespace

void Printer::set_operand(const Query& query, bool first, SetOperator outer) {
    const bool tighter = is_intersect(query.op) && !is_intersect(outer);
    const bool brackets = query.op != SetOperator::None && (query.parenthesized || (!first && !tighter));
    if (!brackets) {
        this->query(query);
        return;
    }
    bracketed_query(query);
}

void Printer::query(const Query& query) {
    if (query.op == SetOperator::None) {
        select(*query.select);
        return;
    }
    for (size_t i = 0; i < query.operands.size(); ++i) {
        if (i > 0) {
            line();
            *this << operator_text(query.op);
            line();
        }
        set_operand(*query.operands[i], i == 0, query.op);
    }
}

void Printer::with(const SelectQuery& select) {
    if (select.with.empty()) return;
    *this << (select.with_recursive ? "WITH RECURSIVE" : "WITH");
    // Unlike other lists each element has its own line, even a single one.
    ++indent_;
    for (size_t i = 0; i < select.with.size(); ++i) {
        if (i > 0) out_ += ',';
        line();
        const WithElement& element = select.with[i];
        if (element.expr) {
            expr(*element.expr);
            continue;
        }
        *this << quote_identifier(element.name);
        if (!element.column_names.empty()) {
            out_ += '(';
            for (size_t c = 0; c < element.column_names.size(); ++c) {
                if (c > 0) out_ += ", ";
                *this << quote_identifier(element.column_names[c]);
            }
            out_ += ')';
        }
        *this << (element.materialized ? " AS MATERIALIZED" : " AS");
        line();
        bracketed_query(*element.query);
    }
    --indent_;
    line();
}

void Printer::select(const SelectQuery& select) {
    with(select);
    *this << "SELECT";
    if (select.distinct) *this << " DISTINCT";
    items(select.select, [&](const ExprPtr& item) { expr(*item); });
    from(select);
    auto clause = [&](std::string_view word, const ExprPtr& condition) {
        if (!condition) return;
        line();
        *this << word;
        expr(*condition);
    };
    clause("PREWHERE ", select.prewhere);
    clause("WHERE ", select.where);
    group_by(select);
    clause("HAVING ", select.having);
    if (!select.windows.empty()) {
        line();
        *this << "WINDOW";
        items(select.windows, [&](const auto& window) {
            *this << quote_identifier(window.first) << " AS ";
            window_spec(*window.second);
        });
    }
    clause("QUALIFY ", select.qualify);
    order_and_limit(select);
    if (!select.settings.empty()) {
        line();
        *this << "SETTINGS ";
        settings(select.settings);
    }
}

void Printer::group_by(const SelectQuery& select) {
    auto modifier = [&](std::string_view text) {
        const bool indented = !select.group_by.empty() || !select.grouping_sets.empty() || select.group_by_all;
        if (indented) ++indent_;
        line();
        if (indented) --indent_;
        *this << text;
    };
    if (select.group_by_all) {
        line();
        *this << "GROUP BY ALL";
    } else if (select.group_by_modifier == GroupByModifier::GroupingSets) {
        line();
        *this << "GROUP BY";
        ++indent_;
        line();
        *this << "GROUPING SETS (";
        ++indent_;
        for (size_t i = 0; i < select.grouping_sets.size(); ++i) {
            if (i > 0) out_ += ',';
            line();
            out_ += '(';
            list(select.grouping_sets[i]);
            out_ += ')';
        }
        indent_ -= 2;
        out_ += ')';
    } else if (!select.group_by.empty()) {
        line();
        *this << "GROUP BY";
        items(select.group_by, [&](const ExprPtr& item) { expr(*item); });
    }
    if (select.group_by_modifier == GroupByModifier::Rollup) modifier("WITH ROLLUP");
    if (select.group_by_modifier == GroupByModifier::Cube) modifier("WITH CUBE");
    if (select.with_totals) modifier("WITH TOTALS");
}

void Printer::order_and_limit(const SelectQuery& select) {
    if (!select.order_by.empty()) {
        line();
        *this << "ORDER BY";
        items(select.order_by, [&](const OrderByElement& element) { order_by_element(element); });
        if (select.has_interpolate) {
            line();
            *this << "INTERPOLATE";
            if (!select.interpolate.empty()) *this << " (";
            for (size_t i = 0; i < select.interpolate.size(); ++i) {
                if (i > 0) out_ += ", ";
                *this << quote_identifier(select.interpolate[i].column) << " AS ";
                expr(*select.interpolate[i].expr);
            }
            if (!select.interpolate.empty()) out_ += ')';
        }
    }
    if (select.limit_by_length) {
        line();
        *this << "LIMIT ";
        if (select.limit_by_offset) {
            expr(*select.limit_by_offset);
            *this << ", ";
        }
        expr(*select.limit_by_length);
        *this << " BY";
        if (select.limit_by_all) {
            *this << " ALL";
        } else {
            items(select.limit_by, [&](const ExprPtr& item) { expr(*item); });
        }
    }
    if (select.limit) {
        line();
        *this << "LIMIT ";
        if (select.offset) {
            expr(*select.offset);
            *this << ", ";
        }
        expr(*select.limit);
        if (select.limit_with_ties) *this << " WITH TIES";
    } else if (select.offset) {
        line();
        *this << "OFFSET ";
        expr(*select.offset);
    }
}

// ---- FROM

void Printer::from(const SelectQuery& select) {
    for (const FromElement& element : select.from) {
        switch (element.kind) {
            case FromElement::Kind::First:
                line();
                *this << "FROM";
                table_expr(element.table);
                break;
            case FromElement::Kind::Join:
                join(element);
                break;
            case FromElement::Kind::ArrayJoin:
                line();
                *this << (element.left_array_join ? "LEFT ARRAY JOIN" : "ARRAY JOIN");
                items(element.array_join, [&](const ExprPtr& item) { expr(*item); });
                break;
        }
    }
}

void Printer::join(const FromElement& element) {
    if (element.join_kind == JoinKind::Comma) {
        out_ += ',';
        table_expr(element.table);
        return;
    }
    line();
    if (element.global) *this << "GLOBAL ";
    switch (element.strictness) {
        case JoinStrictness::Unspecified:
            break;
        case JoinStrictness::Any:
            *this << "ANY ";
            break;
        case JoinStrictness::All:
            *this << "ALL ";
            break;
        case JoinStrictness::Asof:
            *this << "ASOF ";
            break;
        case JoinStrictness::Semi:
            *this << "SEMI ";
            break;
        case JoinStrictness::Anti:
            *this << "ANTI ";
            break;
    }
    switch (element.join_kind) {
        case JoinKind::Left:
            *this << "LEFT JOIN";
            break;
        case JoinKind::Right:
            *this << "RIGHT JOIN";
            break;
        case JoinKind::Full:
            *this << "FULL OUTER JOIN";
            break;
        case JoinKind::Cross:
            *this << "CROSS JOIN";
            break;
        case JoinKind::Paste:
            *this << "PASTE JOIN";
            break;
        case JoinKind::Inner:
        case JoinKind::Comma:
            *this << "INNER JOIN";
            break;
    }
    table_expr(element.table);
    if (element.on) {
        *this << " ON ";
        expr(*element.on);
    } else if (element.has_using) {
        *this << " USING (";
        if (element.using_all) {
            out_ += '*';
        } else {
            list(element.using_columns);
        }
        out_ += ')';
    }
}

void Printer::table_expr(const TableExpr& table) {
    switch (table.kind) {
        case TableExpr::Kind::Table: {
            out_ += ' ';
            for (size_t i = 0; i < table.parts.size(); ++i) {
                if (i > 0) out_ += '.';
                *this << quote_identifier(table.parts[i]);
            }
            break;
        }
        case TableExpr::Kind::Function:
            out_ += ' ';
            // VALUES in brackets: the bracket is printed by the query around it.
            call(*table.function);
            break;
        case TableExpr::Kind::Parameter:
            out_ += ' ';
            expr(*table.function);
            break;
        case TableExpr::Kind::Subquery:
            line();
            bracketed_query(*table.query);
            break;
    }
    if (!table.alias.empty()) *this << " AS " << quote_identifier(table.alias);
    if (!table.column_aliases.empty()) {
        out_ += '(';
        for (size_t i = 0; i < table.column_aliases.size(); ++i) {
            if (i > 0) out_ += ", ";
            *this << quote_identifier(table.column_aliases[i]);
        }
        out_ += ')';
    }
    if (table.final) *this << " FINAL";
    if (table.sample) {
        line();
        *this << "SAMPLE ";
        operand_of_sample(*table.sample);
        if (table.sample_offset) {
            *this << " OFFSET ";
            operand_of_sample(*table.sample_offset);
        }
    }
}

/// A ratio needs no brackets, anything looser does.
void Printer::operand_of_sample(const Expr& ratio) {
    if (ratio.is_function("divide")) {
        expr(ratio);
    } else {
        operand(ratio);
    }
}

std::string format_query(const Query& query, const PrintOptions& options) {
    Printer printer(options);
    printer.query(query);
    return printer.take();
}

}  // namespace firn::sql
