// parseDateTimeBestEffort and its kin: moments in whatever order people write their parts.
#include <algorithm>
#include <optional>

#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/calendar.h"
#include "firn/types/time_zone.h"

namespace firn::functions {

namespace {

struct Moment {
    int64_t seconds = 0;  // since the epoch
    int32_t nanoseconds = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Reads one text; a part that does not fit what came before makes it fail.
class MomentParser {
public:
    MomentParser(std::string_view text, bool month_first) : text_(text), month_first_(month_first) {}

    std::optional<Moment> parse(const TimeZone& zone) {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == ' ' || c == ',' || c == '\t')
                ++at_;
            else if (is_digit(c) ? !number() : is_letter(c) ? !word() : !zone_offset())
                return {};
        }
        if (stamp_) return stamp_;
        if (!year_) return {};
        const int64_t month = month_.value_or(1), day = day_.value_or(1);
        if (month < 1 || month > 12 || day < 1 || day > days_in_month(*year_, static_cast<int>(month))) return {};
        if (minute_ > 59 || second_ > 59 || hour_.value_or(0) > 99) return {};
        int64_t hour = hour_.value_or(0);
        if (half_ && (hour < 1 || hour > 12)) return {};
        if (half_) hour = hour % 12 + (*half_ == 'P' ? 12 : 0);
        const int64_t local =
            days_from_civil(*year_, static_cast<int>(month), day) * 86400 + hour * 3600 + minute_ * 60 + second_;
        return Moment{offset_ ? local - *offset_ : zone.from_local(local), nanoseconds_};
    }

private:
    char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    /// Up to `most` digits, and how many there were.
    int64_t digits(size_t most, size_t& count) {
        int64_t value = 0;
        for (count = 0; count < most && is_digit(peek()); ++count) value = value * 10 + (text_[at_++] - '0');
        return value;
    }
    bool two(int64_t& value) {
        size_t count = 0;
        value = digits(2, count);
        return count > 0;
    }
    static int64_t part(int64_t value, int64_t divisor, int64_t modulus) { return value / divisor % modulus; }

    bool number() {
        size_t count = 0;
        const int64_t value = digits(18, count);
        if (is_digit(peek()) || stamp_) return false;
        const bool nothing_yet = !year_ && !month_ && !day_ && !hour_;
        switch (count) {
            case 14:
                if (!nothing_yet ||
                    !set_date(part(value, 10000000000, 10000), part(value, 100000000, 100), part(value, 1000000, 100)))
                    return false;
                return set_clock(part(value, 10000, 100), part(value, 100, 100), value % 100);
            case 13:
            case 10:
            case 9:
                if (!nothing_yet) return false;
                stamp_ =
                    count == 13 ? Moment{value / 1000, static_cast<int32_t>(value % 1000 * 1000000)} : Moment{value, 0};
                return true;
            case 8:
                return nothing_yet && set_date(value / 10000, part(value, 100, 100), value % 100);
            case 6:
                if (year_ && !hour_) return set_clock(value / 10000, part(value, 100, 100), value % 100);
                if (!nothing_yet) return false;
                year_ = value / 100, month_ = value % 100;
                return true;
            case 4:
                return year_number(value);
            case 1:
            case 2:
                return small_number(value);
            default:
                return false;
        }
    }

    bool year_number(int64_t value) {
        if (year_) return !hour_ && set_clock(value / 100, value % 100, 0);
        year_ = value;
        const char separator = peek();
        if (month_ || (separator != '-' && separator != '/' && separator != '.') || !is_digit(peek(1))) return true;
        ++at_;
        int64_t month = 0, day = 0;
        if (!two(month)) return false;
        month_ = month;
        if (peek() != separator) return true;
        ++at_;
        if (!two(day) || is_digit(peek())) return false;
        day_ = day;
        return true;
    }

