// Parquet files: footer, statistics, page index, dictionaries, every column as vectors, whole and for selected rows.
#include "firn/base/query_context.h"
#include "memory_file.h"

namespace {

using namespace firn;

/// Rows that a filter left: pages are passed over, and values picked out of others.
void read_selected(const file::DataFile& data) {
    constexpr uint64_t kRows = 4000;
    constexpr size_t kChunk = 700;
    for (size_t unit = 0; unit < std::min<size_t>(data.units(), 4); ++unit) {
        std::vector<file::ReadField> columns;
        for (const file::FileField& field : data.fields()) columns.push_back(file::read_whole(field));
        const size_t count = columns.size();
        const auto reader = data.read_unit(unit, std::move(columns));
        const uint64_t rows = std::min(data.unit_rows(unit), kRows);
        for (size_t column = 0; column < count; ++column) {
            for (uint64_t begin = 0; begin < rows; begin += kChunk) {
                const auto n = static_cast<size_t>(std::min<uint64_t>(kChunk, rows - begin));
                Selection selection;
                for (uint32_t row = 0; row < n; row += 1 + row % 7) selection.push_back(row);
                if (reader->read(column, begin, n, &selection)->size() != selection.size()) std::abort();
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    QueryContext context(int64_t{256} << 20);
    const QueryContext::Scope scope(&context);
    fuzz::read_data_file(data, size, file::open_parquet);
    try {
        read_selected(*file::open_parquet(std::make_shared<fuzz::MemoryFile>(data, size)));
    } catch (const Error&) {
    }
    return 0;
}
