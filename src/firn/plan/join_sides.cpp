// Which side of a join is built: the smaller one. Inner joins were settled when they were ordered.
#include <algorithm>

#include "firn/plan/rewrite.h"

namespace firn::plan::rewrite {

namespace {

/// Semi and anti joins are swapped only for a side that is clearly smaller: the other way round needs a mark a row.
constexpr double kSemiFactor = 1.5;
constexpr double kOuterFactor = 2;

void swap_sides(JoinNode& join) {
    const size_t left = join.children[0]->output.size(), right = join.children[1]->output.size();
    std::vector<size_t> mapping(left + right);
    for (size_t i = 0; i < left; ++i) mapping[i] = right + i;
    for (size_t i = 0; i < right; ++i) mapping[left + i] = i;
    for (ExpressionPtr& conjunct : join.residual) conjunct = remap_columns(conjunct, mapping);
    std::swap(join.children[0], join.children[1]);
    std::swap(join.left_keys, join.right_keys);
    join.expected_build_rows = static_cast<uint64_t>(std::min(1e12, join.children[1]->estimated_rows.value_or(0)));
}

}  // namespace

void choose_join_sides(NodePtr& node) {
    for (NodePtr& child : node->children) choose_join_sides(child);
    if (node->kind != NodeKind::Join) return;
    auto& join = static_cast<JoinNode&>(*node);
    const double left = estimate_rows(*join.children[0]), right = estimate_rows(*join.children[1]);
    if (join.left_keys.empty() || join.null_aware) return;
    switch (join.join) {
        case JoinKind::LeftSemi:
        case JoinKind::LeftAnti:
            if (right <= left * kSemiFactor) return;
            join.join = join.join == JoinKind::LeftSemi ? JoinKind::RightSemi : JoinKind::RightAnti;
            swap_sides(join);
            return;
        case JoinKind::Left:
        case JoinKind::Right: {
            if (join.strictness != JoinStrictness::All || right <= left * kOuterFactor) return;
            const std::vector<OutputColumn> wanted = join.output;
            const size_t width = join.children[0]->output.size();
            join.join = join.join == JoinKind::Left ? JoinKind::Right : JoinKind::Left;
            swap_sides(join);
            const size_t moved = join.children[0]->output.size();
            std::rotate(join.output.begin(), join.output.begin() + static_cast<std::ptrdiff_t>(width),
                        join.output.end());
            std::vector<ExpressionPtr> expressions;
            std::vector<std::string> names;
            for (size_t i = 0; i < wanted.size(); ++i) {
                expressions.push_back(make_column(i < width ? moved + i : i - width, wanted[i].type));
                names.push_back(wanted[i].name);
            }
            const auto rows = join.estimated_rows;
            node = make_project(std::move(node), std::move(expressions), std::move(names));
            node->estimated_rows = rows;
            return;
        }
        default:
            return;
    }
}

}  // namespace firn::plan::rewrite
