// JSONColumns, JSONCompactColumns, JSONColumnsWithMetadata (values column by column), PrettyJSONEachRow.
#include <fmt/format.h>

#include "firn/format/json_value.h"
#include "firn/format/row_output.h"

namespace firn::format {
namespace {

enum class Shape { Object, Array, WithMetadata };

/// The columns are collected as text until the end.
class JsonColumnsOutput : public BufferedOutput {
public:
    JsonColumnsOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink, Shape shape)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          shape_(shape),
          options_(JsonOptions::from(context)),
          values_(columns_.size()) {}

    void write(const Batch& batch) override {
        for (size_t i = 0; i < batch.columns.size(); ++i) {
            for (size_t row = 0; row < batch.rows; ++row) {
                if (!values_[i].empty()) values_[i] += ", ";
                append_json(values_[i], *batch.columns[i], row, options_);
            }
        }
        rows_ += batch.rows;
    }

    void write_totals(const Batch& batch) override {
        if (batch.rows) totals_ = object(batch, 0, "\t");
    }
    void write_extremes(const Batch& batch) override {
        if (batch.rows > 1)
            extremes_ = "{\n\t\t\"min\":\n\t\t" + object(batch, 0, "\t\t") + ",\n\t\t\"max\":\n\t\t" +
                        object(batch, 1, "\t\t") + "\n\t}";
    }

    void end(const ResultStatistics& statistics) override {
        if (shape_ == Shape::WithMetadata)
            document(statistics);
        else
            columns_text(shape_ == Shape::Object ? "{" : "[", shape_ == Shape::Object ? "}" : "]", "");
        if (shape_ != Shape::WithMetadata) buffer_.push_back('\n');
        flush();
    }

private:
    void columns_text(std::string_view open, std::string_view close, const std::string& tabs) {
        buffer_ += open;
        buffer_.push_back('\n');
        const bool nothing = shape_ == Shape::WithMetadata && rows_ == 0;
        if (nothing) buffer_.push_back('\n');
        for (size_t i = 0; i < columns_.size() && !nothing; ++i) {
            buffer_ += tabs + "\t";
            if (shape_ != Shape::Array) {
                append_json_string(buffer_, columns_[i].name, options_.slashes);
                buffer_ += ": ";
            }
            buffer_ += "[" + values_[i] + (i + 1 < columns_.size() ? "],\n" : "]\n");
        }
        buffer_ += tabs;
        buffer_ += close;
    }

    std::string object(const Batch& batch, size_t row, const std::string& tabs) {
        std::string out = "{\n";
        for (size_t i = 0; i < batch.columns.size(); ++i) {
            out += tabs + "\t";
            append_json_string(out, columns_[i].name, options_.slashes);
            out += ": ";
            append_json(out, *batch.columns[i], row, options_);
            out += i + 1 < batch.columns.size() ? ",\n" : "\n";
        }
        return out + tabs + "}";
    }

    void document(const ResultStatistics& statistics) {
        buffer_ += "{\n\t\"meta\":\n\t[\n";
        for (size_t i = 0; i < columns_.size(); ++i) {
            buffer_ += "\t\t{\n\t\t\t\"name\": ";
            append_json_string(buffer_, columns_[i].name, options_.slashes);
            buffer_ += ",\n\t\t\t\"type\": ";
            append_json_string(buffer_, columns_[i].type->name(), options_.slashes);
            buffer_ += i + 1 < columns_.size() ? "\n\t\t},\n" : "\n\t\t}\n";
        }
        buffer_ += "\t],\n\n\t\"data\":\n\t";
        columns_text("{", "}", "\t");
        if (!totals_.empty()) buffer_ += ",\n\n\t\"totals\":\n\t" + totals_;
        if (!extremes_.empty()) buffer_ += ",\n\n\t\"extremes\":\n\t" + extremes_;
        buffer_ += fmt::format(",\n\n\t\"rows\": {}", rows_);
        if (statistics.has_rows_before_limit)
            buffer_ += fmt::format(",\n\n\t\"rows_before_limit_at_least\": {}", statistics.rows_before_limit);
        if (context_.settings->get_bool("output_format_write_statistics"))
            buffer_ += fmt::format(
                ",\n\n\t\"statistics\":\n\t{{\n\t\t\"elapsed\": {:.9f},\n\t\t\"rows_read\": {},\n\t\t\"bytes_read\": "
                "{}\n\t}}",
                statistics.elapsed_seconds, statistics.rows_read, statistics.bytes_read);
        buffer_ += "\n}\n";
    }

    Shape shape_;
    JsonOptions options_;
    std::vector<std::string> values_;
    size_t rows_ = 0;
    std::string totals_, extremes_;
};

/// One object a row, spread over lines with four spaces a level.
class PrettyJsonOutput : public BufferedOutput {
public:
    PrettyJsonOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          options_(JsonOptions::from(context)),
          array_(context.settings->get_bool("output_format_json_array_of_rows")) {}

    void begin() override {
        if (array_) buffer_ += "[\n";
    }
    void write(const Batch& batch) override {
        std::string text;
        for (size_t row = 0; row < batch.rows; ++row) {
            if (array_ && rows_) buffer_ += ",\n";
            ++rows_;
            text = "{\n";
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                text.push_back('\t');
                append_json_string(text, columns_[i].name, options_.slashes);
                text += ": ";
                append_json(text, *batch.columns[i], row, options_, 1);
                text += i + 1 < batch.columns.size() ? ",\n" : "\n";
            }
            text.push_back('}');
            // Tabs within strings are escaped: these are all indentation.
            for (const char c : text) {
                if (c == '\t')
                    buffer_ += "    ";
                else
                    buffer_.push_back(c);
            }
            if (!array_) buffer_.push_back('\n');
            flush_if_large();
        }
        flush();
    }
    void end(const ResultStatistics&) override {
        if (array_) buffer_ += "\n]\n";
        flush();
    }

private:
    JsonOptions options_;
    bool array_;
    size_t rows_ = 0;
};

OutputMaker columns_maker(Shape shape) {
    return [shape](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<JsonColumnsOutput>(std::move(columns), context, std::move(sink), shape);
    };
}

}  // namespace

void register_json_column_outputs(const OutputRegistrar& add) {
    add("JSONColumns", columns_maker(Shape::Object));
    add("JSONCompactColumns", columns_maker(Shape::Array));
    add("JSONColumnsWithMetadata", columns_maker(Shape::WithMetadata));
    for (const std::string name : {"PrettyJSONEachRow", "PrettyNDJSON", "PrettyJSONLines"})
        add(name, [](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
            return std::make_unique<PrettyJsonOutput>(std::move(columns), context, std::move(sink));
        });
}

}  // namespace firn::format
