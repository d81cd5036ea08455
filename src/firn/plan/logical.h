// The logical plan: a tree of relational operators with resolved expressions. The analyzer builds it, the optimizer
// rewrites it, the executor runs it as it stands (join sides, build order and distribution of filters are settled in
// it).
//
// Every node has output columns. Expressions of a node read its input's columns by number; a join's input is the left
// child's columns followed by the right's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/functions/aggregate.h"
#include "firn/plan/expression.h"
#include "firn/plan/source.h"

namespace firn::plan {

struct OutputColumn {
    std::string name;
    TypePtr type;
};

struct Node;
using NodePtr = std::unique_ptr<Node>;

/// A copy of a plan that has no runtime filters yet. What it shared within itself it has once for each use.
NodePtr clone(const Node& node);

enum class NodeKind : uint8_t {
    Scan,
    Values,
    Project,
    Filter,
    Aggregate,
    Join,
    Sort,
    Limit,
    LimitBy,
    Distinct,
    Union,
    Intersect,
    Except,
    ArrayJoin,
    Window,
    Fill,
    Cte,
};

struct Node {
    explicit Node(NodeKind k) : kind(k) {}
    virtual ~Node() = default;
    const NodeKind kind;
    std::vector<OutputColumn> output;
    std::vector<NodePtr> children;
    /// The optimizer's guess of the rows that come out; for EXPLAIN and build sides.
    std::optional<double> estimated_rows;
};

struct ScanNode : Node {
    ScanNode() : Node(NodeKind::Scan) {}
    std::shared_ptr<const Source> source;
    ScanRequest request;  // output columns = request.columns
    std::string alias;
};

/// Rows known at planning: SELECT without FROM (one row, no columns), VALUES.
struct ValuesNode : Node {
    ValuesNode() : Node(NodeKind::Values) {}
    std::vector<Batch> batches;
};

struct ProjectNode : Node {
    ProjectNode() : Node(NodeKind::Project) {}
    std::vector<ExpressionPtr> expressions;
};

struct FilterNode : Node {
    FilterNode() : Node(NodeKind::Filter) {}
    std::vector<ExpressionPtr> conjuncts;  // cheapest and most selective first
};

struct AggregateCall {
    functions::AggregatePtr function;
    std::vector<ExpressionPtr> arguments;
    /// Only rows that pass are added (FILTER (WHERE …), -If); null = all.
    ExpressionPtr filter;
    std::string name;
    /// The function with its parameters' values: calls of one key and the same arguments are the same. Empty where the call was
    /// made otherwise than by the query's text.
    std::string key{};
};

/// Output: the keys, then the aggregates. No keys: one row always (unless totals rules say else).
struct AggregateNode : Node {
    AggregateNode() : Node(NodeKind::Aggregate) {}
    std::vector<ExpressionPtr> keys;
    std::vector<AggregateCall> aggregates;
    /// GROUPING SETS, ROLLUP, CUBE: each set lists the keys it keeps; others come as their type's default (or NULL with
    /// group_by_use_nulls). Empty = one set of all keys. With sets, one more output column behind the keys: UInt64
    /// number of the set.
    std::vector<std::vector<size_t>> grouping_sets;
    bool with_totals = false;
    /// Upper bound on groups known from the keys' types, or a guess from statistics; 0 = not known.
    uint64_t expected_groups = 0;
    /// The scan below answers count/min/max of some files from metadata (ScanRequest::aggregates is set): merge them
    /// in.
    bool merge_metadata_partials = false;
};

enum class JoinKind : uint8_t { Inner, Left, Right, Full, Cross, LeftSemi, LeftAnti, RightSemi, RightAnti, Mark };
enum class JoinStrictness : uint8_t { All, Any, Asof };

/// Equality keys build a hash table over the right child and probe it with the left.
/// Semi and Anti give one side's columns; Mark gives the left's columns and one more, Nullable(UInt8) or UInt8: whether
/// a match exists (null_aware: NULL where SQL's IN would be NULL).
struct JoinNode : Node {
    JoinNode() : Node(NodeKind::Join) {}
    JoinKind join = JoinKind::Inner;
    JoinStrictness strictness = JoinStrictness::All;
    std::vector<ExpressionPtr> left_keys;   // over the left child's columns
    std::vector<ExpressionPtr> right_keys;  // over the right child's columns; pairwise the same types
    bool nulls_equal = false;               // NULL keys match each other (IS NOT DISTINCT FROM); a flag for all keys
    bool null_aware = false;  // LeftAnti for NOT IN, Mark for IN: a NULL key on either side makes NULL, not "no match"
    /// Conditions beyond the keys, over left ++ right columns, deciding what matches.
    std::vector<ExpressionPtr> residual;
    /// Asof: the last key pair is compared by this instead of equality.
    enum class AsofInequality : uint8_t {
        None,
        GreaterOrEquals,
        Greater,
        LessOrEquals,
        Less
    } asof = AsofInequality::None;
    bool use_nulls = false;  // join_use_nulls: missing sides NULL (types already Nullable in output)
    /// Filters that this join's build side fills, for scans below its left (probe) side; pair (key number, filter).
    std::vector<std::pair<size_t, std::shared_ptr<RuntimeFilter>>> runtime_filters;
    uint64_t expected_build_rows = 0;
    /// Output columns that something above reads; others may come as any vector of the right size. Empty = all.
    std::vector<bool> wanted;
};

struct SortKey {
    ExpressionPtr expression;
    bool descending = false;
    bool nulls_first = false;  // NULL and NaN
    std::string collation;
};

/// With limit: a top-N, of the first limit + offset rows, of which offset are left out by a Limit above.
struct SortNode : Node {
    SortNode() : Node(NodeKind::Sort) {}
    std::vector<SortKey> keys;
    std::optional<uint64_t> limit;
    bool with_ties = false;
    std::shared_ptr<RuntimeFilter> threshold;  // fed with the current last row's first key
};

struct LimitNode : Node {
    LimitNode() : Node(NodeKind::Limit) {}
    std::optional<uint64_t> limit;
    uint64_t offset = 0;
};

struct LimitByNode : Node {
    LimitByNode() : Node(NodeKind::LimitBy) {}
    std::vector<ExpressionPtr> keys;
    uint64_t limit = 0;
    uint64_t offset = 0;
};

/// Distinct over all columns, or over `keys` (DISTINCT ON): the first row of each.
struct DistinctNode : Node {
    DistinctNode() : Node(NodeKind::Distinct) {}
    std::vector<ExpressionPtr> keys;  // empty = all columns
};

/// UNION ALL of children with the same output types. Intersect, Except: `all` keeps multiplicities.
struct SetNode : Node {
    explicit SetNode(NodeKind k) : Node(k) {}
    bool all = true;
};

/// Output: the input's columns, those named in `columns` replaced by their elements (or added behind, for expressions).
struct ArrayJoinNode : Node {
    ArrayJoinNode() : Node(NodeKind::ArrayJoin) {}
    std::vector<ExpressionPtr> arrays;  // output: all input columns, then one element column for each array
    bool left = false;                  // LEFT ARRAY JOIN keeps rows of empty arrays
};

struct WindowFrame {
    enum class Unit : uint8_t { Rows, Range, Groups } unit = Unit::Range;
    enum class Bound : uint8_t { UnboundedPreceding, Preceding, Current, Following, UnboundedFollowing };
    Bound start = Bound::UnboundedPreceding, end = Bound::Current;
    VectorPtr start_offset, end_offset;
};

struct WindowCall {
    std::string name;                  // row_number, rank, lag … for functions of windows only
    functions::AggregatePtr function;  // an aggregate over the frame; null for the above
    std::vector<ExpressionPtr> arguments;
    TypePtr type;
};

/// Calls that share one window. Output: the input's columns, then one for each call. Input need not be sorted.
struct WindowNode : Node {
    WindowNode() : Node(NodeKind::Window) {}
    std::vector<ExpressionPtr> partition;
    std::vector<SortKey> order;
    WindowFrame frame;
    std::vector<WindowCall> calls;
};

/// ORDER BY … WITH FILL; input sorted.
struct FillNode : Node {
    FillNode() : Node(NodeKind::Fill) {}
    struct Column {
        size_t column;
        bool descending;
        VectorPtr from, to, step;
    };
    std::vector<Column> columns;
    std::vector<std::pair<size_t, ExpressionPtr>> interpolate;
};

/// A subplan used more than once: the executor runs `shared` once and gives its rows to every use.
struct CteNode : Node {
    CteNode() : Node(NodeKind::Cte) {}
    struct Shared {
        NodePtr plan;
    };
    std::shared_ptr<Shared> shared;
};

}  // namespace firn::plan
