// Rows as literals or as named fields: Values, SQLInsert, TSKV, Markdown, CustomSeparated, RawBLOB.
#include <algorithm>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/format/json_value.h"
#include "firn/format/row_output.h"

namespace firn::format {
namespace {

bool is_missing(const Vector& vector, size_t row) {
    return vector.is_null(row) || unwrap(vector.type())->id() == TypeId::Nothing;
}

/// As TabSeparated has it.
void append_tab_separated(std::string& out, const Vector& vector, size_t row, const TextOptions& options) {
    if (is_missing(vector, row))
        out += "\\N";
    else if (vector.type()->physical() == Physical::Str)
        append_escaped(out, vector.flat_base().values<StringRef>()[vector.base_row(row)].view(), '\'');
    else
        append_text(out, vector, row, options);
}

void append_literal(std::string& out, const Vector& vector, size_t row, const TextOptions& options) {
    if (is_missing(vector, row))
        out += "NULL";
    else
        append_quoted_text(out, vector, row, options);
}

class ValuesOutput : public BufferedOutput {
public:
    using BufferedOutput::BufferedOutput;
    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            buffer_ += rows_++ ? ",(" : "(";
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                if (i) buffer_.push_back(',');
                append_literal(buffer_, *batch.columns[i], row, text_);
            }
            buffer_.push_back(')');
            flush_if_large();
        }
        flush();
    }

private:
    size_t rows_ = 0;
};

class SqlInsertOutput : public BufferedOutput {
public:
    SqlInsertOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          most_(std::max<uint64_t>(1, context.settings->get_uint("output_format_sql_insert_max_batch_size"))) {
        const Settings& settings = *context.settings;
        head_ = settings.get_bool("output_format_sql_insert_use_replace") ? "REPLACE INTO " : "INSERT INTO ";
        head_ += settings.get_string("output_format_sql_insert_table_name");
        if (settings.get_bool("output_format_sql_insert_include_column_names")) {
            const std::string_view quote = settings.get_bool("output_format_sql_insert_quote_names") ? "`" : "";
            head_ += " (";
            for (size_t i = 0; i < columns_.size(); ++i)
                head_ += fmt::format("{}{}{}{}", i ? ", " : "", quote, columns_[i].name, quote);
            head_ += ")";
        }
        head_ += " VALUES ";
    }
    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            if (rows_ == most_) {
                buffer_ += ";\n";
                rows_ = 0;
            }
            buffer_ += rows_++ ? ", (" : head_ + "(";
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                if (i) buffer_ += ", ";
                append_literal(buffer_, *batch.columns[i], row, text_);
            }
            buffer_.push_back(')');
            flush_if_large();
        }
    }
    void end(const ResultStatistics&) override {
        buffer_ += ";\n";
        flush();
    }

private:
    uint64_t most_, rows_ = 0;
    std::string head_;
};

class TskvOutput : public BufferedOutput {
public:
    TskvOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink)
        : BufferedOutput(std::move(columns), context, std::move(sink)) {
        for (const auto& column : columns_) {
            std::string escaped, name;
            append_escaped(escaped, column.name, 0);
            for (const char c : escaped) name += c == '=' ? std::string("\\=") : std::string(1, c);
            names_.push_back(name + "=");
        }
    }
    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                if (i) buffer_.push_back('\t');
                buffer_ += names_[i];
                append_tab_separated(buffer_, *batch.columns[i], row, text_);
            }
            buffer_.push_back('\n');
            flush_if_large();
        }
        flush();
    }

private:
    std::vector<std::string> names_;
};

class MarkdownOutput : public BufferedOutput {
public:
    using BufferedOutput::BufferedOutput;
    void begin() override {
        buffer_ += "|";
        for (const auto& column : columns_) buffer_ += " " + column.name + " |";
        buffer_ += "\n|";
        for (const auto& column : columns_) {
            const TypeId id = unwrap(column.type)->id();
            buffer_ += (is_number(id) && id != TypeId::Bool) || is_date_or_time(id) ? "-:|" : ":-|";
        }
        buffer_ += "\n";
        flush();
    }
    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            buffer_ += "|";
            for (const auto& column : batch.columns) {
                buffer_ += " ";
                append_tab_separated(buffer_, *column, row, text_);
                buffer_ += " |";
            }
            buffer_.push_back('\n');
            flush_if_large();
        }
        flush();
    }
};

