// Times read by a pattern, MySQL's (parseDateTime: %Y-%m-%d) or Joda's (yyyy-MM-dd), and written by Joda's.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "firn/functions/argument_types.h"
#include "firn/functions/dates/time_parts.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/calendar.h"
#include "firn/types/value_text.h"

namespace firn::functions {

namespace {

constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                       "Friday", "Saturday", "Sunday"};
constexpr int kMicroseconds = 1000000;

/// What a text has said of a time so far; problems are noted, not thrown, for …OrNull and …OrZero.
class TimeReader {
public:
    TimeReader(std::string_view text, bool wide) : text_(text), wide_(wide) {}

    bool failed() const { return !problem_.empty(); }
    const std::string& problem() const { return problem_; }
    bool at_end() const { return at_ == text_.size(); }
    void wrong(std::string problem) {
        if (problem_.empty()) problem_ = std::move(problem);
    }

    void literal(char c) {
        if (at_ < text_.size() && text_[at_] == c)
            ++at_;
        else
            wrong(fmt::format("'{}' is expected at position {}", c, at_ + 1));
    }
    /// least to most digits.
    int64_t digits(size_t least, size_t most) {
        constexpr size_t kMostDigits = 18;  // that int64_t holds
        if (most > kMostDigits) {
            wrong(fmt::format("more than {} digits can not be read", kMostDigits));
            return 0;
        }
        int64_t value = 0;
        size_t count = 0;
        while (count < most && at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
            value = value * 10 + (text_[at_++] - '0');
            ++count;
        }
        if (count < least) wrong(fmt::format("digits are expected at position {}", at_ + 1));
        if (value > INT32_MAX) wrong(fmt::format("{} is too large a number", value));
        return value;
    }
    void skip_spaces() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    int64_t in_range(int64_t value, int64_t least, int64_t most, const char* what) {
        if (value < least || value > most)
            wrong(fmt::format("{} is no {} between {} and {}", value, what, least, most));
        return value;
    }
    /// Number of the name that comes next, in full or by its first three letters.
    template <size_t kCount>
    int name(const std::array<std::string_view, kCount>& names, bool full, bool either = false) {
        for (size_t i = 0; i < kCount; ++i)
            for (const size_t size : {names[i].size(), size_t{3}}) {
                if (!either && full != (size == names[i].size()) && names[i].size() != 3) continue;
                if (!same(names[i].substr(0, size))) continue;
                at_ += size;
                return static_cast<int>(i) + 1;
            }
        wrong(fmt::format("a name is expected at position {}", at_ + 1));
        return 1;
    }

    void year(int64_t value) {
        year_ = in_range(value, wide_ ? 1900 : 1970, wide_ ? 2299 : 2106, "year");
        any_date_ = true;
    }
    void two_digit_year(int64_t value) { year(value < 70 ? 2000 + value : 1900 + value); }
    void month(int64_t value) {
        month_ = in_range(value, 1, 12, "month");
        any_date_ = true;
    }
    void day(int64_t value) {
        day_ = in_range(value, 1, 31, "day of a month");
        any_date_ = true;
    }
    void day_of_year(int64_t value) {
        day_of_year_ = in_range(value, 1, 366, "day of a year");
        any_date_ = true;
    }
    void week(int64_t value) {
        week_ = in_range(value, 1, 53, "week");
        any_date_ = true;
    }
    void weekday(int64_t value) { weekday_ = in_range(value, 1, 7, "day of a week"); }
    void hour(int64_t value, bool twelve, bool from_one) {
        hour_ = in_range(value, from_one ? 1 : 0, (twelve ? 11 : 23) + (from_one ? 1 : 0), "hour");
        if (from_one && hour_ == (twelve ? 12 : 24)) hour_ = 0;
        twelve_ = twelve;
    }
    void minute(int64_t value) { minute_ = in_range(value, 0, 59, "minute"); }
    void second(int64_t value) { second_ = in_range(value, 0, 59, "second"); }
    void fraction(size_t least, size_t most) {
        const size_t begin = at_;
        fraction_ = digits(least, most);
        for (size_t i = at_ - begin; i < 6; ++i) fraction_ *= 10;
    }
    void half() {
        if (same("AM") || same("PM")) {
            afternoon_ = std::toupper(static_cast<unsigned char>(text_[at_])) == 'P';
            at_ += 2;
        } else {
            wrong(fmt::format("AM or PM is expected at position {}", at_ + 1));
        }
    }
    void era() {
        if (!same("AD")) return wrong(fmt::format("AD is expected at position {}", at_ + 1));
        at_ += 2;
    }
    void offset() {
        const bool negative = at_ < text_.size() && text_[at_] == '-';
        if (!negative) {
            if (at_ >= text_.size() || text_[at_] != '+') return wrong("a zone such as +0200 is expected");
        }
        ++at_;
        const int64_t hours = digits(2, 2);
        if (at_ < text_.size() && text_[at_] == ':') ++at_;
        const int64_t minutes = digits(2, 2);
        offset_ = (hours * 3600 + minutes * 60) * (negative ? -1 : 1);
    }