    bool small_number(int64_t value) {
        if (peek() == ':') return clock(value);
        const char separator = peek();
        if ((separator == '/' || separator == '-' || separator == '.') && !day_ && !month_)
            return day_and_month(value, separator);
        if (day_ && year_ && !hour_) {  // "3 PM"
            hour_ = value;
            return true;
        }
        if (day_ && month_ && !year_) {
            year_ = full_year(value, 2);
            return true;
        }
        if (day_) return false;
        day_ = value;
        return true;
    }

    bool day_and_month(int64_t first, char separator) {
        ++at_;
        size_t count = 0;
        if (is_letter(peek())) {  // 9-Feb-2024
            day_ = first;
            return word() && (peek() != separator || !is_digit(peek(1)) || skip());
        }
        int64_t second = digits(4, count);
        if (count == 0 || count == 3) return false;
        if (count == 4) {  // 02/2024
            month_ = first, year_ = second;
            return true;
        }
        if (month_first_ ? second <= 12 && first > 12 : second > 12) std::swap(first, second);
        if (month_first_ && !(first > 12))
            month_ = first, day_ = second;
        else if (month_first_)
            month_ = second, day_ = first;
        else
            day_ = first, month_ = second;
        if (peek() != separator) return true;
        ++at_;
        const int64_t year = digits(4, count);
        if (count != 2 && count != 4) return false;
        year_ = full_year(year, count);
        return true;
    }
    bool skip() { return ++at_, true; }
    static int64_t full_year(int64_t value, size_t count) {
        return count > 2 ? value : value < 70 ? value + 2000 : value + 1900;
    }

    bool clock(int64_t hour) {
        if (hour_) return false;
        int64_t minute = 0, second = 0;
        ++at_;
        if (!two(minute)) return false;
        if (peek() == ':') {
            ++at_;
            if (!two(second)) return false;
            if (peek() == '.' && is_digit(peek(1))) {
                ++at_;
                size_t count = 0;
                int64_t fraction = digits(9, count);
                for (size_t k = count; k < 9; ++k) fraction *= 10;
                nanoseconds_ = static_cast<int32_t>(fraction);
                while (is_digit(peek())) ++at_;
            }
        }
        return set_clock(hour, minute, second);
    }

    bool set_date(int64_t year, int64_t month, int64_t day) {
        year_ = year, month_ = month, day_ = day;
        return true;
    }
    bool set_clock(int64_t hour, int64_t minute, int64_t second) {
        hour_ = hour, minute_ = minute, second_ = second;
        return true;
    }

    bool word() {
        constexpr std::string_view kMonths[] = {"january", "february", "march",     "april",   "may",      "june",
                                                "july",    "august",   "september", "october", "november", "december"};
        constexpr std::string_view kDays[] = {"monday", "tuesday",  "wednesday", "thursday",
                                              "friday", "saturday", "sunday"};
        std::string name;
        while (is_letter(peek())) name.push_back(static_cast<char>(text_[at_++] | 0x20));
        if (name == "t") return day_.has_value() && !hour_ && is_digit(peek());
        if (name == "am" || name == "pm") {
            half_ = name == "am" ? 'A' : 'P';
            return hour_.has_value();
        }
        if (name == "z" || name == "utc" || name == "gmt") {
            offset_ = 0;
            return true;
        }
        if (name.size() < 3) return false;
        for (const std::string_view day : kDays)
            if (name == day || name == day.substr(0, 3)) return true;
        for (size_t k = 0; k < 12; ++k)
            if (name == kMonths[k] || name == kMonths[k].substr(0, 3)) {
                if (month_) return false;
                month_ = static_cast<int64_t>(k + 1);
                return true;
            }
        return false;
    }

    bool zone_offset() {
        const char sign = peek();
        if ((sign != '+' && sign != '-') || !hour_) return false;
        ++at_;
        size_t count = 0;
        int64_t hours = digits(4, count), minutes = 0;
        if (count == 4)
            minutes = hours % 100, hours /= 100;
        else if (count != 1 && count != 2)
            return false;
        if (count <= 2 && peek() == ':') {
            ++at_;
            if (!two(minutes)) return false;
        }
        offset_ = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
        return true;
    }

