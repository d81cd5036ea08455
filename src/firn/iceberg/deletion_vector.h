// Deletion vectors: the deleted positions of one data file (Puffin spec, blob type deletion-vector-v1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace firn::iceberg {

/// A set of row positions. Immutable once read; thread-safe.
class DeletionVector {
public:
    /// Of the blob's bytes. Length, magic, checksum and the bitmaps' own form are checked, and the cardinality where
    /// the manifest tells it: INCORRECT_DATA, naming `file`.
    static std::shared_ptr<const DeletionVector> parse(std::string_view blob, std::string_view file,
                                                       std::optional<int64_t> cardinality = std::nullopt);
    ~DeletionVector();
    DeletionVector(const DeletionVector&) = delete;
    DeletionVector& operator=(const DeletionVector&) = delete;

    uint64_t cardinality() const;
    bool contains(uint64_t position) const;
    /// How many positions lie in [begin, end).
    uint64_t count(uint64_t begin, uint64_t end) const;
    /// Appends the positions in [begin, end), ascending, less `begin`.
    void positions(uint64_t begin, uint64_t end, std::vector<uint32_t>& out) const;
    size_t memory_bytes() const;
    /// All positions, ascending. LIMIT_EXCEEDED over 2^30 of them.
    std::vector<uint64_t> all() const;

private:
    DeletionVector();
    struct Bitmaps;
    std::unique_ptr<Bitmaps> bitmaps_;
};

}  // namespace firn::iceberg