/// Delimiters and the way values are written come from settings.
class CustomSeparatedOutput : public BufferedOutput {
public:
    CustomSeparatedOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink, bool names,
                          bool types)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          names_(names),
          types_(types),
          json_(JsonOptions::from(context)) {
        const auto text = [&](std::string_view name) { return context.settings->get_string(name); };
        rule_ = text("format_custom_escaping_rule");
        field_ = text("format_custom_field_delimiter");
        before_ = text("format_custom_row_before_delimiter");
        after_ = text("format_custom_row_after_delimiter");
        between_ = text("format_custom_row_between_delimiter");
        result_before_ = text("format_custom_result_before_delimiter");
        result_after_ = text("format_custom_result_after_delimiter");
        for (const std::string_view known : {"Escaped", "Quoted", "CSV", "JSON", "Raw"})
            if (rule_ == known) return;
        fail(ErrorCode::BAD_ARGUMENTS,
             "Escaping rule {} is not supported by format CustomSeparated: it knows Escaped, Quoted, CSV, JSON, Raw",
             rule_);
    }
    void begin() override {
        buffer_ += result_before_;
        if (names_) header([](const Column& column) { return column.name; });
        if (types_) header([](const Column& column) { return column.type->name(); });
    }
    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            open_row();
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                if (i) buffer_ += field_;
                value(*batch.columns[i], row);
            }
            buffer_ += after_;
            flush_if_large();
        }
    }
    void end(const ResultStatistics&) override {
        buffer_ += result_after_;
        flush();
    }

private:
    void open_row() {
        if (rows_++) buffer_ += between_;
        buffer_ += before_;
    }
    template <typename Text>
    void header(Text text) {
        open_row();
        for (size_t i = 0; i < columns_.size(); ++i) {
            if (i) buffer_ += field_;
            word(text(columns_[i]));
        }
        buffer_ += after_;
    }
    void word(std::string_view text) {
        if (rule_ == "Raw") {
            buffer_ += text;
        } else if (rule_ == "Escaped") {
            append_escaped(buffer_, text, '\'');
        } else if (rule_ == "Quoted") {
            buffer_.push_back('\'');
            append_escaped(buffer_, text, '\'');
            buffer_.push_back('\'');
        } else if (rule_ == "JSON") {
            append_json_string(buffer_, text, json_.slashes);
        } else {
            buffer_.push_back('"');
            for (const char c : text) buffer_.append(c == '"' ? 2 : 1, c);
            buffer_.push_back('"');
        }
    }
    void value(const Vector& vector, size_t row) {
        if (rule_ == "Escaped") return append_tab_separated(buffer_, vector, row, text_);
        if (rule_ == "Quoted") return append_literal(buffer_, vector, row, text_);
        if (rule_ == "JSON") return append_json(buffer_, vector, row, json_);
        if (is_missing(vector, row)) {
            buffer_ += "\\N";
            return;
        }
        const TypeId id = unwrap(vector.type())->id();
        if (rule_ == "Raw" || is_number(id) || id == TypeId::Interval) return append_text(buffer_, vector, row, text_);
        std::string text;
        append_text(text, vector, row, text_);
        word(text);
    }

    bool names_, types_;
    JsonOptions json_;
    std::string rule_, field_, before_, after_, between_, result_before_, result_after_;
    size_t rows_ = 0;
};

/// The bytes of strings, one after another.
class RawBlobOutput : public BufferedOutput {
public:
    using BufferedOutput::BufferedOutput;
    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row)
            for (const auto& column : batch.columns) {
                const Vector& flat = column->flat_base();
                const size_t at = column->base_row(row);
                if (flat.nulls() && flat.nulls()[at]) continue;
                switch (flat.type()->physical()) {
                    case Physical::Str:
                        buffer_ += flat.values<StringRef>()[at].view();
                        break;
                    case Physical::Array:
                    case Physical::Tuple:
                    case Physical::None:
                        fail(ErrorCode::NOT_IMPLEMENTED,
                             "Values of type {} have no bytes that format RawBLOB could write", column->type()->name());
                    default:
                        buffer_.append(flat.values_buffer()->data() + at * flat.type()->value_size(),
                                       flat.type()->value_size());
                }
            }
        flush();
    }
};

template <typename Format, typename... More>
OutputMaker maker(More... more) {
    return [more...](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<Format>(std::move(columns), context, std::move(sink), more...);
    };
}

}  // namespace

void register_literal_outputs(const OutputRegistrar& add) {
    add("Values", maker<ValuesOutput>());
    add("SQLInsert", maker<SqlInsertOutput>());
    add("TSKV", maker<TskvOutput>());
    add("Markdown", maker<MarkdownOutput>());
    add("MD", maker<MarkdownOutput>());
    add("CustomSeparated", maker<CustomSeparatedOutput>(false, false));
    add("CustomSeparatedWithNames", maker<CustomSeparatedOutput>(true, false));
    add("CustomSeparatedWithNamesAndTypes", maker<CustomSeparatedOutput>(true, true));
    add("RawBLOB", maker<RawBlobOutput>());
}

}  // namespace firn::format
