#include "firn/table/metadata_answers.h"

namespace firn::table {
namespace {

using iceberg::Datum;
using Kind = plan::MetadataAggregate::Kind;

bool is_float(const iceberg::NestedField& field) {
    return field.type->kind == iceberg::TypeKind::Float || field.type->kind == iceberg::TypeKind::Double;
}

/// Rows of a file whose value is not NULL; nothing where the entry does not say.
std::optional<uint64_t> value_count(const iceberg::PlannedFile& planned, const iceberg::NestedField& field) {
    const int64_t rows = planned.file.record_count();
    if (const auto partition = iceberg::identity_partition_value(planned.file, planned.spec, field.id))
        return partition->is_null() ? 0 : static_cast<uint64_t>(rows);
    const auto metrics = planned.file.manifest->metrics(planned.file.entry, field.id);
    if (!metrics.null_count || !metrics.value_count || *metrics.value_count != rows || *metrics.null_count > rows ||
        *metrics.null_count < 0)
        return std::nullopt;
    return static_cast<uint64_t>(rows - *metrics.null_count);
}

/// The least or greatest value of a file that has values; nothing where no bound is surely attained.
std::optional<Datum> extreme(const iceberg::PlannedFile& planned, const iceberg::NestedField& field, bool least) {
    // Bounds are in the order of bytes, which is not SQL's order of UUIDs.
    if (!field.type->is_primitive() || field.type->kind == iceberg::TypeKind::Uuid) return std::nullopt;
    if (const auto partition = iceberg::identity_partition_value(planned.file, planned.spec, field.id))
        if (!partition->is_null() && !partition->is_nan()) return iceberg::promote(*partition, *field.type);
    const auto metrics = planned.file.manifest->metrics(planned.file.entry, field.id);
    if (is_float(field) && metrics.nan_count.value_or(1) != 0) return std::nullopt;
    const bool exact_numbers = planned.file.manifest->format(planned.file.entry) != iceberg::FileFormat::Orc;
    const auto bounds = iceberg::decode_bounds(*field.type, metrics.lower_bound, metrics.upper_bound, exact_numbers);
    const auto& bound = least ? bounds.lower : bounds.upper;
    if (!bound || bound->trust != iceberg::BoundTrust::Exact) return std::nullopt;
    return bound->value;
}

}  // namespace

MetadataAnswers::MetadataAnswers(const IcebergSource& source, const plan::ScanRequest& request)
    : source_(source), request_(request), states_(request.aggregates.size()) {}

void MetadataAnswers::add_rows(uint64_t rows) {
    for (auto& state : states_) state.count += rows;
}

bool MetadataAnswers::add(const iceberg::PlannedFile& planned) {
    std::vector<State> next = states_;
    const int64_t rows = planned.file.record_count();
    if (rows < 0) return false;
    for (size_t i = 0; i < next.size(); ++i) {
        const auto& aggregate = request_.aggregates[i];
        if (aggregate.kind == Kind::Count && aggregate.count_rows) {
            next[i].count += static_cast<uint64_t>(rows);
            continue;
        }
        const auto* field = source_.field(request_.columns[aggregate.column]);
        if (!field || !field->type->is_primitive()) return false;
        const auto values = value_count(planned, *field);
        if (!values) return false;
        if (aggregate.kind == Kind::Count) {
            next[i].count += *values;
            continue;
        }
        if (*values == 0) continue;
        const bool least = aggregate.kind == Kind::Min;
        const auto value = extreme(planned, *field, least);
        if (!value) return false;
        if (next[i].best) {
            const auto order = iceberg::compare(*value, next[i].best->datum);
            if (order == std::partial_ordering::unordered) return false;
            if (least ? order != std::partial_ordering::less : order != std::partial_ordering::greater) continue;
        }
        next[i].best = iceberg::Literal::of(field->type, *value);
    }
    states_ = std::move(next);
    return true;
}

std::vector<Batch> MetadataAnswers::finish() const {
    Batch batch;
    batch.rows = 1;
    for (size_t i = 0; i < states_.size(); ++i) {
        const auto& aggregate = request_.aggregates[i];
        if (aggregate.kind == Kind::Count) {
            batch.columns.push_back(make_value<uint64_t>(make_type(TypeId::UInt64), states_[i].count));
            continue;
        }
        const size_t column = request_.columns[aggregate.column];
        const TypePtr type = make_nullable(source_.columns()[column].type);
        batch.columns.push_back(states_[i].best ? literal_vector(*states_[i].best, type) : make_null_value(type));
    }
    return {std::move(batch)};
}

}  // namespace firn::table
