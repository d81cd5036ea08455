// TabSeparated and CSV, with their variants, and Null.
#include "firn/base/escape.h"
#include "firn/format/row_output.h"

namespace firn::format {
namespace {

struct Variant {
    bool names = false;
    bool types = false;
    bool raw = false;
};

class TabSeparatedOutput : public BufferedOutput {
public:
    TabSeparatedOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink, Variant variant)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          variant_(variant),
          null_(context.settings->get_string("format_tsv_null_representation")) {
        if (null_.empty()) null_ = "\\N";
    }

    void begin() override {
        if (variant_.names) header([](const Column& column) { return column.name; });
        if (variant_.types) header([](const Column& column) { return column.type->name(); });
        flush();
    }

    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                if (i) buffer_.push_back('\t');
                value(*batch.columns[i], row);
            }
            buffer_.push_back('\n');
            flush_if_large();
        }
        flush();
    }

    void write_totals(const Batch& batch) override {
        buffer_.push_back('\n');
        write(batch);
    }
    void write_extremes(const Batch& batch) override { write_totals(batch); }

private:
    template <typename Text>
    void header(Text text) {
        for (size_t i = 0; i < columns_.size(); ++i) {
            if (i) buffer_.push_back('\t');
            if (variant_.raw)
                buffer_ += text(columns_[i]);
            else
                append_escaped(buffer_, text(columns_[i]), '\'');
        }
        buffer_.push_back('\n');
    }

    void value(const Vector& vector, size_t row) {
        if (vector.is_null(row) || vector.type()->id() == TypeId::Nothing) {
            buffer_ += null_;
        } else if (vector.type()->physical() == Physical::Str && !variant_.raw) {
            append_escaped(buffer_, vector.flat_base().values<StringRef>()[vector.base_row(row)].view(), '\'');
        } else {
            append_text(buffer_, vector, row, text_);
        }
    }

    Variant variant_;
    std::string null_;
};

class CsvOutput : public BufferedOutput {
public:
    CsvOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink, Variant variant)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          variant_(variant),
          null_(context.settings->get_string("format_csv_null_representation")),
          separate_tuples_(context.settings->get_bool("output_format_csv_serialize_tuple_into_separate_columns")),
          separate_tuple_names_(
              context.settings->get_bool("output_format_csv_header_serialize_tuple_into_separate_columns")) {
        const std::string delimiter = context.settings->get_string("format_csv_delimiter");
        if (!delimiter.empty()) delimiter_ = delimiter[0];
        if (null_.empty()) null_ = "\\N";
        end_of_line_ = context.settings->get_bool("output_format_csv_crlf_end_of_line") ? "\r\n" : "\n";
    }

    void begin() override {
        if (variant_.names) header(false);
        if (variant_.types) header(true);
        flush();
    }

    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                if (i) buffer_.push_back(delimiter_);
                value(*batch.columns[i], row);
            }
            buffer_ += end_of_line_;
            flush_if_large();
        }
        flush();
    }

    void write_totals(const Batch& batch) override {
        buffer_ += end_of_line_;
        write(batch);
    }
    void write_extremes(const Batch& batch) override { write_totals(batch); }

private:
    void header(bool types) {
        for (size_t i = 0; i < columns_.size(); ++i) {
            if (i) buffer_.push_back(delimiter_);
            header_cell(columns_[i].name, columns_[i].type, types);
        }
        buffer_ += end_of_line_;
    }
    /// A tuple takes as many cells as it has elements: t.1, t.2, or t.name.
    void header_cell(const std::string& name, const TypePtr& type, bool types) {
        if (type->id() != TypeId::Tuple || !separate_tuples_ || !separate_tuple_names_)
            return quoted(types ? type->name() : name);
        for (size_t i = 0; i < type->children().size(); ++i) {
            if (i) buffer_.push_back(delimiter_);
            header_cell(name + "." + (type->names().empty() ? std::to_string(i + 1) : type->names()[i]), type->child(i),
                        types);
        }
    }

    void quoted(std::string_view text) {
        buffer_.push_back('"');
        for (char c : text) {
            if (c == '"') buffer_.push_back('"');
            buffer_.push_back(c);
        }
        buffer_.push_back('"');
    }

    void value(const Vector& vector, size_t row) {
        const TypePtr type = unwrap(vector.type());
        if (vector.is_null(row) || type->id() == TypeId::Nothing) {
            buffer_ += null_;
        } else if (type->id() == TypeId::Tuple && separate_tuples_) {
            const Vector& flat = vector.flat_base();
            const size_t at = vector.base_row(row);
            for (size_t i = 0; i < flat.children().size(); ++i) {
                if (i) buffer_.push_back(delimiter_);
                value(*flat.child(i), at);
            }
        } else if (is_number(type->id()) || type->id() == TypeId::Interval) {
            append_text(buffer_, vector, row, text_);
        } else {
            scratch_.clear();
            append_text(scratch_, vector, row, text_);
            quoted(scratch_);
        }
    }

    Variant variant_;
    std::string null_;
    bool separate_tuples_, separate_tuple_names_;
    char delimiter_ = ',';
    std::string_view end_of_line_;
    std::string scratch_;
};

class NullOutput : public Output {
public:
    void write(const Batch&) override {}
};

template <typename Format>
OutputMaker maker(Variant variant) {
    return [variant](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<Format>(std::move(columns), context, std::move(sink), variant);
    };
}

}  // namespace

void register_separated_outputs(const OutputRegistrar& add) {
    for (const std::string name : {"TabSeparated", "TSV"}) {
        add(name, maker<TabSeparatedOutput>({}));
        add(name + "WithNames", maker<TabSeparatedOutput>({.names = true}));
        add(name + "WithNamesAndTypes", maker<TabSeparatedOutput>({.names = true, .types = true}));
        add(name + "Raw", maker<TabSeparatedOutput>({.raw = true}));
        add(name + "RawWithNames", maker<TabSeparatedOutput>({.names = true, .raw = true}));
        add(name + "RawWithNamesAndTypes", maker<TabSeparatedOutput>({.names = true, .types = true, .raw = true}));
    }
    add("LineAsString", maker<TabSeparatedOutput>({.raw = true}));
    add("Raw", maker<TabSeparatedOutput>({.raw = true}));
    add("CSV", maker<CsvOutput>({}));
    add("CSVWithNames", maker<CsvOutput>({.names = true}));
    add("CSVWithNamesAndTypes", maker<CsvOutput>({.names = true, .types = true}));
    add("Null", [](std::vector<Column>, const OutputContext&, ByteSink) { return std::make_unique<NullOutput>(); });
}

}  // namespace firn::format