    /// Microseconds since the epoch.
    int64_t finish(const TimeZone& zone) {
        if (!at_end()) wrong(fmt::format("something stands behind the pattern's end, at position {}", at_ + 1));
        if (afternoon_ && !twelve_) wrong("AM and PM need an hour of twelve");
        const int64_t hour = hour_ + (afternoon_.value_or(false) && twelve_ ? 12 : 0);
        const int64_t local = days() * 86400 + hour * 3600 + minute_ * 60 + second_;
        const int64_t seconds = offset_ ? local - *offset_ : zone.from_local(local);
        return seconds * kMicroseconds + fraction_;
    }

private:
    bool same(std::string_view word) const {
        if (text_.size() - at_ < word.size()) return false;
        return std::equal(word.begin(), word.end(), text_.begin() + static_cast<long>(at_), [](char a, char b) {
            return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        });
    }
    int64_t days() {
        const int64_t year = year_.value_or(any_date_ ? 2000 : 1970);
        if (week_) {
            const int64_t fourth = days_from_civil(year, 1, 4);
            return fourth - (day_of_week(fourth) - 1) + (*week_ - 1) * 7 + weekday_.value_or(1) - 1;
        }
        if (day_of_year_) {
            if (*day_of_year_ == 366 && !is_leap_year(year)) wrong(fmt::format("the year {} has no day 366", year));
            return days_from_civil(year, 1, *day_of_year_);
        }
        const int64_t month = month_.value_or(1), day = day_.value_or(1);
        if (!failed() && day > days_in_month(year, static_cast<int>(month)))
            wrong(fmt::format("month {} of {} has no day {}", month, year, day));
        return days_from_civil(year, static_cast<int>(std::clamp<int64_t>(month, 1, 12)), day);
    }

