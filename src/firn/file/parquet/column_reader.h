// Reads one wanted column of a row group, of any nesting: leaves by LeafReader, put together by their levels.
#pragma once

#include <memory>
#include <vector>

#include "firn/file/parquet/leaf_reader.h"
#include "firn/file/parquet/metadata.h"

namespace firn::file::pq {

/// What a row group's readers share. All of it outlives them.
struct GroupContext {
    std::shared_ptr<const storage::OpenFile> file;
    const Schema* schema = nullptr;
    const RowGroup* group = nullptr;
};

class ColumnReader {
public:
    /// INCORRECT_DATA where the wanted type cannot be read from the file's.
    ColumnReader(const GroupContext& context, const ReadField& wanted);
    ~ColumnReader();
    ColumnReader(ColumnReader&&) noexcept;

    /// See UnitReader::read.
    VectorPtr read(uint64_t begin, size_t count, const Selection* selection);

private:
    struct Plan;
    struct Slots;
    class VariantWriter;
    using PlanPtr = std::unique_ptr<Plan>;

    static PlanPtr make_plan(const GroupContext& context, const ReadField& wanted);
    static void plan_children(const GroupContext& context, const ReadField& wanted, Plan& plan);
    static bool is_plain(const Plan& plan);
    static VectorPtr read_plain(Plan& plan, uint64_t begin, size_t count, const Selection* selection);
    static void load_levels(Plan& plan, uint64_t begin, size_t count);
    static VectorPtr assemble(Plan& plan, const Slots& slots);
    static VectorPtr assemble_leaf(Plan& plan, const Slots& slots);
    static VectorPtr assemble_struct(Plan& plan, const Slots& slots);
    static VectorPtr assemble_list(Plan& plan, const Slots& slots);
    static VectorPtr missing_rows(const Plan& plan, const Plan& parent, const Slots& slots, size_t n);
    static PlanPtr variant_plan(const GroupContext& context, const Node& node);
    static VectorPtr assemble_variant(Plan& plan, const Slots& slots);
    VectorPtr read_range(uint64_t begin, size_t count);

    PlanPtr plan_;
    bool plain_ = false;
};

}  // namespace firn::file::pq
