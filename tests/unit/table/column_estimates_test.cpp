// What the planner is told of columns: bounds, NULLs and distinct values as the fixtures' metadata has them.
#include "firn/table/column_estimates.h"

#include <gtest/gtest.h>

#include "firn/iceberg/metadata_location.h"
#include "firn/storage/local_store.h"

namespace firn::table {
namespace {

std::unique_ptr<IcebergSource> open_fixture(const std::string& name, const Settings& settings = {}) {
    const auto store = std::make_shared<storage::LocalStore>();
    const std::string root = FIRN_SOURCE_DIR "/tests/fixtures/" + name;
    auto files = iceberg::TableFiles::open(store, root, iceberg::find_metadata_object(*store, root, {}), nullptr);
    const SnapshotChoice choice = choose_snapshot(files.metadata(), settings);
    return std::make_unique<IcebergSource>(std::move(files), choice, IcebergReadOptions::from(settings), name);
}

plan::ColumnEstimate estimate(const IcebergSource& source, const std::string& column) {
    const auto& columns = source.columns();
    for (size_t i = 0; i < columns.size(); ++i)
        if (columns[i].name == column) return source.column_estimate(i);
    ADD_FAILURE() << "no column " << column;
    return {};
}

int32_t number(const VectorPtr& value) {
    EXPECT_TRUE(value);
    return value ? flatten(value)->values<int32_t>()[0] : INT32_MIN;
}

std::string text(const VectorPtr& value) {
    EXPECT_TRUE(value);
    return value ? std::string(flatten(value)->values<StringRef>()[0].view()) : "";
}

TEST(ColumnEstimates, BoundsOfAllFilesAndTheSketchOfAnAncestor) {
    const auto source = open_fixture("snap_statistics");
    EXPECT_EQ(source->row_count_estimate(), 101);
    const auto id = estimate(*source, "id");
    EXPECT_EQ(number(id.min), 0);
    EXPECT_EQ(number(id.max), 1000);
    EXPECT_EQ(id.null_fraction, 0.0);
    EXPECT_EQ(id.distinct, 100.0);
    EXPECT_EQ(estimate(*source, "k").distinct, 4.0);
    const auto v = estimate(*source, "v");
    EXPECT_EQ(text(v.min), "later");
    EXPECT_EQ(text(v.max), "v99");
}

TEST(ColumnEstimates, AreOfTheSnapshotThatIsRead) {
    Settings settings;
    settings.set("iceberg_snapshot_id", "4920202346358950437");  // the first, before there were statistics
    const auto source = open_fixture("snap_statistics", settings);
    EXPECT_EQ(source->row_count_estimate(), 50);
    const auto id = estimate(*source, "id");
    EXPECT_EQ(number(id.max), 49);
    EXPECT_FALSE(id.distinct);
}

TEST(ColumnEstimates, NullsAndPartitionValues) {
    // p is an identity partition of 30 rows, 6 of them NULL.
    const auto source = open_fixture("part_identity_int");
    const auto p = estimate(*source, "p");
    EXPECT_EQ(number(p.min), -5);
    EXPECT_EQ(number(p.max), 2);
    ASSERT_TRUE(p.null_fraction);
    EXPECT_DOUBLE_EQ(*p.null_fraction, 0.2);
}

TEST(ColumnEstimates, WithoutMetricsNothingIsKnown) {
    const auto source = open_fixture("file_metrics_modes");  // a column a mode of write.metadata.metrics
    const auto off = estimate(*source, "off");
    EXPECT_FALSE(off.min || off.max);
    EXPECT_FALSE(off.null_fraction);
    const auto counts = estimate(*source, "cnt");
    EXPECT_FALSE(counts.min || counts.max);
    EXPECT_TRUE(counts.null_fraction);
    const auto truncated = estimate(*source, "tr");
    EXPECT_EQ(text(truncated.min), "");
    EXPECT_DOUBLE_EQ(truncated.null_fraction.value_or(-1), 0.2);
    EXPECT_EQ(text(estimate(*source, "full").max), "\xf0\x9f\x98\x80\xf0\x9f\x98\x80");
}

TEST(ColumnEstimates, NothingOfVirtualAndNestedColumns) {
    const auto source = open_fixture("nested_parquet");
    for (size_t i = 0; i < source->columns().size(); ++i) {
        const auto* field = source->field(i);
        if (field && field->type->is_primitive()) continue;
        const auto known = source->column_estimate(i);
        EXPECT_FALSE(known.min || known.max || known.distinct || known.null_fraction) << source->columns()[i].name;
    }
    EXPECT_EQ(open_fixture("part_identity_int")->columns().back().is_virtual, true);
}

TEST(ColumnEstimates, AMissingManifestIsLeftToTheScan) {
    const auto store = std::make_shared<storage::LocalStore>();
    const std::string root = FIRN_SOURCE_DIR "/tests/fixtures/snap_statistics";
    const auto object = iceberg::find_metadata_object(*store, root, {});
    // As if the table's folder were elsewhere, without its manifests.
    auto files = iceberg::TableFiles::open(store, "/nonexistent/table", object, nullptr);
    const SnapshotChoice choice = choose_snapshot(files.metadata(), {});
    const IcebergSource source(std::move(files), choice, IcebergReadOptions::from(Settings()), "moved");
    const auto id = source.column_estimate(0);
    EXPECT_EQ(id.distinct, 100.0);
    EXPECT_FALSE(id.min || id.max || id.null_fraction);
}

}  // namespace
}  // namespace firn::table
