// JOIN: kinds and strictness, ON and USING, brought to the plan's joins.
#include <algorithm>

#include "firn/plan/analyzer_impl.h"
#include "firn/vector/builder.h"

namespace firn::plan::analysis {

/// One join under construction. Expressions are over the columns of left ++ right.
struct JoinBuilder {
    JoinBuilder(Scope& scope_, size_t left_width_) : scope(scope_), left_width(left_width_) {}
    Scope& scope;
    size_t left_width;
    std::unique_ptr<JoinNode> node = std::make_unique<JoinNode>();

    enum class Side : uint8_t { Neither, Left, Right, Both };
    Side side(const Expression& expression) const {
        bool left = false, right = false;
        for_each_column(expression,
                        [&](const Expression& column) { (column.index < left_width ? left : right) = true; });
        return left && right ? Side::Both : left ? Side::Left : right ? Side::Right : Side::Neither;
    }
    ExpressionPtr to_right(const ExpressionPtr& expression) const {
        std::vector<size_t> mapping;
        for_each_column(*expression, [&](const Expression& column) {
            if (mapping.size() <= column.index) mapping.resize(column.index + 1, kNoPlace);
            mapping[column.index] = column.index - left_width;
        });
        return remap_columns(expression, mapping);
    }
    void add_key(ExpressionPtr left, ExpressionPtr right) {
        left = scope.cast(left, strip_low_cardinality(left->type));
        right = scope.cast(right, strip_low_cardinality(right->type));
        if (!same_type(left->type, right->type)) {
            TypePtr type;
            try {
                type = functions::common_type(std::vector<TypePtr>{left->type, right->type});
            } catch (const Error& error) {
                fail(ErrorCode::NO_COMMON_TYPE, "Keys of JOIN have no common type: {}", error.message());
            }
            left = scope.cast(left, type);
            right = scope.cast(right, type);
        }
        node->left_keys.push_back(std::move(left));
        node->right_keys.push_back(to_right(right));
    }
    bool try_equality(const Expression& conjunct) {
        if (conjunct.kind != Expression::Kind::Call || conjunct.arguments.size() != 2) return false;
        const std::string& name = conjunct.function->name();
        if (name != "equals") return false;
        const Side a = side(*conjunct.arguments[0]), b = side(*conjunct.arguments[1]);
        if (a == Side::Left && b == Side::Right)
            add_key(conjunct.arguments[0], conjunct.arguments[1]);
        else if (a == Side::Right && b == Side::Left)
            add_key(conjunct.arguments[1], conjunct.arguments[0]);
        else
            return false;
        return true;
    }
    bool try_inequality(const Expression& conjunct) {
        using Inequality = JoinNode::AsofInequality;
        if (conjunct.kind != Expression::Kind::Call || conjunct.arguments.size() != 2) return false;
        const std::string& name = conjunct.function->name();
        Inequality inequality = name == "greaterOrEquals" ? Inequality::GreaterOrEquals
                                : name == "greater"       ? Inequality::Greater
                                : name == "lessOrEquals"  ? Inequality::LessOrEquals
                                : name == "less"          ? Inequality::Less
                                                          : Inequality::None;
        if (inequality == Inequality::None) return false;
        const Side a = side(*conjunct.arguments[0]), b = side(*conjunct.arguments[1]);
        if (!((a == Side::Left && b == Side::Right) || (a == Side::Right && b == Side::Left))) return false;
        if (node->asof != Inequality::None)
            fail(ErrorCode::INVALID_JOIN_ON_EXPRESSION, "ASOF JOIN takes exactly one inequality in its ON condition");
        asof_left = a == Side::Left ? conjunct.arguments[0] : conjunct.arguments[1];
        asof_right = a == Side::Left ? conjunct.arguments[1] : conjunct.arguments[0];
        if (a == Side::Right)
            inequality = inequality == Inequality::GreaterOrEquals ? Inequality::LessOrEquals
                         : inequality == Inequality::Greater       ? Inequality::Less
                         : inequality == Inequality::LessOrEquals  ? Inequality::GreaterOrEquals
                                                                   : Inequality::Greater;
        node->asof = inequality;
        return true;
    }
    ExpressionPtr asof_left, asof_right;
};

namespace {

std::vector<OutputColumn> joined_output(const Node& left, const Node& right) {
    std::vector<OutputColumn> output = left.output;
    output.insert(output.end(), right.output.begin(), right.output.end());
    return output;
}

ExpressionPtr one() { return make_constant(make_value<uint8_t>(make_type(TypeId::UInt8), 1)); }

/// The child's columns and one more, 1 in every row: where it is not 1 above an outer join, the side was missing.
NodePtr with_marker(NodePtr child) {
    std::vector<ExpressionPtr> expressions;
    std::vector<std::string> names;
    for (size_t i = 0; i < child->output.size(); ++i) {
        expressions.push_back(make_column(i, child->output[i].type));
        names.push_back(child->output[i].name);
    }
    expressions.push_back(one());
    names.push_back("matched");
    return make_project(std::move(child), std::move(expressions), std::move(names));
}

struct JoinShape {
    bool swapped = false;  // right kinds of SEMI, ANTI and ANY: built from the other side
    bool semi = false, anti = false, any = false, asof = false;
    sql::JoinKind kind = sql::JoinKind::Inner;
};

JoinShape shape_of(const sql::FromElement& element, const std::string& default_strictness) {
    using Strictness = sql::JoinStrictness;
    JoinShape shape;
    shape.kind = element.join_kind;
    shape.semi = element.strictness == Strictness::Semi;
    shape.anti = element.strictness == Strictness::Anti;
    shape.any = element.strictness == Strictness::Any ||
                (element.strictness == Strictness::Unspecified && default_strictness == "ANY");
    shape.asof = element.strictness == Strictness::Asof;
    if ((shape.semi || shape.anti) && shape.kind == sql::JoinKind::Inner) shape.kind = sql::JoinKind::Left;
    if ((shape.semi || shape.anti) && shape.kind == sql::JoinKind::Full)
        fail(ErrorCode::NOT_IMPLEMENTED, "SEMI and ANTI JOIN are LEFT or RIGHT");
    shape.swapped = shape.kind == sql::JoinKind::Right && (shape.semi || shape.anti || shape.any);
    if (shape.asof && shape.kind != sql::JoinKind::Inner && shape.kind != sql::JoinKind::Left)
        fail(ErrorCode::NOT_IMPLEMENTED, "ASOF JOIN is INNER or LEFT");
    return shape;
}

/// The join of node->children as `shape` wants it, giving left ++ right columns always.
NodePtr finish_join(JoinBuilder builder, NodePtr left, NodePtr right, const JoinShape& shape, bool use_nulls,
                    const functions::FunctionContext& context) {
    auto node = std::move(builder.node);
    const std::vector<OutputColumn> plain = joined_output(*left, *right);
    const size_t left_width = left->output.size();
    std::vector<OutputColumn> wanted = plain;
    const bool nulls_left = use_nulls && (shape.kind == sql::JoinKind::Right || shape.kind == sql::JoinKind::Full);
    const bool nulls_right = use_nulls && (shape.kind == sql::JoinKind::Left || shape.kind == sql::JoinKind::Full);
    for (size_t i = 0; i < wanted.size(); ++i)
        if (i < left_width ? nulls_left : nulls_right) wanted[i].type = make_nullable(wanted[i].type);
    if (shape.swapped) {
        std::swap(left, right);
        std::swap(node->left_keys, node->right_keys);
        std::vector<size_t> mapping(plain.size());
        for (size_t i = 0; i < plain.size(); ++i)
            mapping[i] = i < left_width ? i + plain.size() - left_width : i - left_width;
        for (ExpressionPtr& conjunct : node->residual) conjunct = remap_columns(conjunct, mapping);
    }
    const size_t first_width = left->output.size();  // of the side that is probed
    node->use_nulls = use_nulls;
    if (shape.any && shape.kind == sql::JoinKind::Inner && !node->left_keys.empty()) {
        // One row of a key from either side.
        auto distinct = std::make_unique<DistinctNode>();
        distinct->output = left->output;
        distinct->keys = node->left_keys;
        distinct->children.push_back(std::move(left));
        left = std::move(distinct);
    }
    const bool keyless = node->left_keys.empty() && node->residual.empty();
    switch (shape.kind) {
        case sql::JoinKind::Inner:
            node->join = keyless ? JoinKind::Cross : JoinKind::Inner;
            break;
        case sql::JoinKind::Left:
            node->join = JoinKind::Left;
            break;
        case sql::JoinKind::Right:
            node->join = shape.swapped ? JoinKind::Left : JoinKind::Right;
            break;
        case sql::JoinKind::Full:
            node->join = JoinKind::Full;
            break;
        default:
            node->join = JoinKind::Cross;
            break;
    }
    if (shape.any || shape.semi) node->strictness = JoinStrictness::Any;
    if (shape.asof) node->strictness = JoinStrictness::Asof;
    if (shape.anti) {
        node->join = JoinKind::LeftAnti;
        node->output = left->output;
        node->children.push_back(std::move(left));
        node->children.push_back(std::move(right));
        NodePtr joined = std::move(node);
        std::vector<ExpressionPtr> expressions;
        std::vector<std::string> names;
        for (size_t i = 0; i < wanted.size(); ++i) {
            const bool from_probed = shape.swapped ? i >= left_width : i < left_width;
            if (from_probed) {
                const size_t place = shape.swapped ? i - left_width : i;
                ExpressionPtr column = make_column(place, joined->output[place].type);
                expressions.push_back(std::move(column));
            } else {
                expressions.push_back(make_constant(Vector::defaults(wanted[i].type, 1)));
            }
            names.push_back(wanted[i].name);
        }
        return make_project(std::move(joined), std::move(expressions), std::move(names));
    }
    if (shape.semi) right = with_marker(std::move(right));
    node->output = joined_output(*left, *right);
    for (size_t i = 0; i < node->output.size(); ++i) {
        const bool is_probed = i < first_width;
        const bool nullable = node->join == JoinKind::Full    ? use_nulls
                              : node->join == JoinKind::Left  ? use_nulls && !is_probed
                              : node->join == JoinKind::Right ? use_nulls && is_probed
                                                              : false;
        if (nullable && !shape.semi) node->output[i].type = make_nullable(node->output[i].type);
    }
    if (shape.semi) node->use_nulls = false;
    const size_t total = node->output.size();
    node->children.push_back(std::move(left));
    node->children.push_back(std::move(right));
    NodePtr joined = std::move(node);
    if (shape.semi)
        joined = make_filter(std::move(joined),
                             call("equals", {make_column(total - 1, make_type(TypeId::UInt8)), one()}, context));
    if (!shape.swapped && !shape.semi) return joined;
    std::vector<ExpressionPtr> expressions;
    std::vector<std::string> names;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const size_t place = !shape.swapped ? i : i < left_width ? i + wanted.size() - left_width : i - left_width;
        ExpressionPtr column = make_column(place, joined->output[place].type);
        if (!same_type(column->type, wanted[i].type))
            column =
                call("CAST", {column, make_constant(literal_value(sql::Literal::from_string(wanted[i].type->name())))},
                     context);
        expressions.push_back(std::move(column));
        names.push_back(wanted[i].name);
    }
    return make_project(std::move(joined), std::move(expressions), std::move(names));
}

}  // namespace

