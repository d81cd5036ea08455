#include "firn/session/spill_settings.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "firn/base/error.h"
#include "firn/base/machine_memory.h"

namespace firn::session {
namespace {

constexpr double kShareOfMachine = 0.9;
constexpr int64_t kMostBytes = kUnknownMemory;

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
