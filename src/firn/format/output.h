// Output formats: batches in, bytes out.
//
// A format is registered by its names; make_output gives a writer for one result. The writer gives its bytes to a sink, in
// pieces, as they come: begin() once, write() for each batch, end() once. Thread-safety: none, one result is one thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/settings.h"
#include "firn/types/data_type.h"
#include "firn/vector/vector.h"
#include "firn/vector/vector_text.h"

namespace firn::format {

struct Column {
    std::string name;
    TypePtr type;
};

using ByteSink = std::function<void(std::string_view)>;

/// What formats know of the result as a whole, for those that print it (JSON).
struct ResultStatistics {
    double elapsed_seconds = 0;
    uint64_t rows_read = 0;
    uint64_t bytes_read = 0;
    /// Rows that there would be without LIMIT; shown by JSON where known.
    bool has_rows_before_limit = false;
    uint64_t rows_before_limit = 0;
};

struct OutputContext {
    const Settings* settings = nullptr;
    const TimeZone* zone = &TimeZone::utc();
    bool color = false;
    size_t terminal_width = 0;  // 0 = not a terminal
};

class Output {
public:
    virtual ~Output() = default;
    virtual void begin() {}
    virtual void write(const Batch& batch) = 0;
    /// A row of totals (WITH TOTALS), after all rows. Formats without a place for it print nothing.
    virtual void write_totals(const Batch& batch) {}
    /// The least and the greatest values (setting extremes): two rows, after the totals.
    virtual void write_extremes(const Batch& batch) {}
    virtual void end(const ResultStatistics& statistics) {}
};

/// UNKNOWN_FORMAT where no format has that name (names ignore case).
std::unique_ptr<Output> make_output(std::string_view name, std::vector<Column> columns, const OutputContext& context,
                                    ByteSink sink);
std::vector<std::string> output_format_names();

}  // namespace firn::format
