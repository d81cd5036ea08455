// Predicates on columns by field id, and what metadata can say of them: of a file, a manifest, a row group or a page.
//
// The logic is SQL's: a row passes when the predicate is true; NULL passes IsNull only. Floating point as in ClickHouse:
// NaN passes NotEq, NotIn and IsNaN only, and -0.0 equals 0.0. There is no NOT: who makes a predicate pushes negation
// down to the terms, minding NULL and NaN.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/iceberg/transform.h"
#include "firn/iceberg/values.h"

namespace firn::iceberg {

enum class PredicateOp : uint8_t {
    IsNull,
    NotNull,
    IsNaN,
    Lt,
    LtEq,
    Gt,
    GtEq,
    Eq,
    NotEq,
    In,
    NotIn,
    StartsWith,
    NotStartsWith
};

struct Predicate;
using PredicatePtr = std::shared_ptr<const Predicate>;

struct Predicate {
    enum class Kind : uint8_t {
        True,   // every row passes
        Maybe,  // nothing is known
        False,  // no row passes
        And,
        Or,
        Term,
    };
    Kind kind = Kind::True;
    std::vector<PredicatePtr> children;  // And, Or

    // Term: op on the column field_id, whose values are compared with `values` by `compare`.
    PredicateOp op = PredicateOp::NotNull;
    int32_t field_id = 0;
    std::vector<Literal> values;  // none, one, or those of In and NotIn (not null, ascending for integers)

    static PredicatePtr constant(Kind kind);
    static PredicatePtr conjunction(std::vector<PredicatePtr> children);
    static PredicatePtr disjunction(std::vector<PredicatePtr> children);
    static PredicatePtr term(PredicateOp op, int32_t field_id, std::vector<Literal> values = {});
};

/// For EXPLAIN: "id >= 5 and (d = 2024-01-01 or d is null)"; `name` gives a field's name.
std::string to_string(const Predicate& predicate, const std::function<std::string(int32_t)>& name);
/// The ids of all fields in terms, each once.
std::vector<int32_t> fields_of(const Predicate& predicate);

/// What is known of one column's values in some set of rows. The default knows nothing.
struct ValueRange {
    std::optional<Datum> lower;  // no value (not NULL, not NaN) is less
    std::optional<Datum> upper;  // no value is greater
    bool may_be_null = true;
    bool may_be_nan = true;    // kept true for types without NaN as well; only terms of floats look
    bool may_be_value = true;  // false: all rows are NULL or NaN
    /// Partition values of a transform that keeps no order (bucket): in [first, second].
    struct Hashed {
        Transform transform;
        Datum lower, upper;
    };
    std::vector<Hashed> hashed;
    /// What the datums' bytes live in, where nothing else keeps it.
    std::vector<std::shared_ptr<const void>> owners;

    /// Both are known at once.
    void intersect(const ValueRange& other);
};

/// Whether some row may pass, and whether every row surely does. {true, false} is no knowledge.
struct Verdict {
    bool might = true;
    bool all = false;
};

/// Gives what is known of a column. Must hold for as long as the call.
using KnownRanges = std::function<ValueRange(int32_t field_id)>;

Verdict judge(const Predicate& predicate, const KnownRanges& ranges);
Verdict judge_term(const Predicate& term, const ValueRange& range);

/// What a partition value of a field, or all those in [lower, upper], says of its source column.
/// lower and upper as summaries give them: null datums where no partition value is known not to be NULL.
/// `source`: the source column's present type. Values that a writer has let wrap around (a truncated integer that is no
/// multiple of the width) say nothing.
ValueRange range_of_partition(const Transform& transform, const Type& source, const Datum& lower, const Datum& upper,
                              bool may_be_null, bool may_be_nan);

/// SQL order of two values that are not null: `compare`, except that -0.0 equals 0.0.
std::partial_ordering compare_sql(const Datum& left, const Datum& right);

}  // namespace firn::iceberg
