#include "firn/table/unit_pruning.h"

#include <algorithm>
#include <functional>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/table/runtime_filters.h"

namespace firn::table {
namespace {

using iceberg::Predicate;
using iceberg::PredicateOp;
using iceberg::ValueRange;
using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

Ranges intersect(const Ranges& a, const Ranges& b) {
    Ranges out;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const uint64_t begin = std::max(a[i].first, b[j].first), end = std::min(a[i].second, b[j].second);
        if (begin < end) out.emplace_back(begin, end);
        (a[i].second < b[j].second ? i : j)++;
    }
    return out;
}

Ranges unite(Ranges a, const Ranges& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    Ranges out;
    for (const auto& range : a) {
        if (!out.empty() && range.first <= out.back().second)
            out.back().second = std::max(out.back().second, range.second);
        else
            out.push_back(range);
    }
    return out;
}

/// Looks at one unit through the file's statistics, page index and bloom filters.
class UnitJudge {
public:
    UnitJudge(const ScanContext& context, const FileFields& fields, const OpenedFile& file, size_t unit)
        : schema_(*context.source->choice().schema),
          fields_(fields),
          file_(file),
          unit_(unit),
          rows_(file.file->unit_rows(unit)) {}

    iceberg::Verdict verdict(const Predicate& predicate) const {
        return iceberg::judge(predicate, [&](int32_t id) {
            const auto* leaf = leaf_of(id);
            if (!leaf) return unknown(id);
            return range_of(file_.file->unit_statistics(unit_, leaf->index), *leaf, id);
        });
    }

    /// False where bloom filters or whole dictionaries show that no row has the values asked for.
    bool might_contain(const Predicate& predicate) const {
        switch (predicate.kind) {
            case Predicate::Kind::And:
                return std::all_of(predicate.children.begin(), predicate.children.end(),
                                   [&](const auto& child) { return might_contain(*child); });
            case Predicate::Kind::Or:
                return std::any_of(predicate.children.begin(), predicate.children.end(),
                                   [&](const auto& child) { return might_contain(*child); });
            case Predicate::Kind::Term:
                return might_contain_term(predicate);
            default:
                return true;
        }
    }

    /// Rows that the page index leaves.
    Ranges ranges(const Predicate& predicate) const {
        const Ranges all{{0, rows_}};
        switch (predicate.kind) {
            case Predicate::Kind::False:
                return {};
            case Predicate::Kind::And: {
                Ranges left = all;
                for (const auto& child : predicate.children) left = intersect(left, ranges(*child));
                return left;
            }
            case Predicate::Kind::Or: {
                Ranges left;
                for (const auto& child : predicate.children) left = unite(std::move(left), ranges(*child));
                return left;
            }
            case Predicate::Kind::Term:
                return ranges_of_term(predicate);
            default:
                return all;
        }
    }

private:
    const file::FileField* leaf_of(int32_t id) const {
        const auto* place = schema_.place(id);
        if (!place || place->repeated || !place->field->type->is_primitive()) return nullptr;
        const auto* leaf = fields_.find_path(schema_, id);
        return leaf && leaf->children.empty() ? leaf : nullptr;
    }

    ValueRange range_of(const file::ValueStatistics& statistics, const file::FileField& leaf, int32_t id) const {
        ValueRange range = range_of_statistics(statistics, strip_nullable(leaf.type), *schema_.field(id));
        // Below an optional struct, other formats count only the rows that have the struct.
        if (schema_.place(id)->parent_id >= 0 && file_.file->format() != file::Format::Parquet)
            range.may_be_null = true;
        return range;
    }

    /// A column that the file lacks may be a default: nothing is known here.
    static ValueRange unknown(int32_t) { return {}; }

    bool might_contain_term(const Predicate& term) const {
        if (term.op != PredicateOp::Eq && term.op != PredicateOp::In) return true;
        const auto* leaf = leaf_of(term.field_id);
        if (!leaf || !file_.file->has_bloom_filter(unit_, leaf->index)) return true;
        const TypePtr natural = strip_nullable(leaf->type);
        return std::any_of(term.values.begin(), term.values.end(), [&](const iceberg::Literal& value) {
            const auto wanted = as_stored(value, natural, *schema_.field(term.field_id));
            return !wanted || file_.file->might_contain(unit_, leaf->index, *wanted);
        });
    }

