// Manifest lists and manifests in Avro, and every value of their entries.
#include <string_view>
#include <vector>

#include "firn/base/error.h"
#include "firn/iceberg/manifest.h"
#include "firn/iceberg/manifest_list.h"

namespace {

void walk(const firn::iceberg::Manifest& manifest) {
    using namespace firn::iceberg;
    std::vector<Datum> tuple(manifest.partition_fields());
    const int32_t ids[] = {1, 2, 3, 1000};
    std::vector<ColumnMetrics> metrics(std::size(ids));
    for (size_t i = 0; i < manifest.size(); ++i) {
        (void)manifest.path(i);
        (void)manifest.split_offsets(i);
        (void)manifest.equality_ids(i);
        (void)manifest.referenced_data_file(i);
        manifest.partition(i, tuple);
        manifest.metrics(i, ids, metrics);
        for (size_t map = 0; map < kMetricsMaps; ++map) {
            auto kind = static_cast<MetricsMap>(map);
            if (kind == MetricsMap::LowerBounds || kind == MetricsMap::UpperBounds) {
                (void)manifest.bounds(i, kind);
            } else {
                (void)manifest.counts(i, kind);
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn;
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        walk(*iceberg::parse_manifest(bytes, "manifest.avro", {}));
    } catch (const Error&) {
    }
    try {
        (void)iceberg::parse_manifest_list(bytes, "list.avro");
    } catch (const Error&) {
    }
    return 0;
}