    std::string_view text_;
    bool month_first_;
    size_t at_ = 0;
    std::optional<int64_t> year_, month_, day_, hour_, offset_;
    int64_t minute_ = 0, second_ = 0;
    int32_t nanoseconds_ = 0;
    std::optional<char> half_;
    std::optional<Moment> stamp_;
};

enum class Otherwise : uint8_t { Throw, Null, Zero };

template <typename T>
VectorPtr parse_rows(const VectorPtr& texts, size_t rows, const TypePtr& type, const TimeZone& zone,
                     Otherwise otherwise, bool month_first) {
    const Reader<StringRef> text(texts);
    Output<T> out(rows);
    MutableBufferPtr nulls = otherwise == Otherwise::Null ? Buffer::allocate_zeroed(rows) : nullptr;
    const auto ticks_per_second =
        sizeof(T) == 8 ? static_cast<int64_t>(power_of_ten(unwrap(type)->scale())) : int64_t{1};
    for (size_t i = 0; i < rows; ++i) {
        auto moment = MomentParser(text[i].view(), month_first).parse(zone);
        int64_t whole = 0;  // ticks of a DateTime64 go so far only
        if (moment && (__builtin_mul_overflow(moment->seconds, ticks_per_second, &whole) ||
                       __builtin_add_overflow(whole, moment->nanoseconds / (1000000000 / ticks_per_second), &whole)))
            moment.reset();
        if (!moment && otherwise == Otherwise::Throw)
            fail(ErrorCode::CANNOT_PARSE_DATETIME, "Cannot read '{}' as a date and time", text[i].view());
        if (!moment && nulls) nulls->template mutable_as<uint8_t>()[i] = 1;
        if (!moment)
            out[i] = 0;
        else if constexpr (sizeof(T) == 4)
            out[i] = static_cast<uint32_t>(std::clamp<int64_t>(moment->seconds, 0, UINT32_MAX));
        else
            out[i] = whole;
    }
    return out.finish(type, std::move(nulls));
}

void declare_best_effort(FunctionRegistry& registry, const std::string& name, bool fine, Otherwise otherwise,
                         bool month_first) {
    declare(registry, {name.c_str()}, 1, fine ? 3 : 2, [=](ArgumentList arguments, const FunctionContext& context) {
        require_string(arguments, 0, name.c_str());
        const int64_t scale = fine && arguments.size() > 1 ? require_int(arguments[1], name, 1) : 3;
        const size_t at = fine ? 2 : 1;
        const std::string zone_name = arguments.size() > at ? require_text(arguments[at], name, at) : "";
        const TimeZone& zone = TimeZone::find(zone_name.empty() ? context.time_zone : zone_name);
        const TypePtr plain = fine ? make_datetime64(static_cast<int>(std::clamp<int64_t>(scale, -1, 10)), zone_name)
                                   : make_datetime(zone_name);
        const TypePtr type = otherwise == Otherwise::Null ? make_nullable(plain) : plain;
        return Overload{type, [=, &zone](const KernelArguments& call) {
                            return fine ? parse_rows<int64_t>(call[0], call.rows, type, zone, otherwise, month_first)
                                        : parse_rows<uint32_t>(call[0], call.rows, type, zone, otherwise, month_first);
                        }};
    });
}

}  // namespace

void register_best_effort_functions(FunctionRegistry& registry) {
    for (const char* stem : {"parseDateTimeBestEffort", "parseDateTime32BestEffort", "parseDateTime64BestEffort"}) {
        const bool fine = std::string_view(stem).find("64") != std::string_view::npos;
        for (const bool month_first : {false, true}) {
            const std::string name = std::string(stem) + (month_first ? "US" : "");
            declare_best_effort(registry, name, fine, Otherwise::Throw, month_first);
            declare_best_effort(registry, name + "OrNull", fine, Otherwise::Null, month_first);
            declare_best_effort(registry, name + "OrZero", fine, Otherwise::Zero, month_first);
        }
    }
}

}  // namespace firn::functions