    std::string_view text_;
    bool wide_;
    size_t at_ = 0;
    std::string problem_;
    std::optional<int64_t> year_, month_, day_, day_of_year_, week_, weekday_, offset_;
    bool any_date_ = false, twelve_ = false;
    std::optional<bool> afternoon_;
    int64_t hour_ = 0, minute_ = 0, second_ = 0, fraction_ = 0;
};

void read_mysql(TimeReader& in, std::string_view pattern);

void read_mysql_placeholder(TimeReader& in, char letter) {
    switch (letter) {
        case 'a':
            in.weekday(in.name(kWeekdays, false));
            return;
        case 'W':
            in.weekday(in.name(kWeekdays, true));
            return;
        case 'b':
            return in.month(in.name(kMonths, false));
        case 'M':
            return in.month(in.name(kMonths, true));
        case 'c':
            return in.month(in.digits(1, 2));
        case 'm':
            return in.month(in.digits(2, 2));
        case 'C':
            return in.year(in.digits(2, 2) * 100);
        case 'd':
            return in.day(in.digits(2, 2));
        case 'e':
            in.skip_spaces();
            return in.day(in.digits(1, 2));
        case 'D':
            return read_mysql(in, "%m/%d/%y");
        case 'F':
            return read_mysql(in, "%Y-%m-%d");
        case 'f':
            return in.fraction(1, 6);
        case 'G':
        case 'Y':
            return in.year(in.digits(4, 4));
        case 'g':
        case 'y':
            return in.two_digit_year(in.digits(2, 2));
        case 'H':
            return in.hour(in.digits(2, 2), false, false);
        case 'k':
            in.skip_spaces();
            return in.hour(in.digits(1, 2), false, false);
        case 'h':
        case 'I':
            return in.hour(in.digits(2, 2), true, true);
        case 'l':
            in.skip_spaces();
            return in.hour(in.digits(1, 2), true, true);
        case 'i':
            return in.minute(in.digits(2, 2));
        case 's':
        case 'S':
            return in.second(in.digits(2, 2));
        case 'j':
            return in.day_of_year(in.digits(3, 3));
        case 'p':
            return in.half();
        case 'R':
            return read_mysql(in, "%H:%i");
        case 'r':
            return read_mysql(in, "%h:%i %p");
        case 'T':
            return read_mysql(in, "%H:%i:%s");
        case 'u':
            return in.weekday(in.digits(1, 1));
        case 'w': {
            const int64_t day = in.in_range(in.digits(1, 1), 0, 6, "day of a week");
            return in.weekday(day == 0 ? 7 : day);
        }
        case 'V':
            return in.week(in.digits(2, 2));
        case 'z':
            return in.offset();
        case 'n':
            return in.literal('\n');
        case 't':
            return in.literal('\t');
        case '%':
            return in.literal('%');
        case 'Q':
        case 'U':
        case 'v':
        case 'x':
            fail(ErrorCode::NOT_IMPLEMENTED, "The placeholder %{} is not supported for parsing", letter);
        default:
            fail(ErrorCode::BAD_ARGUMENTS, "Incorrect pattern: there is no placeholder %{}", letter);
    }
}

void read_mysql(TimeReader& in, std::string_view pattern) {
    for (size_t i = 0; i < pattern.size() && !in.failed(); ++i) {
        if (pattern[i] != '%')
            in.literal(pattern[i]);
        else if (i + 1 == pattern.size())
            fail(ErrorCode::BAD_ARGUMENTS, "Trailing '%' in the pattern '{}'", pattern);
        else
            read_mysql_placeholder(in, pattern[++i]);
    }
}

/// Called for each literal and each run of one letter of a Joda pattern.
template <typename Literal, typename Letters>
void over_joda(std::string_view pattern, const Literal& literal, const Letters& letters) {
    for (size_t i = 0; i < pattern.size();) {
        const char c = pattern[i];
        if (c == '\'') {
            if (i + 1 < pattern.size() && pattern[i + 1] == '\'') {
                literal('\'');
                i += 2;
                continue;
            }
            for (++i;; ++i) {
                if (i >= pattern.size())
                    fail(ErrorCode::BAD_ARGUMENTS, "No closing single quote in the pattern '{}'", pattern);
                if (pattern[i] != '\'') {
                    literal(pattern[i]);
                } else if (i + 1 < pattern.size() && pattern[i + 1] == '\'') {
                    literal('\'');
                    ++i;
                } else {
                    break;
                }
            }
            ++i;
        } else if (std::isalpha(static_cast<unsigned char>(c))) {
            size_t count = 1;
            while (i + count < pattern.size() && pattern[i + count] == c) ++count;
            letters(c, count);
            i += count;
        } else {
            literal(c);
            ++i;
        }
    }
}

void read_joda_letters(TimeReader& in, char letter, size_t count) {
    const size_t most = std::max<size_t>(count, 2);
    switch (letter) {
        case 'G':
            return in.era();
        case 'C':
            return in.year(in.digits(1, most) * 100);
        case 'Y':
        case 'y':
        case 'x':
            if (count == 2) return in.two_digit_year(in.digits(2, 2));
            return in.year(in.digits(1, 4));
        case 'w':
            return in.week(in.digits(1, most));
        case 'e':
            return in.weekday(in.digits(1, most));
        case 'E':
            in.weekday(in.name(kWeekdays, count > 3, true));
            return;
        case 'D':
            return in.day_of_year(in.digits(1, 3));
        case 'M':
            return in.month(count > 2 ? in.name(kMonths, count > 3, true) : in.digits(1, most));
        case 'd':
            return in.day(in.digits(1, most));
        case 'a':
            return in.half();
        case 'K':
            return in.hour(in.digits(1, most), true, false);
        case 'h':
            return in.hour(in.digits(1, most), true, true);
        case 'H':
            return in.hour(in.digits(1, most), false, false);
        case 'k':
            return in.hour(in.digits(1, most), false, true);
        case 'm':
            return in.minute(in.digits(1, most));
        case 's':
            return in.second(in.digits(1, most));
        case 'S':
            return in.fraction(1, 6);
        default:
            fail(ErrorCode::NOT_IMPLEMENTED, "The letter {} is not supported in patterns for parsing", letter);
    }
}

void read_joda(TimeReader& in, std::string_view pattern) {
    over_joda(
        pattern,
        [&](char c) {
            if (!in.failed()) in.literal(c);
        },
        [&](char letter, size_t count) {
            if (!in.failed()) read_joda_letters(in, letter, count);
        });
}

enum class Otherwise : uint8_t { Throw, Null, Zero };

struct ParseFunction {
    std::string name;
    bool joda = false, fine = false;
    Otherwise otherwise = Otherwise::Throw;
};

/// ClickHouse names the session's zone in the types of these functions, and UTC by its other name.
std::string named_zone(const FunctionContext& context) {
    return context.time_zone.empty() || context.time_zone == "UTC" ? "Etc/UTC" : context.time_zone;
}

int fraction_letters(std::string_view pattern) {
    int count = 0;
    over_joda(
        pattern, [](char) {},
        [&](char letter, size_t letters) { count += letter == 'S' ? static_cast<int>(letters) : 0; });
    return std::min(count, 6);
}

template <typename T>
VectorPtr parse_rows(const VectorPtr& texts, size_t rows, const ParseFunction& function, const std::string& pattern,
                     const TypePtr& type, const TimeZone& zone) {
    const Reader<StringRef> text(texts);
    Output<T> out(rows);
    MutableBufferPtr nulls = function.otherwise == Otherwise::Null ? Buffer::allocate_zeroed(rows) : nullptr;
    int64_t divisor = kMicroseconds;  // microseconds of a tick
    if (function.fine)
        for (int digit = 0; digit < unwrap(type)->scale(); ++digit) divisor /= 10;
    for (size_t i = 0; i < rows; ++i) {
        TimeReader in(text[i].view(), function.fine);
        if (function.joda)
            read_joda(in, pattern);
        else
            read_mysql(in, pattern);
        const int64_t moment = in.failed() ? 0 : in.finish(zone);
        if (in.failed() && function.otherwise == Otherwise::Throw)
            fail(ErrorCode::CANNOT_PARSE_DATETIME, "Function {} cannot read '{}' by the pattern '{}': {}",
                 function.name, text[i].view(), pattern, in.problem());
        if (in.failed() && nulls) nulls->template mutable_as<uint8_t>()[i] = 1;
        out[i] = in.failed() ? T{0} : static_cast<T>(floor_divide(moment, divisor));
    }
    return out.finish(type, std::move(nulls));
}

void declare_parse(FunctionRegistry& registry, const ParseFunction& function, std::vector<std::string> aliases = {}) {
    const FunctionName name{function.name.c_str(), std::move(aliases)};
    declare(registry, name, 1, 3, [=](ArgumentList arguments, const FunctionContext& context) {
        require_string(arguments, 0, function.name.c_str());
        const std::string pattern = arguments.size() > 1 ? require_text(arguments[1], function.name, 1)
                                    : function.joda      ? "yyyy-MM-dd HH:mm:ss"
                                                         : "%Y-%m-%d %H:%i:%s";
        const std::string zone_name =
            arguments.size() > 2 ? require_text(arguments[2], function.name, 2) : named_zone(context);
        const TimeZone& zone = TimeZone::find(zone_name);
        const int scale = function.joda ? fraction_letters(pattern) : 6;
        const TypePtr plain = function.fine ? make_datetime64(scale, zone_name) : make_datetime(zone_name);
        const TypePtr type = function.otherwise == Otherwise::Null ? make_nullable(plain) : plain;
        return Overload{type, [=, &zone](const KernelArguments& call) {
                            return function.fine
                                       ? parse_rows<int64_t>(call[0], call.rows, function, pattern, type, zone)
                                       : parse_rows<uint32_t>(call[0], call.rows, function, pattern, type, zone);
                        }};
    });
}

struct Moment {
    CivilDate date;
    int64_t days, clock, nanoseconds;
};

void append_padded(std::string& out, int64_t value, size_t width) {
    std::string digits;
    append_int(digits, value);
    if (digits.size() < width) out.append(width - digits.size(), '0');
    out += digits;
}

void append_joda(std::string& out, char letter, size_t count, const Moment& m, const TimeZone& zone) {
    const int64_t hour = m.clock / 3600;
    switch (letter) {
        case 'G':
            out += m.date.year > 0 ? "AD" : "BC";
            return;
        case 'C':
            return append_padded(out, m.date.year / 100, count);
        case 'Y':
        case 'y':
        case 'x': {
            const int64_t year = letter == 'x' ? iso_year(m.days) : m.date.year;
            return append_padded(out, count == 2 ? year % 100 : year, count);
        }
        case 'w':
            return append_padded(out, iso_week(m.days), count);
        case 'e':
            return append_padded(out, day_of_week(m.days), count);
        case 'E':
            out += count > 3 ? kWeekdays[day_of_week(m.days) - 1] : kWeekdays[day_of_week(m.days) - 1].substr(0, 3);
            return;
        case 'D':
            return append_padded(out, m.days - days_from_civil(m.date.year, 1, 1) + 1, count);
        case 'M':
            if (count > 2)
                out += count > 3 ? kMonths[m.date.month - 1] : kMonths[m.date.month - 1].substr(0, 3);
            else
                append_padded(out, m.date.month, count);
            return;
        case 'd':
            return append_padded(out, m.date.day, count);
        case 'a':
            out += hour < 12 ? "AM" : "PM";
            return;
        case 'K':
            return append_padded(out, hour % 12, count);
        case 'h':
            return append_padded(out, hour % 12 == 0 ? 12 : hour % 12, count);
        case 'H':
            return append_padded(out, hour, count);
        case 'k':
            return append_padded(out, hour == 0 ? 24 : hour, count);
        case 'm':
            return append_padded(out, m.clock / 60 % 60, count);
        case 's':
            return append_padded(out, m.clock % 60, count);
        case 'S': {
            std::string digits;
            append_padded(digits, m.nanoseconds, 9);
            digits.resize(count, '0');
            out += digits;
            return;
        }
        case 'z':
            if (count > 3) {
                out += zone.name();
                return;
            }
            [[fallthrough]];
        default:
            fail(ErrorCode::NOT_IMPLEMENTED, "The letter {} is not supported in patterns for formatting", letter);
    }
}

Overload format_overload(std::function<VectorPtr(const VectorPtr&)> as_time, const std::string& pattern,
                         const TimeZone& zone) {
    const TypePtr type = make_type(TypeId::String);
    return {
        type, [=, &zone](const KernelArguments& call) {
            const VectorPtr time = as_time ? as_time(call[0]) : call[0];
            const VectorPtr seconds = local_seconds(time, zone), fractions = nanoseconds(time);
            StringOutput out(call.rows);
            std::string text;
            for (size_t i = 0; i < call.rows; ++i) {
                const int64_t second = Reader<int64_t>(seconds)[i], days = floor_divide(second, 86400);
                const Moment moment{civil_from_days(days), days, second - days * 86400, Reader<int64_t>(fractions)[i]};
                text.clear();
                over_joda(
                    pattern, [&](char c) { text.push_back(c); },
                    [&](char letter, size_t count) { append_joda(text, letter, count, moment, zone); });
                out.set(i, text);
            }
            return out.finish(type);
        }};
}

Overload resolve_format(ArgumentList arguments, const FunctionContext& context) {
    if (!is_date_or_time(arguments[0].type->id())) fail_argument("formatDateTimeInJodaSyntax", *arguments[0].type, 0);
    const std::string pattern =
        arguments.size() > 1 ? require_text(arguments[1], "formatDateTimeInJodaSyntax", 1) : "yyyy-MM-dd HH:mm:ss";
    return format_overload({}, pattern, function_zone(arguments, 2, context, "formatDateTimeInJodaSyntax"));
}

Overload resolve_from_unix(ArgumentList arguments, const FunctionContext& context) {
    constexpr const char* kName = "fromUnixTimestampInJodaSyntax";
    require_integer(arguments, 0, kName);
    const std::string pattern = arguments.size() > 1 ? require_text(arguments[1], kName, 1) : "yyyy-MM-dd HH:mm:ss";
    const std::string zone = arguments.size() > 2 ? require_text(arguments[2], kName, 2) : context.time_zone;
    const TypePtr time = make_datetime64(0, zone);
    return format_overload([=](const VectorPtr& numbers) { return flatten(as_int64(numbers))->with_type(time); },
                           pattern, TimeZone::find(zone));
}

}  // namespace

void register_date_pattern_functions(FunctionRegistry& registry) {
    const std::pair<const char*, Otherwise> endings[] = {
        {"", Otherwise::Throw}, {"OrNull", Otherwise::Null}, {"OrZero", Otherwise::Zero}};
    for (const auto& [ending, otherwise] : endings)
        for (const bool joda : {false, true})
            for (const bool fine : {false, true}) {
                ParseFunction function;
                function.name =
                    std::string("parseDateTime") + (fine ? "64" : "") + (joda ? "InJodaSyntax" : "") + ending;
                function.joda = joda;
                function.fine = fine;
                function.otherwise = otherwise;
                const bool mysql_name = !joda && !fine && otherwise == Otherwise::Null;
                declare_parse(
                    registry, function,
                    mysql_name ? std::vector<std::string>{"STR_TO_DATE", "str_to_date"} : std::vector<std::string>{});
            }
    declare(registry, {"formatDateTimeInJodaSyntax"}, 1, 3, resolve_format);
    declare(registry, {"fromUnixTimestampInJodaSyntax"}, 1, 3, resolve_from_unix);
}

}  // namespace firn::functions
