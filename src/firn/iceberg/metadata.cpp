#include "firn/iceberg/metadata.h"

#include <algorithm>

#include "firn/base/error.h"

namespace firn::iceberg {

namespace {

template <typename T, typename Id, typename IdOf>
const T* find_by(const std::vector<T>& items, Id id, IdOf id_of) {
    for (const T& item : items) {
        if (id_of(item) == id) return &item;
    }
    return nullptr;
}

}  // namespace

const NameMapping::Field* NameMapping::find(const std::vector<Field>& level, std::string_view name) {
    for (const Field& field : level) {
        if (std::find(field.names.begin(), field.names.end(), name) != field.names.end()) return &field;
    }
    return nullptr;
}

const Schema* TableMetadata::schema(int32_t id) const {
    return find_by(schemas, id, [](const Schema& item) { return item.schema_id(); });
}

const PartitionSpec* TableMetadata::spec(int32_t id) const {
    return find_by(partition_specs, id, [](const PartitionSpec& item) { return item.spec_id; });
}

const Snapshot* TableMetadata::snapshot(int64_t id) const {
    return find_by(snapshots, id, [](const Snapshot& item) { return item.snapshot_id; });
}

const SortOrder* TableMetadata::sort_order(int32_t id) const {
    return find_by(sort_orders, id, [](const SortOrder& item) { return item.order_id; });
}

const Schema& TableMetadata::current_schema() const {
    const Schema* found = schema(current_schema_id);
    if (!found) fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{}: there is no schema {}", file, current_schema_id);
    return *found;
}

const PartitionSpec& TableMetadata::default_spec() const {
    const PartitionSpec* found = spec(default_spec_id);
    if (!found)
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{}: there is no partition spec {}", file, default_spec_id);
    return *found;
}

const Snapshot* TableMetadata::current_snapshot() const {
    return current_snapshot_id ? snapshot(*current_snapshot_id) : nullptr;
}

const Snapshot* TableMetadata::snapshot_at(int64_t timestamp_ms) const {
    if (!snapshot_log.empty()) {
        // The log's order is that of commits; where clocks ran back, the latest entry that is old enough counts.
        for (size_t i = snapshot_log.size(); i > 0; --i) {
            if (snapshot_log[i - 1].timestamp_ms <= timestamp_ms) return snapshot(snapshot_log[i - 1].snapshot_id);
        }
        return nullptr;
    }
    const Snapshot* newest = nullptr;
    for (const Snapshot& item : snapshots) {
        if (item.timestamp_ms <= timestamp_ms && (!newest || item.timestamp_ms >= newest->timestamp_ms)) newest = &item;
    }
    return newest;
}

const Schema& TableMetadata::schema_of(const Snapshot& snapshot) const {
    if (snapshot.schema_id) {
        if (const Schema* found = schema(*snapshot.schema_id)) return *found;
    }
    return current_schema();
}

std::string_view TableMetadata::property(std::string_view name, std::string_view otherwise) const {
    auto found = properties.find(std::string(name));
    return found == properties.end() ? otherwise : std::string_view(found->second);
}

bool PartitionSpec::is_unpartitioned() const {
    return std::all_of(fields.begin(), fields.end(),
                       [](const PartitionField& field) { return field.transform.kind() == TransformKind::Void; });
}

const PartitionField* PartitionSpec::field_by_id(int32_t field_id) const {
    return find_by(fields, field_id, [](const PartitionField& field) { return field.field_id; });
}

}  // namespace firn::iceberg