void Scope::resolve_join(const sql::FromElement& element) {
    if (element.join_kind == sql::JoinKind::Paste) fail(ErrorCode::NOT_IMPLEMENTED, "PASTE JOIN is not supported");
    TableRows rows = resolve_table(element.table);
    const JoinShape shape = shape_of(element, setting("join_default_strictness").value_or("ALL"));
    const bool use_nulls = flag("join_use_nulls", false);
    const bool full_using = shape.kind == sql::JoinKind::Full && element.has_using;
    std::optional<size_t> marker;
    if (full_using) {
        from = with_marker(std::move(from));
        marker = add_base_slot(from->output.back(), from->output.size() - 1);
    }
    const size_t table = tables.size(), left_width = from->output.size(), left_columns = columns.size();
    tables.push_back(rows.named);
    for (size_t i = 0; i < rows.plan->output.size(); ++i) {
        const size_t slot = add_base_slot(rows.plan->output[i], left_width + i);
        columns.push_back(
            {rows.plan->output[i].name, column(slot), table, i < rows.hidden.size() && rows.hidden[i], false});
    }
    JoinBuilder builder(*this, left_width);

    struct Merged {
        size_t left, right;  // of `columns`
        TypePtr type;
    };
    std::vector<Merged> merged;
    std::vector<std::string> using_names;
    if (element.has_using) {
        for (const sql::ExprPtr& expr : element.using_columns) {
            if (!expr->is(sql::ExprKind::Identifier))
                fail(ErrorCode::UNSUPPORTED_METHOD, "JOIN USING takes names of columns, not {}",
                     sql::column_name(*expr));
            using_names.push_back(expr->parts.back());
        }
        if (element.using_all)
            for (size_t i = left_columns; i < columns.size(); ++i)
                for (size_t j = 0; j < left_columns; ++j)
                    if (columns[j].name == columns[i].name && !columns[j].merged && !columns[i].hidden)
                        using_names.push_back(columns[i].name);
    }
    for (size_t k = 0; k < using_names.size(); ++k) {
        const std::string& name = using_names[k];
        std::optional<size_t> left, right;
        for (size_t i = 0; i < columns.size(); ++i) {
            if (columns[i].name != name || columns[i].merged) continue;
            if (i < left_columns) {
                if (left && tables.size() > 2)
                    fail(ErrorCode::AMBIGUOUS_IDENTIFIER, "JOIN USING column {} is ambiguous on the left side", name);
                if (!left) left = i;
            } else if (!right) {
                right = i;
            }
        }
        if (!left || !right)
            fail(ErrorCode::UNKNOWN_IDENTIFIER, "JOIN USING identifier '{}' cannot be found in the {} table", name,
                 left ? "right" : "left");
        const ExpressionPtr left_value = lower_from(columns[*left].expression),
                            right_value = lower_from(columns[*right].expression);
        if (shape.asof && k + 1 == using_names.size()) {
            builder.node->asof = JoinNode::AsofInequality::GreaterOrEquals;
            builder.asof_left = left_value;
            builder.asof_right = right_value;
        } else {
            builder.add_key(left_value, right_value);
        }
        TypePtr type = columns[*left].expression->type;
        if (!same_type(type, columns[*right].expression->type))
            type = functions::common_type(std::vector<TypePtr>{type, columns[*right].expression->type});
        merged.push_back({*left, *right, type});
    }
    if (element.on) {
        const bool comma = shape.kind == sql::JoinKind::Cross || shape.kind == sql::JoinKind::Comma;
        if (comma) fail(ErrorCode::SYNTAX_ERROR, "CROSS JOIN takes no ON");
        std::vector<ExpressionPtr> conjuncts;
        const ExpressionPtr condition = resolve(element.on, Clause::JoinOn);
        const TypeId id = unwrap(condition->type)->id();
        if (!is_number(id) && id != TypeId::Nothing)
            fail(ErrorCode::INVALID_JOIN_ON_EXPRESSION, "The condition of JOIN has type {}, not UInt8",
                 condition->type->name());
        split_conjuncts(lower_from(condition), conjuncts);
        for (const ExpressionPtr& conjunct : conjuncts) {
            if (builder.try_equality(*conjunct)) continue;
            if (shape.asof && builder.try_inequality(*conjunct)) continue;
            const bool always =
                conjunct->kind == Expression::Kind::Constant && !selected_rows(conjunct->constant).empty();
            if (!always) builder.node->residual.push_back(conjunct);
        }
        if (shape.asof && !builder.node->residual.empty())
            fail(ErrorCode::INVALID_JOIN_ON_EXPRESSION,
                 "ASOF JOIN takes equalities and one inequality in its ON condition");
    } else if (!element.has_using && shape.kind != sql::JoinKind::Cross && shape.kind != sql::JoinKind::Comma) {
        fail(ErrorCode::INVALID_JOIN_ON_EXPRESSION, "JOIN has neither ON nor USING");
    }
    if (shape.asof) {
        if (!builder.asof_left)
            fail(ErrorCode::INVALID_JOIN_ON_EXPRESSION, "ASOF JOIN needs one inequality in its ON condition");
        if (builder.node->left_keys.empty())
            fail(ErrorCode::NOT_IMPLEMENTED, "ASOF JOIN needs at least one equality beside the inequality");
        builder.add_key(builder.asof_left, builder.asof_right);
    }
    from = finish_join(std::move(builder), std::move(from), std::move(rows.plan), shape, use_nulls, functions());

    // With join_use_nulls types have changed: slots and the columns over them follow.
    const auto retype = [&](const ExpressionPtr& expression) {
        return transform(
            expression,
            [&](const ExpressionPtr& node) -> ExpressionPtr {
                if (node->kind != Expression::Kind::Column || same_type(node->type, slots[node->index].type))
                    return nullptr;
                return column(node->index);
            },
            functions());
    };
    for (size_t i = 0; i < slots.size(); ++i)
        if (i < from_places.size() && from_places[i] != kNoPlace) slots[i].type = from->output[from_places[i]].type;
    for (ScopeColumn& scope_column : columns) scope_column.expression = retype(scope_column.expression);

    for (const Merged& pair : merged) {
        ScopeColumn &left = columns[pair.left], &right = columns[pair.right];
        const auto as_type = [&](const ExpressionPtr& value) {
            return cast(value, accepts_null(*value->type) ? make_nullable(pair.type) : pair.type);
        };
        ExpressionPtr value;
        if (shape.kind == sql::JoinKind::Right)
            value = as_type(right.expression);
        else if (marker)
            value = call("if", {call("equals", {call("ifNull", {column(*marker), make_constant(Vector::defaults(
                                                                                     make_type(TypeId::UInt8), 1))}),
                                                one()}),
                                as_type(left.expression), as_type(right.expression)});
        else
            value = as_type(left.expression);
        left.expression = as_type(left.expression);
        right.expression = as_type(right.expression);
        const std::string name = left.name;
        const bool again = left.table == kNoPlace;
        if (again) {
            left.expression = value;
        } else {
            left.merged = true;
        }
        right.merged = true;
        if (!again) {
            // At the place of the left column; positions of `merged` behind it move by one.
            columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(pair.left),
                           {name, value, kNoPlace, false, false});
            for (Merged& other : merged) {
                if (other.left >= pair.left && &other != &pair) ++other.left;
                if (&other != &pair) ++other.right;
            }
        }
    }
}

}  // namespace firn::plan::analysis
