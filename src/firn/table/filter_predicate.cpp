#include "firn/table/filter_predicate.h"

#include <cmath>

#include "firn/base/error.h"
#include "firn/table/iceberg_types.h"
#include "firn/table/monotonic_range.h"
#include "firn/vector/row_ops.h"

namespace firn::table {
namespace {

using iceberg::Predicate;
using iceberg::PredicateOp;
using iceberg::PredicatePtr;
using plan::Expression;

FilterPredicate maybe() { return {Predicate::constant(Predicate::Kind::Maybe), false}; }

PredicateOp flipped(PredicateOp op) {
    switch (op) {
        case PredicateOp::Lt:
            return PredicateOp::Gt;
        case PredicateOp::LtEq:
            return PredicateOp::GtEq;
        case PredicateOp::Gt:
            return PredicateOp::Lt;
        case PredicateOp::GtEq:
            return PredicateOp::LtEq;
        default:
            return op;
    }
}

PredicateOp negated(PredicateOp op) {
    switch (op) {
        case PredicateOp::Lt:
            return PredicateOp::GtEq;
        case PredicateOp::LtEq:
            return PredicateOp::Gt;
        case PredicateOp::Gt:
            return PredicateOp::LtEq;
        case PredicateOp::GtEq:
            return PredicateOp::Lt;
        case PredicateOp::Eq:
            return PredicateOp::NotEq;
        case PredicateOp::NotEq:
            return PredicateOp::Eq;
        case PredicateOp::In:
            return PredicateOp::NotIn;
        case PredicateOp::NotIn:
            return PredicateOp::In;
        case PredicateOp::IsNull:
            return PredicateOp::NotNull;
        case PredicateOp::NotNull:
            return PredicateOp::IsNull;
        case PredicateOp::StartsWith:
            return PredicateOp::NotStartsWith;
        case PredicateOp::NotStartsWith:
            return PredicateOp::StartsWith;
        default:
            return op;
    }
}

std::optional<PredicateOp> comparison(std::string_view name) {
    if (name == "equals") return PredicateOp::Eq;
    if (name == "notEquals") return PredicateOp::NotEq;
    if (name == "less") return PredicateOp::Lt;
    if (name == "lessOrEquals") return PredicateOp::LtEq;
    if (name == "greater") return PredicateOp::Gt;
    if (name == "greaterOrEquals") return PredicateOp::GtEq;
    return std::nullopt;
}

bool is_float(const iceberg::NestedField& field) {
    return field.type->kind == iceberg::TypeKind::Float || field.type->kind == iceberg::TypeKind::Double;
}

/// A longer list is not asked one by one.
constexpr size_t kMaxElements = 100;

class Extractor {
public:
    explicit Extractor(const FieldOfColumn& fields) : fields_(fields) {}

    FilterPredicate extract(const Expression& filter, bool negate) {
        if (filter.kind == Expression::Kind::Constant) return constant(filter, negate);
        if (filter.kind == Expression::Kind::Column) return boolean_column(filter, negate);
        if (filter.kind != Expression::Kind::Call) return maybe();
        const std::string& name = filter.function->name();
        if (name == "and" || name == "or") return connective(filter, name == "and", negate);
        if (name == "not") return extract(*filter.arguments[0], !negate);
        if (name == "isNull" || name == "isNotNull") return null_test(filter, (name == "isNull") != negate);
        if (name == "isNaN") return nan_test(filter, negate);
        if (const auto op = comparison(name)) return compare(filter, *op, negate);
        if (name == "in" || name == "notIn") return membership(filter, (name == "in") != negate);
        if (name == "like" || name == "notLike") return like(filter, (name == "like") != negate);
        if (name == "startsWith") return starts_with(filter, negate);
        return maybe();
    }

private:
    /// The field that a column, or an element of a struct column, is. Only elements that are NULL where the struct is: a
    /// required one shows a default there, which no bound covers.
    const iceberg::NestedField* field_of(const Expression& expression) const {
        if (expression.kind == Expression::Kind::Column) return fields_(expression.index);
        if (expression.kind != Expression::Kind::Call || expression.function->name() != "tupleElement") return nullptr;
        if (expression.arguments.size() != 2 || expression.arguments[1]->kind != Expression::Kind::Constant)
            return nullptr;
        const auto* parent = field_of_struct(*expression.arguments[0]);
        if (!parent) return nullptr;
        const auto* element = element_of(*parent, *expression.arguments[1]->constant);
        return element && !element->required && element->type->is_primitive() ? element : nullptr;
    }
    const iceberg::NestedField* field_of_struct(const Expression& expression) const {
        const iceberg::NestedField* field = nullptr;
        if (expression.kind == Expression::Kind::Column) {
            field = fields_(expression.index);
        } else if (expression.kind == Expression::Kind::Call && expression.function->name() == "tupleElement" &&
                   expression.arguments.size() == 2 && expression.arguments[1]->kind == Expression::Kind::Constant) {
            if (const auto* parent = field_of_struct(*expression.arguments[0]))
                field = element_of(*parent, *expression.arguments[1]->constant);
        }
        return field && field->type->is_struct() ? field : nullptr;
    }
    static const iceberg::NestedField* element_of(const iceberg::NestedField& parent, const Vector& which) {
        const TypeId id = unwrap(which.type())->id();
        const Vector& flat = which.flat_base();
        if (id == TypeId::String) {
            const std::string_view name = flat.values<StringRef>()[0].view();
            for (const auto& field : parent.type->fields)
                if (field.name == name) return &field;
        } else if (id == TypeId::UInt8) {
            const size_t place = flat.values<uint8_t>()[0];
            if (place >= 1 && place <= parent.type->fields.size()) return &parent.type->fields[place - 1];
        }
        return nullptr;
    }

