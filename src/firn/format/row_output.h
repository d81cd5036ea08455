// What formats share that print row by row: a buffer before the sink, and the settings about values.
#pragma once

#include <string>

#include "firn/format/output.h"

namespace firn::format {

class BufferedOutput : public Output {
public:
    BufferedOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink);

protected:
    /// Gives the buffer to the sink when it has grown large.
    void flush_if_large() {
        if (buffer_.size() >= kFlushBytes) flush();
    }
    void flush() {
        if (!buffer_.empty()) sink_(buffer_);
        buffer_.clear();
    }

    static constexpr size_t kFlushBytes = 1 << 16;
    std::vector<Column> columns_;
    OutputContext context_;
    TextOptions text_;
    std::string buffer_;

private:
    ByteSink sink_;
};

using OutputMaker = std::function<std::unique_ptr<Output>(std::vector<Column>, const OutputContext&, ByteSink)>;
using OutputRegistrar = std::function<void(std::string name, OutputMaker maker)>;

// One family a file.
void register_separated_outputs(const OutputRegistrar& add);  // TabSeparated …, CSV …, Null
void register_json_outputs(const OutputRegistrar& add);
void register_pretty_outputs(const OutputRegistrar& add);       // PrettyCompact …, Vertical
void register_json_column_outputs(const OutputRegistrar& add);  // JSONColumns …, PrettyJSONEachRow
void register_literal_outputs(
    const OutputRegistrar& add);  // Values, SQLInsert, TSKV, Markdown, CustomSeparated, RawBLOB
void register_xml_output(const OutputRegistrar& add);
void register_binary_outputs(const OutputRegistrar& add);  // RowBinary …, Native

}  // namespace firn::format
