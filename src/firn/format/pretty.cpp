// Pretty, PrettyCompact, PrettySpace (tables for people) and Vertical.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "firn/format/row_output.h"

namespace firn::format {
namespace {

constexpr size_t kMaxRows = 10000;        // rows printed; the rest is only counted
constexpr size_t kRowsOfOneTable = 1000;  // collected before widths are settled
constexpr std::string_view kNull = "ᴺᵁᴸᴸ";

/// Columns a terminal needs: code points, wide ones (CJK, emoji) as two, combining marks as none.
size_t display_width(std::string_view text) {
    size_t width = 0;
    for (size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
        uint32_t point = byte < 0x80 ? byte : byte & (0xFF >> (length + 1));
        for (size_t j = 1; j < length && i + j < text.size(); ++j)
            point = point << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3F);
        const bool combining = (point >= 0x300 && point <= 0x36F) || point == 0x200B || point == 0x200D;
        const bool wide = (point >= 0x1100 && point <= 0x115F) || (point >= 0x2E80 && point <= 0xA4CF) ||
                          (point >= 0xAC00 && point <= 0xD7A3) || (point >= 0xF900 && point <= 0xFAFF) ||
                          (point >= 0xFE30 && point <= 0xFE6F) || (point >= 0xFF00 && point <= 0xFF60) ||
                          (point >= 0x1F300 && point <= 0x1FAFF) || (point >= 0x20000 && point <= 0x3FFFD);
        width += combining ? 0 : (wide ? 2 : 1);
        i += length;
    }
    return width;
}

std::string repeat(std::string_view piece, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; ++i) out += piece;
    return out;
}

bool right_aligned(const TypePtr& type) {
    const TypeId id = unwrap(type)->id();
    return is_number(id) && id != TypeId::Bool;
}

/// "1.23 million" beside a single large number.
std::string readable_tip(const Vector& vector, size_t row) {
    if (vector.is_null(row)) return {};
    const TypePtr type = unwrap(vector.type());
    if (!is_number(type->id()) || type->id() == TypeId::Bool) return {};
    std::string text;
    append_text(text, vector, row);
    const double value = std::strtod(text.c_str(), nullptr);
    if (!std::isfinite(value) || std::abs(value) <= 1e6) return {};
    constexpr std::string_view units[] = {"million", "billion", "trillion", "quadrillion", "quintillion", "sextillion"};
    double scaled = value / 1e6;
    size_t unit = 0;
    while (std::abs(scaled) >= 1000 && unit + 1 < std::size(units)) {
        scaled /= 1000;
        ++unit;
    }
    return fmt::format("{:.2f} {}", scaled, units[unit]);
}

enum class Frame { Full, Compact, Space };

class PrettyOutput : public BufferedOutput {
public:
    PrettyOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink, Frame frame)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          frame_(frame),
          row_numbers_(context.settings->get_bool("output_format_pretty_row_numbers")),
          widest_(context.settings->get_uint("output_format_pretty_max_value_width")) {}

    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            if (total_++ >= kMaxRows) continue;
            std::vector<std::string> cells;
            for (const auto& column : batch.columns) {
                std::string cell;
                if (column->is_null(row) || unwrap(column->type())->id() == TypeId::Nothing)
                    cell = kNull;
                else
                    append_text(cell, *column, row, text_);
                cells.push_back(std::move(cell));
            }
            rows_.push_back(std::move(cells));
            if (total_ == 1 && batch.columns.size() == 1) tip_ = readable_tip(*batch.columns[0], row);
        }
        if (rows_.size() >= kRowsOfOneTable) print_table();
    }

    void write_totals(const Batch& batch) override {
        print_table();
        buffer_ += "\nTotals:\n";
        total_ = 0;
        write(batch);
    }

    void end(const ResultStatistics&) override {
        print_table();
        if (total_ > kMaxRows) buffer_ += fmt::format("  Showed first {}.\n", kMaxRows);
        flush();
    }

private:
    struct Style {
        std::string_view left, middle, right, rule, between_rows_left, between_rows_middle, between_rows_right;
    };

    void print_table() {
        if (rows_.empty()) return;
        std::vector<size_t> widths;
        for (const auto& column : columns_) widths.push_back(display_width(column.name));
        for (auto& row : rows_)
            for (size_t i = 0; i < row.size(); ++i)
                for (const auto& line : lines(row[i]))
                    widths[i] = std::max(widths[i], std::min<size_t>(display_width(line), widest_));
        const size_t last = printed_ + rows_.size();
        number_width_ = row_numbers_ ? std::max<size_t>(1, std::to_string(last).size()) + 2 : 0;
        header(widths);
        for (const auto& row : rows_) {
            if (frame_ == Frame::Full && &row != &rows_.front()) rule(widths, "├", "┼", "┤", "─");
            body(row, widths);
        }
        if (frame_ != Frame::Space) rule(widths, "└", "┴", "┘", "─");
        printed_ = last;
        rows_.clear();
        flush();
    }

    void indent() { buffer_.append(number_width_, ' '); }

    void rule(const std::vector<size_t>& widths, std::string_view left, std::string_view middle, std::string_view right,
              std::string_view line) {
        indent();
        for (size_t i = 0; i < widths.size(); ++i) {
            buffer_ += i ? middle : left;
            buffer_ += repeat(line, widths[i] + 2);
        }
        buffer_ += right;
        buffer_.push_back('\n');
    }

    void header(const std::vector<size_t>& widths) {
        if (frame_ == Frame::Full) rule(widths, "┏", "┳", "┓", "━");
        indent();
        for (size_t i = 0; i < widths.size(); ++i) {
            const bool right = right_aligned(columns_[i].type);
            const size_t padding = widths[i] - display_width(columns_[i].name);
            const std::string_view line = frame_ == Frame::Compact ? "─" : " ";
            if (frame_ == Frame::Compact)
                buffer_ += i ? "┬" : "┌";
            else if (frame_ == Frame::Full)
                buffer_ += "┃";
            buffer_ += line;
            if (right) buffer_ += repeat(line, padding);
            if (context_.color) buffer_ += "\033[1m";
            buffer_ += columns_[i].name;
            if (context_.color) buffer_ += "\033[0m";
            if (!right) buffer_ += repeat(line, padding);
            buffer_ += line;
        }
        buffer_ += frame_ == Frame::Compact ? "┐\n" : frame_ == Frame::Full ? "┃\n" : "\n";
        if (frame_ == Frame::Full) rule(widths, "┡", "╇", "┩", "━");
        if (frame_ == Frame::Space) buffer_.push_back('\n');
    }

    static std::vector<std::string_view> lines(std::string_view cell) {
        std::vector<std::string_view> out;
        for (;;) {
            const size_t end = cell.find('\n');
            out.push_back(cell.substr(0, end));
            if (end == std::string_view::npos) return out;
            cell.remove_prefix(end + 1);
        }
    }

    void body(const std::vector<std::string>& row, const std::vector<size_t>& widths) {
        ++body_rows_;
        size_t height = 1;
        std::vector<std::vector<std::string_view>> cells;
        for (const auto& cell : row) {
            cells.push_back(lines(cell));
            height = std::max(height, cells.back().size());
        }
        for (size_t line = 0; line < height; ++line) {
            if (row_numbers_)
                buffer_ += line == 0 ? fmt::format("{:>{}}. ", body_rows_, number_width_ - 2)
                                     : std::string(number_width_, ' ');
            for (size_t i = 0; i < row.size(); ++i) {
                if (frame_ != Frame::Space) buffer_ += "│";
                cell_line(cells[i], line, widths[i], right_aligned(columns_[i].type));
            }
            if (frame_ != Frame::Space) buffer_ += "│";
            if (!tip_.empty() && line == 0 && body_rows_ == 1) buffer_ += " -- " + tip_;
            buffer_.push_back('\n');
        }
    }

    /// A value of several lines is shown with arrows where it goes on.
    void cell_line(const std::vector<std::string_view>& cell, size_t line, size_t width, bool right) {
        const std::string_view text = line < cell.size() ? cell[line] : std::string_view();
        const size_t used = std::min(display_width(text), width);
        buffer_ += line > 0 && line < cell.size() ? "↳" : " ";
        if (right) buffer_.append(width - used, ' ');
        if (right && context_.color) buffer_ += "\033[1;34m";
        buffer_ += display_width(text) > width ? std::string(text.substr(0, width - 1)) + "⋯" : std::string(text);
        if (right && context_.color) buffer_ += "\033[0m";
        if (!right) buffer_.append(width - used, ' ');
        buffer_ += line + 1 < cell.size() ? "↴" : " ";
    }

    Frame frame_;
    bool row_numbers_;
    size_t widest_;
    std::vector<std::vector<std::string>> rows_;
    size_t total_ = 0;
    size_t printed_ = 0;
    size_t body_rows_ = 0;
    size_t number_width_ = 0;
    std::string tip_;
};

class VerticalOutput : public BufferedOutput {
public:
    VerticalOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink)
        : BufferedOutput(std::move(columns), context, std::move(sink)) {
        for (const auto& column : columns_) widest_ = std::max(widest_, display_width(column.name));
    }

    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            const std::string title = fmt::format("Row {}:", ++rows_);
            buffer_ += (rows_ > 1 ? "\n" : "") + title + "\n" + repeat("─", title.size()) + "\n";
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                buffer_ += columns_[i].name + ":" + std::string(widest_ - display_width(columns_[i].name) + 1, ' ');
                const Vector& column = *batch.columns[i];
                if (column.is_null(row) || unwrap(column.type())->id() == TypeId::Nothing)
                    buffer_ += kNull;
                else
                    append_text(buffer_, column, row, text_);
                if (const std::string tip = readable_tip(column, row); !tip.empty()) buffer_ += " -- " + tip;
                buffer_.push_back('\n');
            }
            flush_if_large();
        }
        flush();
    }

private:
    size_t widest_ = 0;
    size_t rows_ = 0;
};

OutputMaker pretty(Frame frame) {
    return [frame](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<PrettyOutput>(std::move(columns), context, std::move(sink), frame);
    };
}

}  // namespace

void register_pretty_outputs(const OutputRegistrar& add) {
    add("Pretty", pretty(Frame::Full));
    add("PrettyCompact", pretty(Frame::Compact));
    add("PrettySpace", pretty(Frame::Space));
    add("Vertical", [](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<VerticalOutput>(std::move(columns), context, std::move(sink));
    });
}

}  // namespace firn::format
