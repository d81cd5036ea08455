#include "firn/session/spill_settings.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>

#include "firn/base/error.h"

namespace firn::session {
namespace {

constexpr double kShareOfMachine = 0.9;
constexpr int64_t kMostBytes = INT64_MAX / 8;

/// Bytes of memory that the process may have; kMostBytes where nobody says.
int64_t machine_memory() {
    static const int64_t bytes = [] {
        int64_t least = kMostBytes;
        const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
        if (pages > 0 && size > 0) least = std::min<int64_t>(least, int64_t{pages} * size);
        for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
            int64_t limit = 0;
            if (std::ifstream(file) >> limit && limit > 0) least = std::min(least, limit);
        }
        return least;
    }();
    return bytes;
}

int64_t threshold(const Settings& settings, const std::string& what, int64_t memory) {
    const double ratio = settings.get_float("max_bytes_ratio_before_external_" + what);
    if (!(ratio >= 0 && ratio < 1))
        fail(ErrorCode::BAD_ARGUMENTS, "Setting max_bytes_ratio_before_external_{} should be >= 0 and < 1 ({})", what,
             ratio);
    const auto bytes =
        static_cast<int64_t>(std::min<uint64_t>(settings.get_uint("max_bytes_before_external_" + what), kMostBytes));
    const auto share = static_cast<int64_t>(ratio * static_cast<double>(memory));
    if (bytes == 0) return share;
    return share == 0 ? bytes : std::min(bytes, share);
}

exec::SpillCodec codec_of(const std::string& name) {
    std::string upper = name;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (upper.empty() || upper == "LZ4") return exec::SpillCodec::Lz4;
    if (upper == "ZSTD") return exec::SpillCodec::Zstd;
    if (upper == "NONE") return exec::SpillCodec::None;
    fail(ErrorCode::BAD_ARGUMENTS, "Setting temporary_files_codec is '{}': LZ4, ZSTD and NONE are supported", name);
}

}  // namespace

void set_spill_options(const Settings& settings, exec::ExecutionOptions& options) {
    const auto limit = static_cast<int64_t>(std::min<uint64_t>(settings.get_uint("max_memory_usage"), kMostBytes));
    const int64_t memory =
        limit ? limit : static_cast<int64_t>(kShareOfMachine * static_cast<double>(machine_memory()));
    options.spill_group_by_bytes = threshold(settings, "group_by", memory);
    options.spill_distinct_bytes = threshold(settings, "distinct", memory);
    options.spill_sort_bytes = threshold(settings, "sort", memory);
    options.spill_join_bytes = threshold(settings, "join", memory);
    options.temporary_directory = settings.get_string("firn_temporary_directory");
    options.spill_codec = codec_of(settings.get_string("temporary_files_codec"));
    options.most_spilled_bytes = settings.get_uint("max_temporary_data_on_disk_size_for_query");
}

}  // namespace firn::session
