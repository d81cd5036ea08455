// Every fixture table's metadata against what Iceberg's own reference implementation says of it (the metadata tables in
// NAME.expected.json). The tables are opened where the repository is, not where they were written: moved tables.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "firn/base/error.h"
#include "firn/file/puffin/puffin.h"
#include "firn/iceberg/deletion_vector.h"
#include "firn/iceberg/manifest.h"
#include "firn/iceberg/metadata.h"
#include "firn/iceberg/metadata_location.h"
#include "firn/iceberg/path_resolver.h"
#include "firn/storage/local_store.h"

using namespace firn;
using namespace firn::iceberg;
namespace dom = simdjson::dom;

namespace {

const std::string kFixtures = FIRN_SOURCE_DIR "/tests/fixtures";

std::vector<std::string> table_names() {
    std::vector<std::string> names;
    constexpr std::string_view suffix = ".expected.json";
    for (const auto& entry : std::filesystem::directory_iterator(kFixtures)) {
        std::string name = entry.path().filename();
        if (name.size() > suffix.size() && name.ends_with(suffix))
            names.push_back(name.substr(0, name.size() - suffix.size()));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string hex(std::string_view bytes) {
    std::string out;
    for (char byte : bytes) out += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    return out;
}

struct Table {
    std::shared_ptr<const TableMetadata> metadata;
    std::unique_ptr<PathResolver> paths;
    std::shared_ptr<const ManifestList> list;
    std::vector<std::shared_ptr<const Manifest>> manifests;
};

std::shared_ptr<const Manifest> read_manifest(const Table& table, const ManifestFile& file) {
    std::string path = table.paths->resolve(file.path);
    std::string bytes = storage::local_store().read_all(path, UINT32_MAX);
    EXPECT_TRUE(file.length < 0 || bytes.size() == static_cast<size_t>(file.length)) << path;
    return parse_manifest(bytes, path, ManifestInheritance::of(file));
}

std::shared_ptr<const ManifestList> read_list(const Table& table, const Snapshot& snapshot) {
    if (snapshot.manifest_list.empty()) return ManifestList::of_paths(snapshot.manifests, snapshot.snapshot_id);
    std::string path = table.paths->resolve(snapshot.manifest_list);
    return parse_manifest_list(storage::local_store().read_all(path, UINT32_MAX), path);
}

Table open_table(const std::string& name, std::string_view metadata_file) {
    Table table;
    std::string root = kFixtures + "/" + name;
    MetadataLocationOptions options;
    options.metadata_file_path = "metadata" + std::string(metadata_file.substr(metadata_file.rfind('/')));
    std::string found = find_metadata_file(storage::local_store(), root, options);
    table.metadata = parse_table_metadata(storage::local_store().read_all(found, kMaxMetadataBytes), found);
    table.paths = std::make_unique<PathResolver>(table.metadata->location, root);
    if (const Snapshot* snapshot = table.metadata->current_snapshot()) {
        table.list = read_list(table, *snapshot);
        for (const ManifestFile& file : table.list->manifests()) table.manifests.push_back(read_manifest(table, file));
    }
    return table;
}

/// A row of a metadata table by column name.
class Row {
public:
    Row(dom::array columns, dom::array values) {
        auto value = values.begin();
        for (dom::element column : columns) {
            cells_[std::string(std::string_view(column["name"]))] = *value;
            ++value;
        }
    }
    std::optional<dom::element> get(const std::string& name) const {
        auto found = cells_.find(name);
        if (found == cells_.end() || found->second.is_null()) return std::nullopt;
        return found->second;
    }
    std::optional<int64_t> number(const std::string& name) const {
        auto cell = get(name);
        if (!cell) return std::nullopt;
        return int64_t(*cell);
    }
    std::string text(const std::string& name) const {
        auto cell = get(name);
        return cell ? std::string(std::string_view(*cell)) : "";
    }
    bool has(const std::string& name) const { return cells_.count(name) > 0; }

private:
    std::map<std::string, dom::element> cells_;
};

std::vector<Row> rows_of(dom::element expected, const char* name) {
    std::vector<Row> rows;
    dom::element table;
    if (expected["metadata_tables"][name].get(table) != simdjson::SUCCESS || table.is_null()) return rows;
    dom::array items;
    if (table["rows"].get(items) != simdjson::SUCCESS) return rows;
    for (dom::element item : items) rows.emplace_back(table["columns"], dom::array(item));
    return rows;
}

std::map<int64_t, std::string> pairs_of(const std::optional<dom::element>& cell) {
    std::map<int64_t, std::string> out;
    if (!cell) return out;
    for (dom::element pair : dom::array(*cell)) {
        dom::element value = pair.at(1);
        out[int64_t(pair.at(0))] =
            value.is_string() ? std::string(std::string_view(value)) : std::to_string(int64_t(value));
    }
    return out;
}

std::map<int64_t, std::string> counts_of(const Manifest& manifest, size_t i, MetricsMap map) {
    std::map<int64_t, std::string> out;
    for (auto [id, count] : manifest.counts(i, map)) out[id] = std::to_string(count);
    return out;
}

std::map<int64_t, std::string> bounds_of(const Manifest& manifest, size_t i, MetricsMap map) {
    std::map<int64_t, std::string> out;
    for (auto [id, bound] : manifest.bounds(i, map)) out[id] = hex(bound);
    return out;
}

void compare_partition(const Table& table, const Manifest& manifest, size_t i, const Row& row) {
    std::vector<Datum> tuple(manifest.partition_fields());
    manifest.partition(i, tuple);
    auto cell = row.get("partition");
    if (!cell) return;
    const PartitionSpec* spec = table.metadata->spec(manifest.spec_id());
    ASSERT_NE(spec, nullptr);
    for (const PartitionField& field : spec->fields) {
        auto index = manifest.find_partition_field(field.field_id);
        ASSERT_TRUE(index.has_value()) << field.name;
        dom::element value;
        if ((*cell)[field.name].get(value) != simdjson::SUCCESS) continue;  // renamed since
        const Datum& datum = tuple[*index];
        EXPECT_EQ(datum.is_null(), value.is_null()) << field.name;
        if (value.is_int64()) {
            EXPECT_EQ(datum.integer(), int64_t(value)) << field.name;
        } else if (value.is_string() && (datum.kind() == TypeKind::String || datum.kind() == TypeKind::Decimal)) {
            EXPECT_EQ(datum.to_string(), std::string_view(value)) << field.name;
        }
    }
}

void compare_file(const Table& table, const Manifest& manifest, size_t i, const Row& row) {
    SCOPED_TRACE(manifest.path(i));
    EXPECT_EQ(format_name(manifest.format(i)), row.text("file_format"));
    EXPECT_EQ(manifest.record_count(i), row.number("record_count"));
    EXPECT_EQ(manifest.file_size(i), row.number("file_size_in_bytes"));
    EXPECT_EQ(manifest.spec_id(), row.number("spec_id"));
    EXPECT_EQ(counts_of(manifest, i, MetricsMap::ValueCounts), pairs_of(row.get("value_counts")));
    EXPECT_EQ(counts_of(manifest, i, MetricsMap::NullCounts), pairs_of(row.get("null_value_counts")));
    EXPECT_EQ(counts_of(manifest, i, MetricsMap::NanCounts), pairs_of(row.get("nan_value_counts")));
    EXPECT_EQ(bounds_of(manifest, i, MetricsMap::LowerBounds), pairs_of(row.get("lower_bounds")));
    EXPECT_EQ(bounds_of(manifest, i, MetricsMap::UpperBounds), pairs_of(row.get("upper_bounds")));
    EXPECT_EQ(manifest.has_map(i, MetricsMap::ValueCounts), row.get("value_counts").has_value());
    EXPECT_EQ(manifest.sort_order_id(i), row.number("sort_order_id"));
    EXPECT_EQ(std::string(manifest.referenced_data_file(i).value_or("")), row.text("referenced_data_file"));
    EXPECT_EQ(manifest.content_offset(i), row.number("content_offset"));
    EXPECT_EQ(manifest.content_size(i), row.number("content_size_in_bytes"));
    if (row.has("first_row_id")) {
        EXPECT_EQ(manifest.first_row_id(i), row.number("first_row_id"));
    }
    std::vector<int64_t> offsets, ids;
    if (auto cell = row.get("split_offsets"))
        for (dom::element item : dom::array(*cell)) offsets.push_back(int64_t(item));
    if (auto cell = row.get("equality_ids"))
        for (dom::element item : dom::array(*cell)) ids.push_back(int64_t(item));
    EXPECT_EQ(manifest.split_offsets(i), offsets);
    std::vector<int32_t> found = manifest.equality_ids(i);
    EXPECT_EQ(std::vector<int64_t>(found.begin(), found.end()), ids);
    compare_partition(table, manifest, i, row);
    EXPECT_TRUE(storage::local_store().try_stat(table.paths->resolve(manifest.path(i))).has_value());
    for (auto [id, bound] : manifest.bounds(i, MetricsMap::LowerBounds)) {
        ColumnMetrics one = manifest.metrics(i, id);
        EXPECT_EQ(one.lower_bound, bound);
        auto counts = counts_of(manifest, i, MetricsMap::NullCounts);
        EXPECT_EQ(one.null_count ? std::to_string(*one.null_count) : "", counts.count(id) ? counts[id] : "");
    }
}

void compare_files(const Table& table, dom::element expected) {
    std::map<std::pair<std::string, int64_t>, Row> rows;
    for (Row& row : rows_of(expected, "files")) {
        rows.emplace(std::pair(row.text("file_path"), row.number("content_offset").value_or(-1)), row);
    }
    if (rows.empty()) return;
    size_t live = 0;
    for (const auto& manifest : table.manifests) {
        for (size_t i = 0; i < manifest->size(); ++i) {
            if (!manifest->is_live(i)) continue;
            ++live;
            auto row = rows.find({std::string(manifest->path(i)), manifest->content_offset(i).value_or(-1)});
            ASSERT_NE(row, rows.end()) << manifest->path(i);
            compare_file(table, *manifest, i, row->second);
        }
    }
    EXPECT_EQ(live, rows.size());
}

void compare_entries(const Table& table, dom::element expected) {
    std::multiset<std::string> wanted, found;
    auto text = [](std::optional<int64_t> value) { return value ? std::to_string(*value) : std::string("null"); };
    for (Row& row : rows_of(expected, "entries")) {
        wanted.insert(fmt::format("{} {} {} {} {} {}", text(row.number("status")), text(row.number("snapshot_id")),
                                  text(row.number("sequence_number")), text(row.number("file_sequence_number")),
                                  text(row.number("content")), row.text("file_path")));
    }
    if (wanted.empty()) return;
    for (const auto& m : table.manifests) {
        for (size_t i = 0; i < m->size(); ++i) {
            found.insert(fmt::format("{} {} {} {} {} {}", static_cast<int>(m->status(i)), m->snapshot_id(i),
                                     m->sequence_number(i), m->file_sequence_number(i),
                                     static_cast<int>(m->file_content(i)), m->path(i)));
        }
    }
    EXPECT_EQ(found, wanted);
}

void compare_manifests(const Table& table, dom::element expected) {
    std::vector<Row> rows = rows_of(expected, "manifests");
    if (rows.empty()) return;
    ASSERT_EQ(rows.size(), table.list->manifests().size());
    for (const ManifestFile& file : table.list->manifests()) {
        auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.text("path") == file.path; });
        ASSERT_NE(row, rows.end()) << file.path;
        std::string kind = file.content == ManifestContent::Deletes ? "delete" : "data";
        EXPECT_EQ(file.length, row->number("length"));
        EXPECT_EQ(file.spec_id, row->number("partition_spec_id"));
        EXPECT_EQ(file.added_snapshot_id, row->number("added_snapshot_id"));
        EXPECT_EQ(file.added_files, row->number("added_" + kind + "_files_count"));
        EXPECT_EQ(file.existing_files, row->number("existing_" + kind + "_files_count"));
        EXPECT_EQ(file.deleted_files, row->number("deleted_" + kind + "_files_count"));
        dom::array summaries = *row->get("partition_summaries");
        EXPECT_EQ(summaries.size(), file.partitions.size());
        size_t k = 0;
        for (dom::element summary : summaries) {
            EXPECT_EQ(file.partitions[k].contains_null, bool(summary["contains_null"]));
            // The bound of a field without values shows as the text "null", as do those of dropped sources.
            std::string_view bound;
            bool bounded = summary["lower_bound"].get(bound) == simdjson::SUCCESS && bound != "null";
            if (bounded) {
                EXPECT_TRUE(file.partitions[k].lower_bound.has_value());
            }
            ++k;
        }
    }
}

void compare_deletion_vectors(const Table& table, dom::element expected) {
    std::map<std::string, std::vector<uint64_t>> wanted;
    for (Row& row : rows_of(expected, "position_deletes")) {
        std::string file = row.text("delete_file_path");
        if (file.ends_with(".puffin"))
            wanted[file + " " + row.text("file_path")].push_back(static_cast<uint64_t>(*row.number("pos")));
    }
    for (auto& [key, positions] : wanted) std::sort(positions.begin(), positions.end());
    for (const auto& manifest : table.manifests) {
        for (size_t i = 0; i < manifest->size(); ++i) {
            if (!manifest->is_live(i) || !manifest->is_deletion_vector(i)) continue;
            std::string path = table.paths->resolve(manifest->path(i));
            auto file = storage::local_store().open(path);
            auto footer = file::puffin::read_footer(*file);
            auto blob =
                std::find_if(footer.blobs.begin(), footer.blobs.end(), [&](const file::puffin::BlobMetadata& b) {
                    return static_cast<int64_t>(b.offset) == manifest->content_offset(i);
                });
            ASSERT_NE(blob, footer.blobs.end());
            EXPECT_EQ(blob->type, "deletion-vector-v1");
            EXPECT_EQ(blob->properties.at("referenced-data-file"), *manifest->referenced_data_file(i));
            EXPECT_EQ(static_cast<int64_t>(blob->length), manifest->content_size(i));
            auto vector = DeletionVector::parse(file::puffin::read_blob(*file, *blob), path, manifest->record_count(i));
            auto key = std::string(manifest->path(i)) + " " + std::string(*manifest->referenced_data_file(i));
            if (!wanted.empty()) {
                EXPECT_EQ(vector->all(), wanted[key]);
            }
        }
    }
}

void compare_metadata(const Table& table, dom::element expected) {
    const TableMetadata& metadata = *table.metadata;
    EXPECT_EQ(metadata.format_version, int64_t(expected["format_version"]));
    EXPECT_EQ(metadata.location, std::string_view(expected["location"]));
    EXPECT_EQ(metadata.current_schema_id, int64_t(expected["current_schema_id"]));
    EXPECT_EQ(metadata.default_spec_id, int64_t(expected["default_spec_id"]));
    EXPECT_EQ(metadata.schemas.size(), uint64_t(expected["schemas"]));
    EXPECT_EQ(metadata.partition_specs.size(), uint64_t(expected["partition_specs"]));
    Schema wanted = parse_schema(simdjson::minify(dom::element(expected["iceberg_schema"])), "expected");
    EXPECT_TRUE(same_type(*metadata.current_schema().root(), *wanted.root()));
    dom::array snapshots = expected["snapshots"];
    EXPECT_EQ(metadata.snapshots.size(), snapshots.size());
    for (dom::element item : snapshots) {
        const Snapshot* snapshot = metadata.snapshot(int64_t(item["snapshot_id"]));
        ASSERT_NE(snapshot, nullptr);
        EXPECT_EQ(snapshot->timestamp_ms, int64_t(item["committed_at_ms"]));
        if (!item["operation"].is_null()) {
            EXPECT_EQ(snapshot->summary.at("operation"), std::string_view(item["operation"]));
        }
    }
    if (expected["current_snapshot_id"].is_null()) {
        EXPECT_FALSE(metadata.current_snapshot_id.has_value());
    } else {
        EXPECT_EQ(metadata.current_snapshot_id, int64_t(expected["current_snapshot_id"]));
    }
}

class Fixture : public testing::TestWithParam<std::string> {};

}  // namespace

