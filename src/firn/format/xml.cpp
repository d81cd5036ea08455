// XML: meta, data, totals, extremes, statistics.
#include <cctype>

#include <fmt/format.h>

#include "firn/format/row_output.h"

namespace firn::format {
namespace {

void append_xml_text(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else
            out.push_back(c);
    }
}

bool is_element_name(std::string_view name) {
    if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_')) return false;
    for (const char c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') return false;
    return true;
}

class XmlOutput : public BufferedOutput {
public:
    XmlOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink)
        : BufferedOutput(std::move(columns), context, std::move(sink)) {
        for (const auto& column : columns_) elements_.push_back(is_element_name(column.name) ? column.name : "field");
    }

    void begin() override {
        buffer_ += "<?xml version='1.0' encoding='UTF-8' ?>\n<result>\n\t<meta>\n\t\t<columns>\n";
        for (const auto& column : columns_) {
            buffer_ += "\t\t\t<column>\n\t\t\t\t<name>";
            append_xml_text(buffer_, column.name);
            buffer_ += "</name>\n\t\t\t\t<type>";
            append_xml_text(buffer_, column.type->name());
            buffer_ += "</type>\n\t\t\t</column>\n";
        }
        buffer_ += "\t\t</columns>\n\t</meta>\n\t<data>\n";
    }

    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            one_row(batch, row, "\t\t", "row");
            ++rows_;
            flush_if_large();
        }
    }

    void write_totals(const Batch& batch) override {
        std::swap(buffer_, tail_);
        if (batch.rows) one_row(batch, 0, "\t", "totals");
        std::swap(buffer_, tail_);
    }
    void write_extremes(const Batch& batch) override {
        std::swap(buffer_, tail_);
        if (batch.rows > 1) {
            buffer_ += "\t<extremes>\n";
            one_row(batch, 0, "\t\t", "min");
            one_row(batch, 1, "\t\t", "max");
            buffer_ += "\t</extremes>\n";
        }
        std::swap(buffer_, tail_);
    }

    void end(const ResultStatistics& statistics) override {
        buffer_ += "\t</data>\n" + tail_;
        buffer_ += fmt::format("\t<rows>{}</rows>\n", rows_);
        if (statistics.has_rows_before_limit)
            buffer_ += fmt::format("\t<rows_before_limit_at_least>{}</rows_before_limit_at_least>\n",
                                   statistics.rows_before_limit);
        if (context_.settings->get_bool("output_format_write_statistics"))
            buffer_ += fmt::format(
                "\t<statistics>\n\t\t<elapsed>{:.9f}</elapsed>\n\t\t<rows_read>{}</rows_read>\n\t\t<bytes_read>{}</"
                "bytes_read>\n\t</statistics>\n",
                statistics.elapsed_seconds, statistics.rows_read, statistics.bytes_read);
        buffer_ += "</result>\n";
        flush();
    }

private:
    void one_row(const Batch& batch, size_t row, std::string_view tabs, std::string_view element) {
        buffer_ += fmt::format("{}<{}>\n", tabs, element);
        for (size_t i = 0; i < batch.columns.size(); ++i) {
            buffer_ += fmt::format("{}\t<{}>", tabs, elements_[i]);
            value(*batch.columns[i], row);
            buffer_ += fmt::format("</{}>\n", elements_[i]);
        }
        buffer_ += fmt::format("{}</{}>\n", tabs, element);
    }

    void value(const Vector& vector, size_t row) {
        const Vector& flat = vector.flat_base();
        const size_t at = vector.base_row(row);
        const TypePtr type = unwrap(flat.type());
        if ((flat.nulls() && flat.nulls()[at]) || type->id() == TypeId::Nothing) {
            buffer_ += "\\N";
            return;
        }
        switch (type->id()) {
            case TypeId::Array:
                buffer_ += "<array>";
                for (int64_t i = flat.offsets()[at]; i < flat.offsets()[at + 1]; ++i)
                    element("elem", *flat.child(), static_cast<size_t>(i));
                buffer_ += "</array>";
                return;
            case TypeId::Tuple:
                buffer_ += "<tuple>";
                for (size_t i = 0; i < flat.children().size(); ++i) element("elem", *flat.child(i), at);
                buffer_ += "</tuple>";
                return;
            case TypeId::Map: {
                const Vector& pairs = flat.child()->flat_base();
                buffer_ += "<map>";
                for (int64_t i = flat.offsets()[at]; i < flat.offsets()[at + 1]; ++i) {
                    const size_t pair = flat.child()->base_row(static_cast<size_t>(i));
                    buffer_ += "<elem>";
                    element("key", *pairs.child(0), pair);
                    element("value", *pairs.child(1), pair);
                    buffer_ += "</elem>";
                }
                buffer_ += "</map>";
                return;
            }
            default: {
                std::string text;
                append_text(text, flat, at, text_);
                append_xml_text(buffer_, text);
            }
        }
    }
    void element(std::string_view name, const Vector& vector, size_t row) {
        buffer_ += fmt::format("<{}>", name);
        value(vector, row);
        buffer_ += fmt::format("</{}>", name);
    }

    std::vector<std::string> elements_;
    size_t rows_ = 0;
    std::string tail_;
};

}  // namespace

void register_xml_output(const OutputRegistrar& add) {
    add("XML", [](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<XmlOutput>(std::move(columns), context, std::move(sink));
    });
}

}  // namespace firn::format
