#include "firn/file/parquet/column_plan.h"

#include <algorithm>

#include "firn/base/error.h"

namespace firn::file::pq {

namespace {

const Node& first_leaf(const Node& node) { return node.kind == Node::Kind::Leaf ? node : first_leaf(node.children[0]); }

std::unique_ptr<LeafReader> make_reader(const GroupContext& context, const Node& node, TypePtr wanted) {
    const auto column = static_cast<size_t>(node.leaf.column);
    return std::make_unique<LeafReader>(context.file, context.group->columns[column], node, std::move(wanted));
}

bool is_default(const Vector& value) {
    const VectorPtr other = flatten(Vector::defaults(value.type(), 1));
    if (value.is_null(0) || other->is_null(0)) return value.is_null(0) && other->is_null(0);
    return false;
}

}  // namespace

ColumnReader::ColumnReader(const GroupContext& context, const ReadField& wanted) : plan_(make_plan(context, wanted)) {
    plain_ = is_plain(*plan_);
}
ColumnReader::~ColumnReader() = default;
ColumnReader::ColumnReader(ColumnReader&&) noexcept = default;

ColumnReader::PlanPtr ColumnReader::make_plan(const GroupContext& context, const ReadField& wanted) {
    auto plan = std::make_unique<Plan>();
    plan->type = wanted.type;
    if (wanted.source < 0) {
        plan->missing = flatten(wanted.missing ? wanted.missing : Vector::defaults(wanted.type, 1));
        plan->missing_is_default = !wanted.missing || is_default(*plan->missing);
        return plan;
    }
    if (static_cast<size_t>(wanted.source) >= context.schema->by_field.size())
        fail(ErrorCode::LOGICAL_ERROR, "field {} is not in the file", wanted.source);
    plan->node = context.schema->by_field[static_cast<size_t>(wanted.source)];
    if (plan->node->kind == Node::Kind::Variant) {
        if (unwrap(wanted.type)->id() != TypeId::String)
            fail(ErrorCode::INCORRECT_DATA, "column '{}' is a variant: it cannot be read as {}", plan->node->name,
                 wanted.type->name());
        plan = variant_plan(context, *plan->node);
        plan->type = wanted.type;
        return plan;
    }
    if (plan->node->kind == Node::Kind::Leaf) {
        const Physical physical = wanted.type->physical();
        if (physical == Physical::Array || physical == Physical::Tuple)
            fail(ErrorCode::INCORRECT_DATA, "column '{}' is of type {} in the file: it cannot be read as {}",
                 plan->node->name, plan->node->leaf.type->name(), wanted.type->name());
        plan->reader = make_reader(context, *plan->node, wanted.type);
        plan->levels = plan.get();
    } else {
        plan_children(context, wanted, *plan);
    }
    return plan;
}

void ColumnReader::plan_children(const GroupContext& context, const ReadField& wanted, Plan& plan) {
    const Node& node = *plan.node;
    TypeId expected = TypeId::Tuple;
    size_t children = wanted.type->children().size();
    if (node.kind == Node::Kind::List) expected = TypeId::Array;
    if (node.kind == Node::Kind::Map) expected = TypeId::Map;
    if (wanted.type->id() != expected || wanted.children.size() != children)
        fail(ErrorCode::INCORRECT_DATA, "column '{}' has another structure in the file: it cannot be read as {}",
             node.name, wanted.type->name());
    for (const ReadField& child : wanted.children) {
        plan.children.push_back(make_plan(context, child));
        if (!plan.levels) plan.levels = plan.children.back()->levels;
    }
    if (!plan.levels) {
        plan.own_levels = std::make_unique<Plan>();
        plan.own_levels->node = &first_leaf(node);
        plan.own_levels->reader = make_reader(context, *plan.own_levels->node, nullptr);
        plan.levels = plan.own_levels.get();
    }
}

/// Whether the column can be read without looking at levels as such: leaves and structs that are not repeated, and
/// whose missing children are the same below an absent struct.
bool ColumnReader::is_plain(const Plan& plan) {
    if (!plan.node) return true;
    if (plan.node->kind == Node::Kind::Leaf) return plan.node->repetition == 0;
    if (plan.node->kind != Node::Kind::Struct || plan.node->repetition) return false;
    return std::all_of(plan.children.begin(), plan.children.end(), [&](const PlanPtr& child) {
        return is_plain(*child) && (child->node || child->missing_is_default || plan.node->definition == 0);
    });
}

VectorPtr ColumnReader::read_plain(Plan& plan, uint64_t begin, size_t count, const Selection* selection) {
    const size_t rows = selection ? selection->size() : count;
    if (!plan.node) return Vector::constant(plan.missing, rows);
    if (plan.reader) return plan.reader->read(begin, count, selection);
    std::vector<VectorPtr> children;
    for (auto& child : plan.children) children.push_back(read_plain(*child, begin, count, selection));
    return Vector::tuple(plan.type, rows, std::move(children));
}

void ColumnReader::load_levels(Plan& plan, uint64_t begin, size_t count) {
    if (plan.reader) {
        plan.rows = LeafRows();
        plan.reader->read_rows(begin, count, plan.rows);
    }
    if (plan.own_levels) load_levels(*plan.own_levels, begin, count);
    for (auto& child : plan.children) load_levels(*child, begin, count);
}

VectorPtr ColumnReader::assemble(Plan& plan, const Slots& slots) {
    VectorPtr out;
    switch (plan.node->kind) {
        case Node::Kind::Leaf:
            out = assemble_leaf(plan, slots);
            break;
        case Node::Kind::Struct:
            out = assemble_struct(plan, slots);
            break;
        case Node::Kind::Variant:
            out = assemble_variant(plan, slots);
            break;
        default:
            out = assemble_list(plan, slots);
    }
    if (plan.keeps_presence) {
        plan.values = out;
        plan.present.clear();
        slots.for_each(plan.levels->rows,
                       [&](uint8_t level) { plan.present.push_back(level >= plan.node->definition); });
    }
    return out;
}

VectorPtr ColumnReader::assemble_leaf(Plan& plan, const Slots& slots) {
    const LeafRows& rows = plan.rows;
    const VectorPtr& values = rows.values;
    if (values->size() == slots.count(rows)) return values;
    std::vector<uint32_t> places;
    places.reserve(rows.definition.size());
    uint32_t next = 0;
    const uint8_t there = plan.node->definition;
    slots.for_each(rows, [&](uint8_t level) { places.push_back(level == there ? next++ : kNoRow); });
    if (next != values->size()) fail(ErrorCode::INCORRECT_DATA, "a page's levels contradict each other");
    if (next == places.size()) return values;
    if (values->encoding() == Encoding::Dictionary && plan.reader->is_own_base(values->base())) {
        auto codes = Buffer::allocate(places.size() * sizeof(uint32_t));
        for (size_t i = 0; i < places.size(); ++i)
            codes->mutable_as<uint32_t>()[i] =
                places[i] == kNoRow ? plan.reader->absent_code() : values->codes()[places[i]];
        return Vector::dictionary(plan.reader->base_with_absent(), places.size(), std::move(codes));
    }
    return gather_or_default(values, places);
}

/// The rows of a struct's child that the file has not: its default, but nothing where the struct itself is absent.
VectorPtr ColumnReader::missing_rows(const Plan& plan, const Plan& parent, const Slots& slots, size_t n) {
    if (plan.missing_is_default) return Vector::constant(plan.missing, n);
    std::vector<uint32_t> places;
    places.reserve(n);
    bool absent = false;
    slots.for_each(parent.levels->rows, [&](uint8_t level) {
        const bool there = level >= parent.node->definition;
        absent |= !there;
        places.push_back(there ? 0 : kNoRow);
    });
    return absent ? gather_or_default(plan.missing, places) : Vector::constant(plan.missing, n);
}

VectorPtr ColumnReader::assemble_struct(Plan& plan, const Slots& slots) {
    const size_t n = slots.count(plan.levels->rows);
    std::vector<VectorPtr> children;
    for (auto& child : plan.children) {
        children.push_back(child->node ? assemble(*child, slots) : missing_rows(*child, plan, slots, n));
        if (children.back()->size() != n)
            fail(ErrorCode::INCORRECT_DATA, "the fields of struct '{}' have different numbers of values",
                 plan.node->name);
    }
    return Vector::tuple(plan.type, n, std::move(children));
}

VectorPtr ColumnReader::assemble_list(Plan& plan, const Slots& slots) {
    const Node& node = *plan.node;
    const LeafRows& rows = plan.levels->rows;
    const Slots inner{static_cast<uint8_t>(slots.repetition + 1), node.repeated_definition};
    auto offsets = Buffer::allocate((rows.definition.size() + 1) * sizeof(int64_t));
    auto* out = offsets->mutable_as<int64_t>();
    size_t n = 0;
    int64_t elements = 0;
    bool orphans = false;
    const uint8_t* definitions = rows.definition.data();
    const uint8_t* repetitions = rows.repetition.data();
    for (size_t i = 0; i < rows.definition.size(); ++i) {
        const uint8_t repetition = repetitions[i], definition = definitions[i];
        out[n] = elements;
        n += (repetition <= slots.repetition) & (definition >= slots.definition);
        elements += (repetition <= inner.repetition) & (definition >= inner.definition);
        orphans |= n == 0 && elements != 0;
    }
    if (orphans) fail(ErrorCode::INCORRECT_DATA, "a page's levels contradict each other");
    out[n] = elements;
    offsets->shrink((n + 1) * sizeof(int64_t));
    std::vector<VectorPtr> children;
    for (auto& child : plan.children) {
        children.push_back(child->node ? assemble(*child, inner)
                                       : Vector::constant(child->missing, static_cast<size_t>(elements)));
        if (children.back()->size() != static_cast<size_t>(elements))
            fail(ErrorCode::INCORRECT_DATA, "keys and values of '{}' have different numbers", node.name);
    }
    if (node.kind == Node::Kind::List) return Vector::array(plan.type, n, std::move(offsets), std::move(children[0]));
    const TypePtr pair = make_tuple_type({plan.type->child(0), plan.type->child(1)});
    return Vector::array(plan.type, n, std::move(offsets),
                         Vector::tuple(pair, static_cast<size_t>(elements), std::move(children)));
}

VectorPtr ColumnReader::read_range(uint64_t begin, size_t count) {
    load_levels(*plan_, begin, count);
    VectorPtr rows = assemble(*plan_, Slots{});
    if (rows->size() != count)
        fail(ErrorCode::INCORRECT_DATA, "column '{}' has {} rows where {} were expected", plan_->node->name,
             rows->size(), count);
    return rows;
}

VectorPtr ColumnReader::read(uint64_t begin, size_t count, const Selection* selection) {
    if (selection && selection->size() == count) selection = nullptr;
    if (plain_) return read_plain(*plan_, begin, count, selection);
    if (count == 0 || (selection && selection->empty())) return Vector::defaults(plan_->type, 0);
    if (!selection) return read_range(begin, count);
    // Rows that lie close together are read as one range.
    constexpr uint32_t kGap = 512;
    std::vector<VectorPtr> parts;
    for (size_t from = 0; from < selection->size();) {
        size_t to = from + 1;
        while (to < selection->size() && (*selection)[to] - (*selection)[to - 1] < kGap) ++to;
        const uint32_t first = (*selection)[from];
        VectorPtr rows = read_range(begin + first, (*selection)[to - 1] - first + size_t{1});
        if (rows->size() != to - from) {
            std::vector<uint32_t> picked(selection->begin() + static_cast<std::ptrdiff_t>(from),
                                         selection->begin() + static_cast<std::ptrdiff_t>(to));
            for (uint32_t& row : picked) row -= first;
            rows = gather(rows, picked);
        }
        parts.push_back(std::move(rows));
        from = to;
    }
    return concat(plan_->type, parts);
}

}  // namespace firn::file::pq
