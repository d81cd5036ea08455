// Which delete files apply to a data file (spec: Scan Planning, Delete files).
//
//   deletion vector    names the data file; data sequence number not above the vector's; makes position deletes void
//   position deletes   same spec and partition as the data file; data sequence number not above the delete's; where the
//                      delete file names its one data file (referenced_data_file, or equal bounds of file_path), only that
//   equality deletes   data sequence number below the delete's; same spec and partition, or an unpartitioned spec (global)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "firn/iceberg/scan_plan.h"

namespace firn::iceberg {

class DeleteIndex {
public:
    /// Live entries of the delete manifests. ICEBERG_SPECIFICATION_VIOLATION for two vectors of one data file and for
    /// equality deletes without columns.
    DeleteIndex(const TableFiles& table, std::vector<std::shared_ptr<const Manifest>> manifests);

    /// Indices into the delete files, of those that apply.
    std::vector<uint32_t> find(const PlannedFile& data) const;
    std::vector<FileRef> take_files() { return std::move(files_); }
    /// ScanPlan::delete_scopes.
    std::vector<uint32_t> take_scopes() { return std::move(scopes_); }

private:
    /// Spec and partition tuple, as text that is equal exactly when they are.
    std::string partition_key(const FileRef& file, int32_t spec_id) const;
    std::string partition_key_of(const FileRef& file) const { return partition_key(file, file.manifest->spec_id()); }
    void add(const FileRef& file);
    void add_position_deletes(const FileRef& file, uint32_t index);
    bool out_of_range(const FileRef& deletes, const std::string& data_path) const;

    using Indices = std::vector<uint32_t>;
    static constexpr uint32_t kGlobalScope = 0;
    const TableFiles& table_;
    std::vector<FileRef> files_;
    std::vector<uint32_t> scopes_;  // global, or 1 and more, one for each partition that has equality deletes
    std::unordered_map<std::string, uint32_t> vectors_;      // by data file
    std::unordered_map<std::string, Indices> by_path_;       // position deletes of one data file, by it
    std::unordered_map<std::string, Indices> by_partition_;  // other position deletes
    std::unordered_map<std::string, Indices> equality_;      // by partition
    Indices global_equality_;
    bool paths_needed_ = false;
    bool partitions_needed_ = false;
};

}  // namespace firn::iceberg