    static FilterPredicate constant(const Expression& filter, bool negate) {
        const bool null = filter.constant->is_null(0) || unwrap(filter.type)->id() == TypeId::Nothing;
        const bool passes = !null && (selected_rows(filter.constant).empty() == negate);
        return {Predicate::constant(passes ? Predicate::Kind::True : Predicate::Kind::False), true};
    }

    FilterPredicate boolean_column(const Expression& column, bool negate) {
        const auto* field = field_of(column);
        if (!field || field->type->kind != iceberg::TypeKind::Boolean) return maybe();
        const auto value = iceberg::Literal::of(field->type, iceberg::Datum::boolean(!negate));
        return {Predicate::term(PredicateOp::Eq, field->id, {value}), true};
    }

    FilterPredicate connective(const Expression& filter, bool conjunction, bool negate) {
        std::vector<PredicatePtr> children;
        bool exact = true;
        for (const auto& argument : filter.arguments) {
            FilterPredicate child = extract(*argument, negate);
            exact = exact && child.exact;
            children.push_back(std::move(child.predicate));
        }
        if (conjunction != negate) return {Predicate::conjunction(std::move(children)), exact};
        return {Predicate::disjunction(std::move(children)), exact};
    }

    FilterPredicate null_test(const Expression& filter, bool is_null) {
        const auto* field = field_of(*filter.arguments[0]);
        if (!field || !field->type->is_primitive()) return maybe();
        return {Predicate::term(is_null ? PredicateOp::IsNull : PredicateOp::NotNull, field->id), true};
    }

    FilterPredicate nan_test(const Expression& filter, bool negate) {
        const auto* field = field_of(*filter.arguments[0]);
        if (!field || !is_float(*field) || negate) return maybe();
        return {Predicate::term(PredicateOp::IsNaN, field->id), true};
    }

    FilterPredicate compare(const Expression& filter, PredicateOp op, bool negate) {
        const Expression* column = filter.arguments[0].get();
        const Expression* value = filter.arguments[1].get();
        if (column->kind == Expression::Kind::Constant) {
            std::swap(column, value);
            op = flipped(op);
        }
        if (value->kind != Expression::Kind::Constant) return maybe();
        if (value->constant->is_null(0) || unwrap(value->type)->id() == TypeId::Nothing)
            return {Predicate::constant(Predicate::Kind::False),
                    true};  // comparing with NULL gives NULL, not(NULL) too
        if (const auto* field = field_of(*column)) return compare_column(*field, op, *value->constant, negate);
        return compare_function(*column, negate ? negated(op) : op, *value->constant);
    }

