// formatDateTime, dateName, monthName: times as text by a pattern.
#include <cctype>

#include "firn/functions/argument_types.h"
#include "firn/functions/dates/time_parts.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/calendar.h"
#include "firn/types/value_text.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
constexpr std::string_view kWeekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

struct Moment {
    CivilDate date;
    int64_t days, clock;  // clock: seconds of the day
    int64_t nanoseconds;
    int64_t offset;  // of the zone, seconds
};

void append_digits(std::string& out, int64_t value, size_t width) {
    std::string digits;
    append_int(digits, value);
    if (digits.size() < width) out.append(width - digits.size(), '0');
    out += digits;
}

int64_t twelve(int64_t hour) { return hour % 12 == 0 ? 12 : hour % 12; }

/// One placeholder; false where there is none of that letter.
bool append_placeholder(std::string& out, char letter, const Moment& m, int fraction_digits) {
    const int64_t hour = m.clock / 3600, minute = m.clock / 60 % 60, second = m.clock % 60;
    const int weekday = day_of_week(m.days);
    switch (letter) {
        case 'a':
            out += kWeekdays[weekday - 1].substr(0, 3);
            return true;
        case 'b':
            out += kMonths[m.date.month - 1].substr(0, 3);
            return true;
        case 'c':
        case 'm':
            append_digits(out, m.date.month, 2);
            return true;
        case 'C':
            append_digits(out, m.date.year / 100, 2);
            return true;
        case 'd':
            append_digits(out, m.date.day, 2);
            return true;
        case 'D':
            append_digits(out, m.date.month, 2);
            out.push_back('/');
            append_digits(out, m.date.day, 2);
            out.push_back('/');
            append_digits(out, floor_modulo(m.date.year, 100), 2);
            return true;
        case 'e':
            append_int(out, int64_t{m.date.day});
            return true;
        case 'f': {
            std::string digits;
            append_digits(digits, m.nanoseconds, 9);
            out.append(digits, 0, static_cast<size_t>(fraction_digits));
            return true;
        }
        case 'F':
            append_date(out, m.days);
            return true;
        case 'g':
            append_digits(out, floor_modulo(iso_year(m.days), 100), 2);
            return true;
        case 'G':
            append_digits(out, iso_year(m.days), 4);
            return true;
        case 'h':
        case 'l':
        case 'I':
            append_digits(out, twelve(hour), 2);
            return true;
        case 'H':
        case 'k':
            append_digits(out, hour, 2);
            return true;
        case 'i':
            append_digits(out, minute, 2);
            return true;
        case 'j':
            append_digits(out, m.days - days_from_civil(m.date.year, 1, 1) + 1, 3);
            return true;
        case 'M':
            out += kMonths[m.date.month - 1];
            return true;
        case 'n':
            out.push_back('\n');
            return true;
        case 'p':
            out += hour < 12 ? "AM" : "PM";
            return true;
        case 'Q':
            append_int(out, int64_t{(m.date.month - 1) / 3 + 1});
            return true;
        case 'r':
            append_digits(out, twelve(hour), 2);
            out.push_back(':');
            append_digits(out, minute, 2);
            out += hour < 12 ? " AM" : " PM";
            return true;
        case 'R':
        case 'T':
            append_digits(out, hour, 2);
            out.push_back(':');
            append_digits(out, minute, 2);
            if (letter == 'R') return true;
            out.push_back(':');
            append_digits(out, second, 2);
            return true;
        case 's':
        case 'S':
            append_digits(out, second, 2);
            return true;
        case 't':
            out.push_back('\t');
            return true;
        case 'u':
            append_int(out, int64_t{weekday});
            return true;
        case 'V':
            append_digits(out, iso_week(m.days), 2);
            return true;
        case 'w':
            append_int(out, int64_t{weekday % 7});
            return true;
        case 'W':
            out += kWeekdays[weekday - 1];
            return true;
        case 'y':
            append_digits(out, floor_modulo(m.date.year, 100), 2);
            return true;
        case 'Y':
            append_digits(out, m.date.year, 4);
            return true;
        case 'z':
            out.push_back(m.offset < 0 ? '-' : '+');
            append_digits(out, std::abs(m.offset) / 3600, 2);
            append_digits(out, std::abs(m.offset) / 60 % 60, 2);
            return true;
        case '%':
            out.push_back('%');
            return true;
        default:
            return false;
    }
}

void format_moment(std::string& out, std::string_view pattern, const Moment& moment, int fraction_digits) {
    for (size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            out.push_back(pattern[i]);
            continue;
        }
        if (i + 1 == pattern.size())
            fail(ErrorCode::BAD_ARGUMENTS, "Trailing '%' in the pattern of function formatDateTime");
        if (!append_placeholder(out, pattern[++i], moment, fraction_digits))
            fail(ErrorCode::BAD_ARGUMENTS,
                 "Incorrect syntax '{}', symbol is not supported '{}' for function formatDateTime", pattern,
                 pattern[i]);
    }
}

