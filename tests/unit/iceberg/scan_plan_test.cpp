// Planning scans of which only the number of rows is wanted: files are counted where metadata is enough, and listed where
// it is not. The same tables' full plans say what must come out.
#include "firn/iceberg/scan_plan.h"

#include <gtest/gtest.h>

#include "firn/iceberg/metadata_location.h"
#include "firn/storage/local_store.h"

namespace firn::iceberg {
namespace {

TableFiles open_fixture(const std::string& name) {
    const auto store = std::make_shared<storage::LocalStore>();
    const std::string root = FIRN_SOURCE_DIR "/tests/fixtures/" + name;
    return TableFiles::open(store, root, find_metadata_object(*store, root, {}), nullptr);
}

struct Plans {
    ScanPlan listed, counted;
};

/// The plan that lists all files, and the one that counts what it can.
Plans plans(const TableFiles& table, const Predicate& predicate, bool prune = true) {
    const auto plan = [&](bool count_only) {
        return plan_scan(table, *table.metadata().current_snapshot(), table.metadata().current_schema(), predicate,
                         {prune, 2, count_only});
    };
    return {plan(false), plan(true)};
}

uint64_t rows_of(const ScanPlan& plan) {
    uint64_t rows = plan.rows_counted;
    for (const auto& file : plan.files) rows += static_cast<uint64_t>(file.file.record_count());
    return rows;
}

/// Both plans speak of the same files and rows.
void expect_same(const Plans& both) {
    EXPECT_EQ(both.listed.files_counted, 0);
    EXPECT_EQ(both.listed.rows_counted, 0);
    EXPECT_EQ(both.counted.files.size() + both.counted.files_counted, both.listed.files.size());
    EXPECT_EQ(rows_of(both.counted), rows_of(both.listed));
    EXPECT_EQ(both.counted.files_seen, both.listed.files_seen);
    EXPECT_EQ(both.counted.manifests_pruned, both.listed.manifests_pruned);
}

PredicatePtr at_least(int32_t field_id, int64_t value) {
    const TypePtr type = Type::primitive(TypeKind::Int);
    return Predicate::term(PredicateOp::GtEq, field_id, {Literal::of(type, Datum::integral(TypeKind::Int, value))});
}

const int32_t kB = 3;  // the field of part_void_v1 by which two of its three manifests are partitioned

TEST(CountOnly, EveryFileOfAPlainCount) {
    const auto all = Predicate::constant(Predicate::Kind::True);
    for (const auto& [name, files, rows] :
         {std::tuple("snap_appends", 12, 12), std::tuple("part_void_v1", 6, 6), std::tuple("part_bucket", 16, 400)}) {
        const Plans both = plans(open_fixture(name), *all);
        expect_same(both);
        EXPECT_TRUE(both.counted.files.empty()) << name;
        EXPECT_EQ(both.counted.files_counted, static_cast<size_t>(files)) << name;
        EXPECT_EQ(both.counted.rows_counted, static_cast<uint64_t>(rows)) << name;
    }
}

TEST(CountOnly, ManifestsThatAPredicateTakesWhole) {
    // Of the three manifests one holds b from 1 to 2 and no NULL, one holds NULLs as well, and one is not partitioned by b.
    const auto table = open_fixture("part_void_v1");
    Plans both = plans(table, *at_least(kB, 1));
    expect_same(both);
    EXPECT_EQ(both.counted.files_counted, 2);
    EXPECT_EQ(both.counted.rows_counted, 2);
    EXPECT_FALSE(both.counted.files.empty());
    // Not of all its rows.
    both = plans(table, *at_least(kB, 2));
    expect_same(both);
    EXPECT_EQ(both.counted.files_counted, 0);
    EXPECT_FALSE(both.counted.files.empty());
    // Of none.
    both = plans(table, *at_least(kB, 1000));
    expect_same(both);
    EXPECT_EQ(both.counted.files_counted, 0);
    EXPECT_GT(both.counted.manifests_pruned, 0);
}

TEST(CountOnly, NothingWithoutPruning) {
    const Plans both = plans(open_fixture("part_void_v1"), *at_least(kB, 1), false);
    expect_same(both);
    EXPECT_EQ(both.counted.files_counted, 0);
    EXPECT_EQ(both.counted.files.size(), both.counted.files_seen);
}

TEST(CountOnly, NothingOfATableWithDeletes) {
    const auto all = Predicate::constant(Predicate::Kind::True);
    for (const char* name : {"mor_posdel_partitioned", "eqdel_basic", "dv_v3"}) {
        const Plans both = plans(open_fixture(name), *all);
        expect_same(both);
        EXPECT_EQ(both.counted.files_counted, 0) << name;
        EXPECT_FALSE(both.counted.delete_files.empty()) << name;
    }
}

}  // namespace
}  // namespace firn::iceberg