    /// not(x < v) is x >= v, or x is NaN.
    static FilterPredicate term_or_nan(const iceberg::NestedField& field, PredicateOp op, iceberg::Literal value,
                                       bool negate) {
        auto term = Predicate::term(negate ? negated(op) : op, field.id, {std::move(value)});
        const bool ordering =
            op == PredicateOp::Lt || op == PredicateOp::LtEq || op == PredicateOp::Gt || op == PredicateOp::GtEq;
        if (negate && is_float(field) && ordering)
            return {Predicate::disjunction({std::move(term), Predicate::term(PredicateOp::IsNaN, field.id)}), true};
        return {std::move(term), true};
    }

    FilterPredicate compare_column(const iceberg::NestedField& field, PredicateOp op, const Vector& value,
                                   bool negate) {
        const auto bounds = column_values(field, value);
        if (!bounds) return maybe();
        // Bounds are in the order of bytes, which is not SQL's order of UUIDs.
        if (field.type->kind == iceberg::TypeKind::Uuid && op != PredicateOp::Eq && op != PredicateOp::NotEq)
            return maybe();
        if (bounds->exact) return term_or_nan(field, op, bounds->exact.value(), negate);
        if (bounds->approximate) return approximate(field, negate ? negated(op) : op, *bounds);
        // The constant falls between two values of the column's type, or beyond them all.
        switch (op) {
            case PredicateOp::Eq:
                return never(field, negate);
            case PredicateOp::NotEq:
                return never(field, !negate);
            case PredicateOp::Lt:
            case PredicateOp::LtEq:
                if (!bounds->below) return never(field, negate);
                return term_or_nan(field, PredicateOp::LtEq, *bounds->below, negate);
            default:
                if (!bounds->above) return never(field, negate);
                return term_or_nan(field, PredicateOp::GtEq, *bounds->above, negate);
        }
    }

    /// Comparison of rounded numbers: what lies well beyond is decided.
    static FilterPredicate approximate(const iceberg::NestedField& field, PredicateOp op, const ColumnValues& bounds) {
        const auto reaches = Predicate::term(PredicateOp::GtEq, field.id, {*bounds.below});
        const auto stays = Predicate::term(PredicateOp::LtEq, field.id, {*bounds.above});
        switch (op) {
            case PredicateOp::Eq:
                return {Predicate::conjunction({reaches, stays}), false};
            case PredicateOp::Lt:
            case PredicateOp::LtEq:
                return {stays, false};
            case PredicateOp::Gt:
            case PredicateOp::GtEq:
                return {reaches, false};
            default:
                return maybe();
        }
    }

    /// No value passes; negated, all that are not NULL do.
    static FilterPredicate never(const iceberg::NestedField& field, bool negate) {
        if (negate) return {Predicate::term(PredicateOp::NotNull, field.id), true};
        return {Predicate::constant(Predicate::Kind::False), true};
    }

    FilterPredicate compare_function(const Expression& call, PredicateOp op, const Vector& value) {
        const Expression* inner = &call;
        while (inner->kind == Expression::Kind::Call) {
            const Expression* next = nullptr;
            for (const auto& argument : inner->arguments) {
                if (argument->kind == Expression::Kind::Constant) continue;
                if (next) return maybe();
                next = argument.get();
            }
            if (!next) return maybe();
            inner = next;
        }
        const auto* field = field_of(*inner);
        if (!field || !field->type->is_primitive()) return maybe();
        auto predicate = monotonic_predicate(call, *field, op, value);
        return predicate ? FilterPredicate{std::move(predicate), false} : maybe();
    }

    FilterPredicate membership(const Expression& filter, bool is_in) {
        const auto* field = field_of(*filter.arguments[0]);
        const auto& set = filter.arguments[1];
        if (set->kind != Expression::Kind::Constant) return maybe();
        const Vector& values = set->constant->flat_base();
        const TypeId id = unwrap(values.type())->id();
        std::vector<std::pair<const Vector*, size_t>> elements;
        if (id == TypeId::Tuple) {
            for (const auto& child : values.children()) elements.emplace_back(child.get(), 0);
        } else if (id == TypeId::Array) {
            for (int64_t i = values.offsets()[0]; i < values.offsets()[1]; ++i)
                elements.emplace_back(values.child().get(), static_cast<size_t>(i));
        } else {
            elements.emplace_back(&values, 0);
        }
        if (!field) return is_in ? function_in(*filter.arguments[0], elements) : maybe();
        std::vector<iceberg::Literal> literals;
        for (const auto& [vector, row] : elements) {
            if (vector->is_null(row) || unwrap(vector->type())->id() == TypeId::Nothing) continue;
            const auto bounds = column_values(*field, *slice_row(*vector, row));
            if (!bounds) return maybe();
            if (bounds->approximate) return is_in ? any_of(*field, elements) : maybe();
            if (bounds->exact) literals.push_back(*bounds->exact);
        }
        if (literals.empty()) return never(*field, !is_in);
        return {Predicate::term(is_in ? PredicateOp::In : PredicateOp::NotIn, field->id, std::move(literals)), true};
    }

