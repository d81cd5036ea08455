// How a wanted column is read: the tree of its fields beside the readers of their leaves. Inside of ColumnReader.
#pragma once

#include <memory>
#include <vector>

#include "firn/file/parquet/column_reader.h"

namespace firn::file::pq {

struct ColumnReader::Plan {
    const Node* node = nullptr;  // null: not in the file
    TypePtr type;
    VectorPtr missing;  // flat, one row
    bool missing_is_default = true;
    std::vector<PlanPtr> children;
    std::unique_ptr<LeafReader> reader;  // leaves
    LeafRows rows;                       // of this read
    /// A leaf at or below this node, whose levels say how many values the node has and which of them are there.
    Plan* levels = nullptr;
    PlanPtr own_levels;  // where no wanted leaf gives them
    /// Inside of variants, where absent groups and empty ones differ: the values of this read, and which are there.
    bool keeps_presence = false;
    VectorPtr values;
    std::vector<uint8_t> present;
};

/// Which entries of a leaf's levels begin a value of a node: those of at most this repetition and at least this
/// definition.
struct ColumnReader::Slots {
    uint8_t repetition = 0;
    uint8_t definition = 0;

    template <typename F>
    void for_each(const LeafRows& rows, F&& f) const {
        const uint8_t* levels = rows.definition.data();
        if (rows.repetition.empty()) {
            for (size_t i = 0; i < rows.definition.size(); ++i) f(levels[i]);
            return;
        }
        for (size_t i = 0; i < rows.definition.size(); ++i)
            if (rows.repetition[i] <= repetition && levels[i] >= definition) f(levels[i]);
    }
    size_t count(const LeafRows& rows) const {
        const size_t n = rows.definition.size();
        if (rows.repetition.empty()) return n;
        const uint8_t* repetitions = rows.repetition.data();
        const uint8_t* definitions = rows.definition.data();
        size_t count = 0;
        for (size_t i = 0; i < n; ++i)
            count +=
                static_cast<size_t>(repetitions[i] <= repetition) & static_cast<size_t>(definitions[i] >= definition);
        return count;
    }
};

}  // namespace firn::file::pq