TEST_P(Fixture, IsAsTheReferenceImplementationSays) {
    dom::parser parser;
    dom::element expected = parser.load(kFixtures + "/" + GetParam() + ".expected.json");
    Table table = open_table(GetParam(), std::string_view(expected["metadata_file"]));
    compare_metadata(table, expected);
    if (!table.list) return;
    compare_files(table, expected);
    compare_entries(table, expected);
    compare_manifests(table, expected);
    compare_deletion_vectors(table, expected);
    // Every other snapshot's manifests decode too.
    for (const Snapshot& snapshot : table.metadata->snapshots) {
        auto list = read_list(table, snapshot);
        for (const ManifestFile& file : list->manifests()) {
            EXPECT_GE(read_manifest(table, file)->memory_bytes(), 1u);
        }
    }
}

TEST_P(Fixture, IsFoundByItsNewestVersion) {
    dom::parser parser;
    dom::element expected = parser.load(kFixtures + "/" + GetParam() + ".expected.json");
    std::string_view wanted = std::string_view(expected["metadata_file"]);
    std::string found = find_metadata_file(storage::local_store(), kFixtures + "/" + GetParam(), {});
    EXPECT_EQ(found.substr(found.rfind('/')), wanted.substr(wanted.rfind('/')));
}

INSTANTIATE_TEST_SUITE_P(Tables, Fixture, testing::ValuesIn(table_names()),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });
