// Pretty, PrettyCompact, PrettySpace (tables for people) and Vertical.
#include <algorithm>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "firn/format/json_value.h"
#include "firn/format/row_output.h"
#include "firn/types/value_text.h"

namespace firn::format {
namespace {

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
    return (is_number(id) && id != TypeId::Bool) || is_date_or_time(id);
}

/// "1.23 million" beside a large number; nothing beside integers of 19 digits and more, which are identifiers mostly.
std::string readable_tip(const Vector& vector, size_t row) {
    if (vector.is_null(row)) return {};
    const TypePtr type = unwrap(vector.type());
    if (!is_number(type->id()) || type->id() == TypeId::Bool) return {};
    std::string text;
    append_text(text, vector, row);
    const double value = std::strtod(text.c_str(), nullptr);
    if (!std::isfinite(value) || std::abs(value) <= 1e6) return {};
    if (is_integer(type->id()) && std::abs(value) >= 1e18) return {};
    constexpr std::string_view units[] = {"million",         "billion",           "trillion",       "quadrillion",
                                          "quintillion",     "sextillion",        "septillion",     "octillion",
                                          "nonillion",       "decillion",         "undecillion",    "duodecillion",
                                          "tredecillion",    "quattuordecillion", "quindecillion",  "sexdecillion",
                                          "septendecillion", "octodecillion",     "novemdecillion", "vigintillion"};
    double scaled = value / 1e6;
    size_t unit = 0;
    while (std::abs(scaled) >= 1000 && unit + 1 < std::size(units)) {
        scaled /= 1000;
        ++unit;
    }
    if (std::abs(scaled) < 1e21) return fmt::format("{:.2f} {}", scaled, units[unit]);
    std::string out;
    append_float(out, scaled);
    return out + " " + std::string(units[unit]);
}

bool has_named_tuple(const DataType& type) {
    if (type.id() == TypeId::Tuple && !type.names().empty()) return true;
    return std::any_of(type.children().begin(), type.children().end(),
                       [](const TypePtr& child) { return has_named_tuple(*child); });
}

/// A value that a named tuple is somewhere in: the tuple as JSON on lines of its own, what is around it as text.
void append_with_json(std::string& out, const Vector& vector, size_t row, const JsonOptions& json) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    const TypePtr type = unwrap(flat.type());
    if ((flat.nulls() && flat.nulls()[at]) || !has_named_tuple(*type))
        return append_quoted_text(out, vector, row, json.text);
    if (type->id() == TypeId::Tuple && !type->names().empty()) {
        std::string text;
        append_json(text, vector, row, json, 0);
        // Tabs are escaped within strings: those that are left are indentation, the first one of two spaces.
        for (size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '\t')
                out.push_back(text[i]);
            else
                out += text[i - 1] == '\n' ? "  " : " ";
        }
        return;
    }
    const bool tuple = type->id() == TypeId::Tuple, map = type->id() == TypeId::Map;
    out += tuple ? "(" : map ? "{" : "[";
    if (tuple) {
        for (size_t i = 0; i < flat.children().size(); ++i) {
            if (i) out.push_back(',');
            append_with_json(out, *flat.child(i), at, json);
        }
    } else {
        for (auto i = static_cast<size_t>(flat.offsets()[at]); i < static_cast<size_t>(flat.offsets()[at + 1]); ++i) {
            if (i != static_cast<size_t>(flat.offsets()[at])) out.push_back(',');
            if (map) {
                const Vector& pairs = flat.child()->flat_base();
                const size_t pair = flat.child()->base_row(i);
                append_quoted_text(out, *pairs.child(0), pair, json.text);
                out.push_back(':');
                append_with_json(out, *pairs.child(1), pair, json);
            } else {
                append_with_json(out, *flat.child(), i, json);
            }
        }
    }
    out += tuple ? ")" : map ? "}" : "]";
}

/// What the lines of a table are drawn with.
struct Charset {
    std::string_view bar = "│", thick_bar = "┃", line = "─", thick_line = "━";
    std::string_view top[3] = {"┌", "┬", "┐"}, bottom[3] = {"└", "┴", "┘"}, between[3] = {"├", "┼", "┤"};
    std::string_view head_top[3] = {"┏", "┳", "┓"}, head_bottom[3] = {"┡", "╇", "┩"}, foot_top[3] = {"┢", "╈", "┪"},
                     foot_bottom[3] = {"┗", "┻", "┛"};
    std::string_view cut = "⋯", goes_on = "↴", continued = "↳";

    static Charset ascii() {
        Charset set;
        set.bar = set.thick_bar = "|";
        set.line = set.thick_line = "-";
        for (auto* corners :
             {set.top, set.bottom, set.between, set.head_top, set.head_bottom, set.foot_top, set.foot_bottom})
            std::fill_n(corners, 3, std::string_view("+"));
        set.cut = "~";
        return set;
    }
};

enum class Frame { Full, Compact, Space };

/// Rows are kept until the end: the first and the last of them, as far as they are shown.
class PrettyOutput : public BufferedOutput {
public:
    PrettyOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink, Frame frame, bool plain)
        : BufferedOutput(std::move(columns), context, std::move(sink)),
          frame_(frame),
          color_(context.color && !plain),
          row_numbers_(context.settings->get_bool("output_format_pretty_row_numbers")),
          tuples_as_json_(context.settings->get_bool("output_format_pretty_named_tuples_as_json")),
          most_rows_(context.settings->get_uint("output_format_pretty_max_rows")),
          widest_value_(context.settings->get_uint("output_format_pretty_max_value_width")),
          cut_single_(context.settings->get_uint("output_format_pretty_max_value_width_apply_for_single_value") != 0),
          widest_padding_(context.settings->get_uint("output_format_pretty_max_column_pad_width")),
          tip_threshold_(static_cast<double>(
              context.settings->get_uint("output_format_pretty_single_large_number_tip_threshold"))),
          json_(JsonOptions::from(context)) {
        if (context.settings->get_string("output_format_pretty_grid_charset") == "ASCII") set_ = Charset::ascii();
    }

    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            Row made;
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                const auto& column = batch.columns[i];
                std::string cell;
                if (column->is_null(row) || unwrap(column->type())->id() == TypeId::Nothing)
                    cell = kNull;
                else if (tuples_as_json_ && has_named_tuple(*column->type()))
                    append_with_json(cell, *column, row, json_);
                else
                    append_text(cell, *column, row, text_);
                made.cells.push_back(std::move(cell));
                if (tip_threshold_ > 0) made.tips.push_back(readable_tip(*column, row));
            }
            ++total_;
            if (rows_.size() < most_rows_ - most_rows_ / 2) {
                rows_.push_back(std::move(made));
            } else {
                last_.push_back(std::move(made));
                if (last_.size() > most_rows_ / 2) last_.pop_front();
            }
        }
    }

    void write_totals(const Batch& batch) override { write_part("Totals", batch); }
    void write_extremes(const Batch& batch) override { write_part("Extremes", batch); }

    void end(const ResultStatistics&) override {
        print_table();
        flush();
    }

private:
    struct Row {
        std::vector<std::string> cells, tips;
    };

    void write_part(std::string_view title, const Batch& batch) {
        print_table();
        buffer_ += fmt::format("\n{}:\n", title);
        write(batch);
    }

    void print_table() {
        const size_t shown = rows_.size() + last_.size();
        if (shown == 0) return;
        cut_after_ = shown < total_ ? rows_.size() : shown;
        first_number_of_tail_ = total_ - last_.size();
        rows_.insert(rows_.end(), std::make_move_iterator(last_.begin()), std::make_move_iterator(last_.end()));
        last_.clear();
        if (falls_back()) {
            vertical();
        } else {
            cut_cells();
            table();
        }
        if (shown < total_) buffer_ += fmt::format("Showed {} out of {} rows.\n", shown, total_);
        total_ = 0;
        rows_.clear();
        flush();
    }

    bool falls_back() const {
        const Settings& settings = *context_.settings;
        if (!settings.get_bool("output_format_pretty_fallback_to_vertical")) return false;
        if (columns_.size() < settings.get_uint("output_format_pretty_fallback_to_vertical_min_columns")) return false;
        if (rows_.size() > settings.get_uint("output_format_pretty_fallback_to_vertical_max_rows_per_chunk"))
            return false;
        size_t width = 1;
        for (size_t i = 0; i < columns_.size(); ++i) {
            size_t widest = display_width(columns_[i].name);
            for (const auto& row : rows_) {
                if (row.cells[i].find('\n') != std::string::npos) return true;
                widest = std::max(widest, display_width(row.cells[i]));
            }
            width += widest + 3;
        }
        return width > settings.get_uint("output_format_pretty_fallback_to_vertical_min_table_width");
    }

    void vertical() {
        size_t widest = 0;
        for (const auto& column : columns_) widest = std::max(widest, display_width(column.name));
        for (size_t row = 0; row < rows_.size(); ++row) {
            const std::string title = fmt::format("Row {}:", ++vertical_rows_);
            buffer_ += (row > 0 ? "\n" : "") + title + "\n" + repeat("─", title.size()) + "\n";
            for (size_t i = 0; i < columns_.size(); ++i) {
                buffer_ += columns_[i].name + ":" + std::string(widest - display_width(columns_[i].name) + 1, ' ') +
                           rows_[row].cells[i];
                if (!rows_[row].tips.empty() && !rows_[row].tips[i].empty()) buffer_ += " -- " + rows_[row].tips[i];
                buffer_.push_back('\n');
            }
        }
    }

    /// Values wider than the setting allows lose their end; a value that is the whole answer does not.
    void cut_cells() {
        if (rows_.size() == 1 && columns_.size() == 1 && !cut_single_) return;
        for (auto& row : rows_)
            for (auto& cell : row.cells) {
                if (display_width(cell) <= widest_value_) continue;
                size_t width = 0, end = 0;
                while (end < cell.size() && width < widest_value_) {
                    size_t next = end + 1;
                    while (next < cell.size() && (static_cast<unsigned char>(cell[next]) & 0xC0) == 0x80) ++next;
                    width += display_width(std::string_view(cell).substr(end, next - end));
                    end = next;
                }
                cell.resize(end);
                cell += kCutMark;
            }
    }

    void table() {
        widths_.clear();
        for (const auto& column : columns_) widths_.push_back(display_width(column.name));
        for (const auto& row : rows_)
            for (size_t i = 0; i < row.cells.size(); ++i)
                for (const auto& line : lines(without_mark(row.cells[i])))
                    widths_[i] = std::max(widths_[i], std::min<size_t>(display_width(line), widest_padding_));
        number_width_ = row_numbers_ ? std::to_string(total_).size() + 2 : 0;
        header();
        for (size_t i = 0; i < rows_.size(); ++i) {
            const bool after_cut = i == cut_after_;
            if (after_cut)
                cut_line();
            else if (frame_ == Frame::Full && i > 0)
                rule(set_.between, set_.line);
            body(rows_[i], i < cut_after_ ? i + 1 : first_number_of_tail_ + i - cut_after_ + 1);
        }
        const Settings& settings = *context_.settings;
        const bool footer =
            settings.get_uint("output_format_pretty_display_footer_column_names") != 0 &&
            rows_.size() >= settings.get_uint("output_format_pretty_display_footer_column_names_min_rows");
        if (footer)
            footer_names();
        else if (frame_ != Frame::Space)
            rule(set_.bottom, set_.line);
    }

    void indent() { buffer_.append(number_width_, ' '); }

    void rule(const std::string_view (&corners)[3], std::string_view line) {
        indent();
        for (size_t i = 0; i < widths_.size(); ++i) {
            buffer_ += corners[i ? 1 : 0];
            buffer_ += repeat(line, widths_[i] + 2);
        }
        buffer_ += corners[2];
        buffer_.push_back('\n');
    }

    void cut_line() {
        size_t width = 1;
        for (const size_t column : widths_) width += column + 3;
        indent();
        for (size_t i = 0; i < width; ++i) buffer_ += i % 2 ? " " : set_.line;
        buffer_.push_back('\n');
    }

    /// The row of names; in Compact frames it is a part of the frame, with these corners.
    void names(const std::string_view (&corners)[3]) {
        indent();
        for (size_t i = 0; i < widths_.size(); ++i) {
            const bool right = right_aligned(columns_[i].type);
            const size_t padding = widths_[i] - display_width(columns_[i].name);
            const std::string_view line = frame_ == Frame::Compact ? set_.line : " ";
            if (frame_ == Frame::Compact)
                buffer_ += corners[i ? 1 : 0];
            else if (frame_ == Frame::Full)
                buffer_ += set_.thick_bar;
            else if (i)
                buffer_.push_back(' ');
            buffer_ += line;
            if (right) buffer_ += repeat(line, padding);
            if (color_) buffer_ += "\033[1m";
            buffer_ += columns_[i].name;
            if (color_) buffer_ += "\033[0m";
            const bool last_of_space = frame_ == Frame::Space && i + 1 == widths_.size();
            if (!right) buffer_ += repeat(line, padding);
            if (!last_of_space) buffer_ += line;
        }
        buffer_ += frame_ == Frame::Compact ? corners[2] : frame_ == Frame::Full ? set_.thick_bar : std::string_view();
        buffer_.push_back('\n');
    }

    void header() {
        if (frame_ == Frame::Full) rule(set_.head_top, set_.thick_line);
        names(set_.top);
        if (frame_ == Frame::Full) rule(set_.head_bottom, set_.line == set_.thick_line ? set_.line : "━");
        if (frame_ == Frame::Space) buffer_.push_back('\n');
    }

    void footer_names() {
        if (frame_ == Frame::Full) rule(set_.foot_top, set_.thick_line);
        if (frame_ == Frame::Space) buffer_.push_back('\n');
        names(set_.bottom);
        if (frame_ == Frame::Full) rule(set_.foot_bottom, set_.thick_line);
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

    static constexpr char kCutMark = '\x01';
    static std::string_view without_mark(std::string_view cell) {
        return cell.ends_with(kCutMark) ? cell.substr(0, cell.size() - 1) : cell;
    }

    void body(const Row& row, size_t number) {
        size_t height = 1;
        std::vector<std::vector<std::string_view>> cells;
        for (const auto& cell : row.cells) {
            cells.push_back(lines(without_mark(cell)));
            height = std::max(height, cells.back().size());
        }
        for (size_t line = 0; line < height; ++line) {
            if (row_numbers_)
                buffer_ +=
                    line == 0 ? fmt::format("{:>{}}. ", number, number_width_ - 2) : std::string(number_width_, ' ');
            for (size_t i = 0; i < cells.size(); ++i) {
                if (frame_ != Frame::Space)
                    buffer_ += set_.bar;
                else if (i)
                    buffer_.push_back(' ');
                cell_line(cells[i], line, widths_[i], right_aligned(columns_[i].type),
                          row.cells[i].ends_with(kCutMark));
            }
            if (frame_ != Frame::Space) buffer_ += set_.bar;
            if (line == 0 && !row.tips.empty() && !row.tips.back().empty()) buffer_ += " -- " + row.tips.back();
            buffer_.push_back('\n');
        }
    }

    /// A value of several lines is shown with arrows where it goes on.
    void cell_line(const std::vector<std::string_view>& cell, size_t line, size_t width, bool right, bool cut) {
        const std::string_view text = line < cell.size() ? cell[line] : std::string_view();
        const size_t used = std::min(display_width(text), width);
        buffer_ += line > 0 && line < cell.size() ? set_.continued : " ";
        if (right) buffer_.append(width - used, ' ');
        if (right && color_) buffer_ += "\033[1;34m";
        buffer_ += text;
        if (right && color_) buffer_ += "\033[0m";
        if (!right) buffer_.append(width - used, ' ');
        buffer_ += line + 1 < cell.size() ? set_.goes_on : cut && line + 1 == cell.size() ? set_.cut : " ";
    }

    Frame frame_;
    Charset set_;
    bool color_, row_numbers_, tuples_as_json_;
    size_t most_rows_, widest_value_;
    bool cut_single_;
    size_t widest_padding_;
    double tip_threshold_;
    JsonOptions json_;
    std::vector<Row> rows_;
    std::deque<Row> last_;
    size_t total_ = 0;
    size_t cut_after_ = 0, first_number_of_tail_ = 0;
    size_t vertical_rows_ = 0;
    size_t number_width_ = 0;
    std::vector<size_t> widths_;
};