    /// x IN (a, b): x = a or x = b.
    FilterPredicate any_of(const iceberg::NestedField& field,
                           const std::vector<std::pair<const Vector*, size_t>>& elements) {
        if (elements.size() > kMaxElements) return maybe();
        std::vector<PredicatePtr> any;
        for (const auto& [vector, row] : elements)
            if (!vector->is_null(row))
                any.push_back(compare_column(field, PredicateOp::Eq, *slice_row(*vector, row), false).predicate);
        return {Predicate::disjunction(std::move(any)), false};
    }

    /// f(x) IN (a, b): f(x) = a or f(x) = b.
    FilterPredicate function_in(const Expression& call, const std::vector<std::pair<const Vector*, size_t>>& elements) {
        if (elements.size() > kMaxElements) return maybe();
        std::vector<PredicatePtr> any;
        for (const auto& [vector, row] : elements) {
            if (vector->is_null(row)) continue;
            any.push_back(compare_function(call, PredicateOp::Eq, *slice_row(*vector, row)).predicate);
        }
        return {Predicate::disjunction(std::move(any)), false};
    }

    static VectorPtr slice_row(const Vector& vector, size_t row) {
        VectorBuilder builder(vector.type());
        builder.append_from(vector, row);
        return builder.finish();
    }

    static FilterPredicate prefix_term(const iceberg::NestedField& field, std::string prefix, bool positive,
                                       bool exact) {
        const auto value = iceberg::Literal::of(field.type, iceberg::Datum::bytes(field.type->kind, prefix));
        return {Predicate::term(positive ? PredicateOp::StartsWith : PredicateOp::NotStartsWith, field.id, {value}),
                exact};
    }

    static bool is_text(const iceberg::NestedField* field) {
        return field &&
               (field->type->kind == iceberg::TypeKind::String || field->type->kind == iceberg::TypeKind::Binary);
    }

    FilterPredicate like(const Expression& filter, bool positive) {
        const auto* field = field_of(*filter.arguments[0]);
        const auto& pattern = filter.arguments[1];
        if (!is_text(field) || pattern->kind != Expression::Kind::Constant || pattern->constant->is_null(0))
            return maybe();
        const std::string_view text = pattern->constant->flat_base().values<StringRef>()[0].view();
        std::string prefix;
        size_t at = 0;
        for (; at < text.size() && text[at] != '%' && text[at] != '_'; ++at) {
            if (text[at] == '\\' && at + 1 < text.size()) ++at;
            prefix.push_back(text[at]);
        }
        const bool whole = at == text.size();  // no wildcard: equality
        const bool only_prefix = at + 1 == text.size() && text[at] == '%';
        if (whole) {
            const auto value = iceberg::Literal::of(field->type, iceberg::Datum::bytes(field->type->kind, prefix));
            return {Predicate::term(positive ? PredicateOp::Eq : PredicateOp::NotEq, field->id, {value}), true};
        }
        if (prefix.empty() || (!positive && !only_prefix)) return maybe();
        return prefix_term(*field, std::move(prefix), positive, only_prefix);
    }

    FilterPredicate starts_with(const Expression& filter, bool negate) {
        const auto* field = field_of(*filter.arguments[0]);
        const auto& prefix = filter.arguments[1];
        if (!is_text(field) || prefix->kind != Expression::Kind::Constant || prefix->constant->is_null(0))
            return maybe();
        return prefix_term(*field, std::string(prefix->constant->flat_base().values<StringRef>()[0].view()), !negate,
                           true);
    }

    const FieldOfColumn& fields_;
};

}  // namespace

FilterPredicate filter_predicate(const plan::Expression& filter, const FieldOfColumn& fields) {
    return Extractor(fields).extract(filter, false);
}

}  // namespace firn::table
