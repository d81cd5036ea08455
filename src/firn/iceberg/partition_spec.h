// Partition specs and sort orders (spec: Partitioning, Sorting; JSON in Appendix C).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/iceberg/schema.h"
#include "firn/iceberg/transform.h"

namespace firn::iceberg {

struct PartitionField {
    std::vector<int32_t> source_ids;  ///< one, or several for a transform of many arguments (v3)
    int32_t field_id = 0;             ///< v1 files that leave it out: 1000, 1001, … in order
    std::string name;
    Transform transform;

    int32_t source_id() const { return source_ids.empty() ? -1 : source_ids[0]; }
};

struct PartitionSpec {
    int32_t spec_id = 0;
    std::vector<PartitionField> fields;

    /// No fields, or only void ones.
    bool is_unpartitioned() const;
    const PartitionField* field_by_id(int32_t field_id) const;
};

struct SortField {
    std::vector<int32_t> source_ids;
    Transform transform;
    bool descending = false;
    bool nulls_first = true;
};

struct SortOrder {
    int32_t order_id = 0;  ///< 0: unsorted
    std::vector<SortField> fields;
};

/// The field list alone, as a manifest's metadata carries it under "partition-spec"; also a whole spec object.
PartitionSpec parse_partition_spec(std::string_view json, int32_t spec_id, std::string_view where);

}  // namespace firn::iceberg