class VerticalOutput : public BufferedOutput {
public:
    VerticalOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink)
        : BufferedOutput(std::move(columns), context, std::move(sink)) {
        for (const auto& column : columns_) widest_ = std::max(widest_, display_width(column.name));
    }

    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            one_row(fmt::format("Row {}:", rows_ + 1), rows_ > 0, batch, row);
            ++rows_;
            flush_if_large();
        }
        flush();
    }

    void write_totals(const Batch& batch) override {
        buffer_ += "\n";
        if (batch.rows) one_row("Totals:", true, batch, 0);
    }
    void write_extremes(const Batch& batch) override {
        if (batch.rows) one_row("Min:", true, batch, 0);
        if (batch.rows > 1) one_row("Max:", true, batch, 1);
    }
    void end(const ResultStatistics&) override { flush(); }

private:
    void one_row(const std::string& title, bool apart, const Batch& batch, size_t row) {
        buffer_ += (apart ? "\n" : "") + title + "\n" + repeat("─", title.size()) + "\n";
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
    }

    size_t widest_ = 0;
    size_t rows_ = 0;
};

OutputMaker pretty(Frame frame, bool plain) {
    return [frame, plain](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<PrettyOutput>(std::move(columns), context, std::move(sink), frame, plain);
    };
}

}  // namespace

void register_pretty_outputs(const OutputRegistrar& add) {
    for (const auto& [name, frame] :
         {std::pair{"Pretty", Frame::Full}, {"PrettyCompact", Frame::Compact}, {"PrettySpace", Frame::Space}}) {
        for (const std::string suffix : {"", "MonoBlock"}) {
            add(name + suffix, pretty(frame, false));
            add(name + std::string("NoEscapes") + suffix, pretty(frame, true));
        }
    }
    add("Vertical", [](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<VerticalOutput>(std::move(columns), context, std::move(sink));
    });
}

}  // namespace firn::format