/// Reads a column's moments row by row.
class Moments {
public:
    Moments(const VectorPtr& time, const TimeZone& zone)
        : seconds_(local_seconds(time, zone)),
          utc_(utc_seconds(time, zone)),
          nanoseconds_(nanoseconds(time)),
          zone_(zone) {}
    Moment at(size_t row) const {
        const int64_t seconds = Reader<int64_t>(seconds_)[row], days = floor_divide(seconds, 86400);
        return {civil_from_days(days), days, seconds - days * 86400, Reader<int64_t>(nanoseconds_)[row],
                zone_.offset(Reader<int64_t>(utc_)[row])};
    }

private:
    VectorPtr seconds_, utc_, nanoseconds_;
    const TimeZone& zone_;
};

Overload resolve_format(std::span<const Argument> arguments, const FunctionContext& context) {
    const TypePtr given = arguments[0].type, type = make_type(TypeId::String);
    if (!is_date_or_time(given->id())) fail_argument("formatDateTime", *given, 0);
    const std::string pattern = require_text(arguments[1], "formatDateTime", 1);
    const TimeZone& zone = function_zone(arguments, 2, context, "formatDateTime");
    const int digits = 6;
    std::string checked;
    format_moment(checked, pattern, {{1970, 1, 1}, 0, 0, 0, 0}, digits);
    return {type, [=, &zone](const KernelArguments& call) {
                const Moments moments(call[0], zone);
                StringOutput out(call.rows);
                std::string text;
                for (size_t i = 0; i < call.rows; ++i) {
                    text.clear();
                    format_moment(text, pattern, moments.at(i), digits);
                    out.set(i, text);
                }
                return out.finish(type);
            }};
}

Overload resolve_name(std::span<const Argument> arguments, const FunctionContext& context) {
    std::string part = require_text(arguments[0], "dateName", 0);
    for (char& c : part) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const TypePtr type = make_type(TypeId::String);
    if (!is_date_or_time(arguments[1].type->id())) fail_argument("dateName", *arguments[1].type, 1);
    const TimeZone& zone = function_zone(arguments.subspan(1), 1, context, "dateName");
    static constexpr std::pair<std::string_view, char> kParts[] = {
        {"year", 'Y'}, {"quarter", 'Q'}, {"month", 'M'}, {"dayofyear", 'j'}, {"day", 'e'},
        {"week", 'V'}, {"weekday", 'W'}, {"hour", 'k'},  {"minute", 'i'},    {"second", 'S'}};
    char letter = 0;
    for (const auto& [name, code] : kParts)
        if (part == name) letter = code;
    if (!letter) fail(ErrorCode::BAD_ARGUMENTS, "{} doesn't look like datepart name in dateName", part);
    const bool number = letter != 'M' && letter != 'W';
    return {type, [=, &zone](const KernelArguments& call) {
                const Moments moments(call[1], zone);
                StringOutput out(call.rows);
                std::string text;
                for (size_t i = 0; i < call.rows; ++i) {
                    text.clear();
                    append_placeholder(text, letter, moments.at(i), 6);
                    if (number)  // without leading zeros and blanks
                        while (text.size() > 1 && (text[0] == '0' || text[0] == ' ')) text.erase(0, 1);
                    out.set(i, text);
                }
                return out.finish(type);
            }};
}

}  // namespace

void register_date_format_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, std::vector<std::string> aliases, size_t least, size_t most, auto resolve) {
        Definition definition;
        definition.name = name;
        definition.aliases = std::move(aliases);
        definition.case_insensitive = true;
        definition.min_arguments = least;
        definition.max_arguments = most;
        definition.resolve = resolve;
        registry.add(std::move(definition));
    };
    add("formatDateTime", {"DATE_FORMAT"}, 2, 3, resolve_format);
    add("dateName", {}, 2, 3, resolve_name);
    add("monthName", {}, 1, 1, [](std::span<const Argument> arguments, const FunctionContext& context) {
        const std::vector<Argument> pair = {
            {make_type(TypeId::String), make_string_value(make_type(TypeId::String), "month")}, arguments[0]};
        Overload name = resolve_name(pair, context);
        return Overload{name.result, [kernel = name.kernel](const KernelArguments& call) {
                            const VectorPtr vectors[] = {nullptr, call[0]};
                            return kernel({vectors, {}, call.rows});
                        }};
    });
}

}  // namespace firn::functions
