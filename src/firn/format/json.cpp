// JSON, JSONCompact, JSONEachRow, JSONCompactEachRow, and their variants.
#include <fmt/format.h>

#include "firn/format/json_value.h"
#include "firn/format/row_output.h"

namespace firn::format {
namespace {

struct Variant {
    bool compact = false;  // rows are arrays
    bool strings = false;
    bool names = false;  // …EachRow: first rows of names and types
    bool types = false;
};

/// One document: meta, data, totals, statistics.
class JsonOutput : public BufferedOutput {
public:
    JsonOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink, Variant variant)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          variant_(variant),
          options_(JsonOptions::from(context)) {
        options_.all_as_strings = variant.strings;
    }

    void begin() override {
        buffer_ += "{\n\t\"meta\":\n\t[\n";
        for (size_t i = 0; i < columns_.size(); ++i) {
            buffer_ += i ? ",\n\t\t{\n\t\t\t\"name\": " : "\t\t{\n\t\t\t\"name\": ";
            append_json_string(buffer_, columns_[i].name, options_.slashes);
            buffer_ += ",\n\t\t\t\"type\": ";
            append_json_string(buffer_, columns_[i].type->name(), options_.slashes);
            buffer_ += "\n\t\t}";
        }
        buffer_ += "\n\t],\n\n\t\"data\":\n\t[\n";
    }

    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            if (rows_++) buffer_ += ",\n";
            buffer_ += "\t\t";
            one_row(batch, row, 2);
            flush_if_large();
        }
    }

    void write_totals(const Batch& batch) override {
        std::swap(buffer_, totals_);
        if (batch.rows) one_row(batch, 0, 1, false);
        std::swap(buffer_, totals_);
    }
    void write_extremes(const Batch& batch) override {
        if (batch.rows < 2) return;
        std::swap(buffer_, extremes_);
        const std::string after_name = variant_.compact ? " " : "\n\t\t";
        buffer_ += "{\n\t\t\"min\":" + after_name;
        one_row(batch, 0, 2, false);
        buffer_ += ",\n\t\t\"max\":" + after_name;
        one_row(batch, 1, 2, false);
        buffer_ += "\n\t}";
        std::swap(buffer_, extremes_);
    }

    void end(const ResultStatistics& statistics) override {
        buffer_ += "\n\t],\n";
        if (!totals_.empty())
            buffer_ += (variant_.compact ? "\n\t\"totals\": " : "\n\t\"totals\":\n\t") + totals_ + ",\n";
        if (!extremes_.empty()) buffer_ += "\n\t\"extremes\":\n\t" + extremes_ + ",\n";
        buffer_ += fmt::format("\n\t\"rows\": {},\n", rows_);
        if (statistics.has_rows_before_limit)
            buffer_ += fmt::format("\n\t\"rows_before_limit_at_least\": {},\n", statistics.rows_before_limit);
        if (context_.settings->get_bool("output_format_write_statistics")) {
            buffer_ += fmt::format(
                "\n\t\"statistics\":\n\t{{\n\t\t\"elapsed\": {:.9f},\n\t\t\"rows_read\": {},\n\t\t\"bytes_read\": "
                "{}\n\t}}\n",
                statistics.elapsed_seconds, statistics.rows_read, statistics.bytes_read);
        } else {
            buffer_.erase(buffer_.size() - 2);
            buffer_.push_back('\n');
        }
        buffer_ += "}\n";
        flush();
    }

private:
    void one_row(const Batch& batch, size_t row, int indent, bool spread = true) {
        if (variant_.compact) {
            buffer_.push_back('[');
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                if (i) buffer_ += ", ";
                append_json(buffer_, *batch.columns[i], row, options_);
            }
            buffer_.push_back(']');
            return;
        }
        const std::string tabs(static_cast<size_t>(indent), '\t');
        buffer_ += "{\n";
        for (size_t i = 0; i < batch.columns.size(); ++i) {
            if (i) buffer_ += ",\n";
            buffer_ += tabs + "\t";
            append_json_string(buffer_, columns_[i].name, options_.slashes);
            buffer_ += ": ";
            append_json(buffer_, *batch.columns[i], row, options_, spread ? indent + 1 : -1);
        }
        buffer_ += "\n" + tabs + "}";
    }

    Variant variant_;
    JsonOptions options_;
    size_t rows_ = 0;
    std::string totals_, extremes_;
};

/// A JSON value a line.
class JsonEachRowOutput : public BufferedOutput {
public:
    JsonEachRowOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink, Variant variant)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          variant_(variant),
          options_(JsonOptions::from(context)),
          array_(context.settings->get_bool("output_format_json_array_of_rows") && !variant.compact) {
        options_.all_as_strings = variant.strings;
        for (const auto& column : columns_) {
            std::string name;
            append_json_string(name, column.name, options_.slashes);
            names_.push_back(std::move(name));
        }
    }

    void begin() override {
        if (array_) buffer_ += "[\n";
        if (variant_.names) header([&](size_t i) { return names_[i]; });
        if (variant_.types)
            header([&](size_t i) {
                std::string type;
                append_json_string(type, columns_[i].type->name(), options_.slashes);
                return type;
            });
    }

    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            if (array_ && rows_) buffer_ += ",\n";
            ++rows_;
            buffer_.push_back(variant_.compact ? '[' : '{');
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                if (i) buffer_ += variant_.compact ? ", " : ",";
                if (!variant_.compact) buffer_ += names_[i] + ":";
                append_json(buffer_, *batch.columns[i], row, options_);
            }
            buffer_.push_back(variant_.compact ? ']' : '}');
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
    template <typename Text>
    void header(Text text) {
        buffer_.push_back('[');
        for (size_t i = 0; i < columns_.size(); ++i) {
            if (i) buffer_ += ", ";
            buffer_ += text(i);
        }
        buffer_ += "]\n";
    }

    Variant variant_;
    JsonOptions options_;
    bool array_;
    std::vector<std::string> names_;
    size_t rows_ = 0;
};

template <typename Format>
OutputMaker maker(Variant variant) {
    return [variant](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<Format>(std::move(columns), context, std::move(sink), variant);
    };
}

}  // namespace

void register_json_outputs(const OutputRegistrar& add) {
    add("JSON", maker<JsonOutput>({}));
    add("JSONStrings", maker<JsonOutput>({.strings = true}));
    add("JSONCompact", maker<JsonOutput>({.compact = true}));
    add("JSONCompactStrings", maker<JsonOutput>({.compact = true, .strings = true}));
    for (const std::string name : {"JSONEachRow", "NDJSON", "JSONLines"}) add(name, maker<JsonEachRowOutput>({}));
    add("JSONStringsEachRow", maker<JsonEachRowOutput>({.strings = true}));
    for (const bool strings : {false, true}) {
        const std::string name = strings ? "JSONCompactStringsEachRow" : "JSONCompactEachRow";
        add(name, maker<JsonEachRowOutput>({.compact = true, .strings = strings}));
        add(name + "WithNames", maker<JsonEachRowOutput>({.compact = true, .strings = strings, .names = true}));
        add(name + "WithNamesAndTypes",
            maker<JsonEachRowOutput>({.compact = true, .strings = strings, .names = true, .types = true}));
    }
}

}  // namespace firn::format