    /// The value in the file's own type; nothing where the file's type is another (then the filter is not asked).
    static std::optional<VectorPtr> as_stored(const iceberg::Literal& value, const TypePtr& natural,
                                              const iceberg::NestedField& field) {
        if (value.datum.is_floating() && value.datum.real() == 0) return std::nullopt;  // -0.0 hashes otherwise
        const TypePtr column = sql_type(*field.type, true, {});
        if (!same_type(natural, column)) {
            // Promoted since: int as long.
            if (natural->id() != TypeId::Int32 || column->id() != TypeId::Int64) return std::nullopt;
            const int64_t number = value.datum.integer();
            if (number != static_cast<int32_t>(number)) return std::nullopt;
            return make_value<int32_t>(natural, static_cast<int32_t>(number));
        }
        return datum_vector(value.datum, natural);
    }

    Ranges ranges_of_term(const Predicate& term) const {
        const Ranges all{{0, rows_}};
        const auto* leaf = leaf_of(term.field_id);
        if (!leaf) return all;
        const auto pages = file_.file->page_statistics(unit_, leaf->index);
        if (pages.empty()) return all;
        Ranges out;
        for (const auto& page : pages) {
            const auto range = range_of(page.statistics, *leaf, term.field_id);
            if (!iceberg::judge_term(term, range).might) {
                count_event(ProfileEvent::ParquetPrunedPages);
                continue;
            }
            if (!out.empty() && out.back().second == page.first_row)
                out.back().second += page.rows;
            else
                out.emplace_back(page.first_row, page.first_row + page.rows);
        }
        return out;
    }

    const iceberg::Schema& schema_;
    const FileFields& fields_;
    const OpenedFile& file_;
    size_t unit_;
    uint64_t rows_;
};

/// A bound of the natural type as a value of the field's type.
std::optional<iceberg::Datum> bound_datum(const VectorPtr& bound, const TypePtr& natural,
                                          const iceberg::NestedField& field, ValueRange& range) {
    if (!bound) return std::nullopt;
    try {
        const TypePtr wanted = sql_type(*field.type, true, {});
        VectorPtr value = same_type(natural, wanted) ? bound : file::promote(bound, wanted, field.name);
        range.owners.push_back(value);
        return datum_of(*value, 0, *field.type);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

ValueRange range_of_statistics(const file::ValueStatistics& statistics, const TypePtr& type,
                               const iceberg::NestedField& field) {
    ValueRange range;
    if (const auto lower = bound_datum(statistics.min, strip_nullable(type), field, range);
        lower && !lower->is_null() && !lower->is_nan())
        range.lower = lower;
    if (const auto upper = bound_datum(statistics.max, strip_nullable(type), field, range);
        upper && !upper->is_null() && !upper->is_nan())
        range.upper = upper;
    if (statistics.null_count) {
        if (*statistics.null_count == 0) range.may_be_null = false;
        if (statistics.values > 0 && *statistics.null_count >= statistics.values)
            range.may_be_value = range.may_be_nan = false;
    }
    if (statistics.nan_count && *statistics.nan_count == 0) range.may_be_nan = false;
    return range;
}

std::vector<UnitWork> plan_units(ScanContext& context, const FileFields& fields,
                                 const std::shared_ptr<const OpenedFile>& file) {
    std::vector<UnitWork> out;
    const bool prune = context.source->options().prune && context.predicate->kind != Predicate::Kind::True;
    for (size_t unit = 0; unit < file->file->units(); ++unit) {
        const uint64_t rows = file->file->unit_rows(unit);
        if (rows == 0) continue;
        ++context.units;
        UnitWork work{file, unit, file->planned->all_match && context.predicate_exact, {{0, rows}}};
        if (unit_fails_runtime_filters(context, *file, unit)) {
            count_event(ProfileEvent::ParquetPrunedRowGroups);
            ++context.units_pruned;
            continue;
        }
        if (prune && !work.all_match) {
            const UnitJudge judge(context, fields, *file, unit);
            const auto verdict = judge.verdict(*context.predicate);
            if (!verdict.might) {
                count_event(ProfileEvent::ParquetPrunedRowGroups);
                ++context.units_pruned;
                continue;
            }
            if (!verdict.all && !judge.might_contain(*context.predicate)) {
                count_event(ProfileEvent::ParquetBloomPrunedRowGroups);
                ++context.units_pruned_by_bloom;
                continue;
            }
            work.all_match = verdict.all && context.predicate_exact;
            if (!work.all_match) work.ranges = judge.ranges(*context.predicate);
            if (work.ranges.empty()) continue;
        }
        out.push_back(std::move(work));
    }
    return out;
}

}  // namespace firn::table
