#include "firn/exec/join_build.h"

#include <algorithm>
#include <atomic>

#include "firn/base/error.h"
#include "firn/exec/sort_keys.h"
#include "firn/exec/sorting.h"
#include "firn/vector/row_ops.h"

namespace firn::exec {
namespace {

using plan::JoinKind;
using plan::JoinNode;
using plan::JoinStrictness;

std::vector<TypePtr> equality_types(const JoinNode& node) {
    std::vector<TypePtr> types;
    for (const auto& key : node.right_keys) types.push_back(key->type);
    if (node.strictness == JoinStrictness::Asof) types.pop_back();
    return types;
}

std::vector<bool> equality_nullable(const JoinNode& node) {
    std::vector<bool> nullable;
    for (size_t i = 0; i < equality_types(node).size(); ++i)
        nullable.push_back(accepts_null(*node.left_keys[i]->type) || accepts_null(*node.right_keys[i]->type));
    return nullable;
}

bool needs_matches(const JoinNode& node) {
    switch (node.join) {
        case JoinKind::Right:
        case JoinKind::Full:
        case JoinKind::RightSemi:
        case JoinKind::RightAnti:
            return true;
        case JoinKind::Inner:
            return node.strictness == JoinStrictness::Any;
        default:
            return false;
    }
}

}  // namespace

BuildSide::BuildSide(Run& run, const JoinNode& node, const KeyedColumns& columns, std::vector<Batch> batches,
                     const WholeBuildSide* whole)
    : left_columns(node.children[0]->output.size()),
      right_columns(node.children[1]->output.size()),
      table(equality_types(node), equality_nullable(node), node.nulls_equal),
      asof_(node.strictness == JoinStrictness::Asof) {
    if (asof_ && (node.asof == JoinNode::AsofInequality::None || node.right_keys.empty()))
        fail(ErrorCode::INVALID_JOIN_ON_EXPRESSION, "ASOF JOIN needs one inequality of the two sides");
    Batch all = columns.concat_parallel(batches);
    batches.clear();
    keys_ = columns.keys_of(all);
    plain_ = columns.without_keys(std::move(all));
    VectorPtr asof_values;
    std::vector<VectorPtr> equal = keys_;
    if (asof_) {
        asof_values = equal.back();
        equal.pop_back();
    }
    std::function<void()> fill;
    if (!whole && !node.runtime_filters.empty()) fill = [&] { fill_runtime_filters(node, keys_, plain_.rows); };
    table.build(run, equal, plain_.rows, fill);
    whole_ = whole ? *whole : WholeBuildSide{table.rows() > 0, table.has_null_key()};
    if (asof_) sort_for_asof(run, node, asof_values);
    if (needs_matches(node)) matched_.assign(plain_.rows, 0);
    widen(node);
    keys_.clear();
}

/// The columns as the join gives them: Nullable with join_use_nulls, and a row of defaults for left rows without a match.
void BuildSide::widen(const JoinNode& node) {
    rows = plain_;
    const bool with_left = node.join != JoinKind::RightSemi && node.join != JoinKind::RightAnti;
    if (node.join == JoinKind::Mark || node.join == JoinKind::LeftSemi || node.join == JoinKind::LeftAnti) return;
    const bool extend = node.join == JoinKind::Left || node.join == JoinKind::Full;
    for (size_t i = 0; i < right_columns; ++i) {
        VectorPtr& column = rows.columns[i];
        const TypePtr& type = node.output[i + (with_left ? left_columns : 0)].type;
        if (!same_type(column->type(), type)) column = column->with_type(type);
        if (!extend) continue;
        const std::vector<VectorPtr> parts{column, Vector::defaults(type, 1)};
        column = column->is_constant()
                     ? Vector::constant(column->size() ? column->base() : parts[1], column->size() + 1)
                     : concat(type, parts);
    }
}

void BuildSide::sort_for_asof(Run& run, const JoinNode&, const VectorPtr& values) {
    asof_values_ = values;
    const size_t rows = plain_.rows;
    std::vector<uint32_t> heads(rows);
    std::vector<VectorPtr> equal(keys_.begin(), keys_.end() - 1);
    JoinTable::Probe(table).find(equal, rows, heads.data());
    auto head_values = Buffer::allocate(rows * sizeof(uint32_t));
    std::copy(heads.begin(), heads.end(), head_values->mutable_as<uint32_t>());
    const std::vector<VectorPtr> keys{Vector::flat(make_type(TypeId::UInt32), rows, std::move(head_values)), values};
    asof_order_ = sort_rows(run, SortKeys({{}, {}}, keys, rows));
    asof_ranges_.assign(rows, {0, 0});
    for (uint32_t begin = 0; begin < rows;) {
        const uint32_t head = heads[asof_order_[begin]];
        uint32_t end = begin, last = begin;
        while (end < rows && heads[asof_order_[end]] == head) {
            if (!values->is_null(asof_order_[end])) last = end + 1;  // NULLs sort last and match nothing
            ++end;
        }
        if (head != kNoRow) asof_ranges_[head] = {begin, last};
        begin = end;
    }
}

std::vector<uint32_t> BuildSide::asof_matches(JoinNode::AsofInequality inequality, const std::vector<uint32_t>& heads,
                                              const Vector& left) const {
    using Inequality = JoinNode::AsofInequality;
    std::vector<uint32_t> rows(heads.size(), kNoRow);
    // left >= right wants the greatest right value that is not greater; left <= right the least that is not less.
    const bool strict_below = inequality == Inequality::Greater || inequality == Inequality::LessOrEquals;
    const bool wants_lower = inequality == Inequality::Greater || inequality == Inequality::GreaterOrEquals;
    for (size_t i = 0; i < heads.size(); ++i) {
        if (heads[i] == kNoRow || left.is_null(i)) continue;
        const auto [begin, end] = asof_ranges_[heads[i]];
        // The first right row that is not below (strict) or is above the left value.
        const auto* bound =
            std::partition_point(asof_order_.data() + begin, asof_order_.data() + end, [&](uint32_t row) {
                const int order = compare_values(*asof_values_, row, left, i);
                return strict_below ? order < 0 : order <= 0;
            });
        if (wants_lower && bound > asof_order_.data() + begin)
            rows[i] = bound[-1];
        else if (!wants_lower && bound < asof_order_.data() + end)
            rows[i] = *bound;
    }
    return rows;
}

}  // namespace firn::exec
