// Sizes, quantities and spans of time as people write them: formatReadableSize, formatReadableTimeDelta, parseReadableSize.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/value_parse.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

constexpr std::array<const char*, 7> kBinaryUnits = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
constexpr std::array<const char*, 7> kDecimalUnits = {" B", " KB", " MB", " GB", " TB", " PB", " EB"};
constexpr std::array<const char*, 9> kQuantities = {
    "", " thousand", " million", " billion", " trillion", " quadrillion", " quintillion", " sextillion", " septillion"};

/// The value by the greatest unit that it reaches, with two digits behind the point.
template <size_t kCount>
std::string in_units(double value, double step, const std::array<const char*, kCount>& units) {
    size_t unit = 0;
    while (unit + 1 < kCount && std::fabs(value) >= step) {
        value /= step;
        ++unit;
    }
    return fmt::format("{:.2f}{}", value, units[unit]);
}

template <size_t kCount>
void add_format(FunctionRegistry& registry, const FunctionName& name, double step,
                const std::array<const char*, kCount>& units) {
    declare(registry, name, 1, 1, [text = name.name, step, &units](ArgumentList arguments, const FunctionContext&) {
        if (!is_number(arguments[0].type->id())) fail_argument(text, *arguments[0].type, 0);
        const TypePtr type = make_type(TypeId::String);
        return Overload{type, [=, &units](const KernelArguments& call) {
                            const VectorPtr values = as_float64(call[0]);
                            StringOutput out(call.rows);
                            for (size_t i = 0; i < call.rows; ++i)
                                out.set(i, in_units(Reader<double>(values)[i], step, units));
                            return out.finish(type);
                        }};
    });
}

struct TimeUnit {
    std::string_view name;
    double seconds;
};
constexpr double kDay = 86400, kMonth = 30.5 * kDay, kYear = 365 * kDay;
constexpr std::array<TimeUnit, 9> kTimeUnits = {{{"year", kYear},
                                                 {"month", kMonth},
                                                 {"day", kDay},
                                                 {"hour", 3600},
                                                 {"minute", 60},
                                                 {"second", 1},
                                                 {"millisecond", 1e-3},
                                                 {"microsecond", 1e-6},
                                                 {"nanosecond", 1e-9}}};
constexpr size_t kSecond = 5;

size_t unit_named(const std::string& name) {
    for (size_t i = 0; i < kTimeUnits.size(); ++i)
        if (name == std::string(kTimeUnits[i].name) + "s") return i;
    fail(ErrorCode::BAD_ARGUMENTS, "Unknown unit of time '{}': it may be years, months, days, hours … nanoseconds",
         name);
}

std::string time_span(double seconds, size_t greatest, size_t least) {
    if (!std::isfinite(seconds)) return std::isnan(seconds) ? "nan" : seconds < 0 ? "-inf" : "inf";
    std::string out;
    const bool negative = seconds < 0;
    // Counted in the least unit, so that fractions do not add up to a unit that is not there.
    double left = std::floor(std::fabs(seconds) / kTimeUnits[least].seconds + 1e-6);
    std::vector<std::string> parts;
    for (size_t i = greatest; i <= least; ++i) {
        const double size = std::round(kTimeUnits[i].seconds / kTimeUnits[least].seconds);
        const double count = i == least ? left : std::floor(left / size);
        left -= count * size;
        const bool always = i == kSecond && parts.empty() && (least == kSecond || left > 0 || count > 0);
        if (count == 0 && !always) continue;
        parts.push_back(fmt::format("{:.0f} {}{}", count, kTimeUnits[i].name, count == 1 ? "" : "s"));
    }
    if (parts.empty()) parts.push_back(fmt::format("0 {}s", kTimeUnits[least].name));
    for (size_t i = 0; i < parts.size(); ++i) {
        if (i) out += i + 1 == parts.size() ? " and " : ", ";
        out += parts[i];
    }
    return negative ? "-" + out : out;
}

Overload resolve_time_delta(ArgumentList arguments, const FunctionContext&) {
    if (!is_number(arguments[0].type->id())) fail_argument("formatReadableTimeDelta", *arguments[0].type, 0);
    const size_t greatest =
        arguments.size() > 1 ? unit_named(require_text(arguments[1], "formatReadableTimeDelta", 1)) : 0;
    const size_t least = arguments.size() > 2 ? unit_named(require_text(arguments[2], "formatReadableTimeDelta", 2))
                                              : std::max(greatest, kSecond);
    if (least < greatest)
        fail(ErrorCode::BAD_ARGUMENTS, "The least unit given to formatReadableTimeDelta is greater than the greatest");
    const TypePtr type = make_type(TypeId::String);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr values = as_float64(call[0]);
                StringOutput out(call.rows);
                for (size_t i = 0; i < call.rows; ++i)
                    out.set(i, time_span(Reader<double>(values)[i], greatest, least));
                return out.finish(type);
            }};
}

struct SizeError {
    ErrorCode code;
    std::string message;
};

/// "1.5 KiB" in bytes, rounded up.
std::optional<uint64_t> parse_size(std::string_view text, SizeError& error) {
    constexpr std::pair<const char*, double> kUnits[] = {{"b", 1},
                                                         {"kib", 1024.0},
                                                         {"mib", 1048576.0},
                                                         {"gib", 1073741824.0},
                                                         {"tib", 1099511627776.0},
                                                         {"pib", 1125899906842624.0},
                                                         {"eib", 1152921504606846976.0},
                                                         {"kb", 1e3},
                                                         {"mb", 1e6},
                                                         {"gb", 1e9},
                                                         {"tb", 1e12},
                                                         {"pb", 1e15},
                                                         {"eb", 1e18}};
    size_t at = 0;
    while (at < text.size() && (std::string_view("0123456789.eE+-").find(text[at]) != std::string_view::npos)) {
        const bool unit_begins =
            (text[at] == 'e' || text[at] == 'E') &&
            (at + 1 >= text.size() || std::string_view("0123456789+-").find(text[at + 1]) == std::string_view::npos);
        if (unit_begins) break;
        ++at;
    }
    double number = 0;
    if (at == 0 || parse_float(text.substr(0, at), number) != kParsed) {
        error = {ErrorCode::CANNOT_PARSE_NUMBER, fmt::format("'{}' does not begin with a number", text)};
        return std::nullopt;
    }
    if (!(number >= 0) || !std::isfinite(number)) {
        error = {ErrorCode::BAD_ARGUMENTS, fmt::format("'{}' is no size", text)};
        return std::nullopt;
    }
    while (at < text.size() && text[at] == ' ') ++at;
    std::string unit(text.substr(at));
    std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const auto& [name, bytes] : kUnits) {
        if (unit != name) continue;
        const double size = std::ceil(number * bytes);
        if (size >= 18446744073709551616.0) {
            error = {ErrorCode::BAD_ARGUMENTS, fmt::format("'{}' is more than 64 bits hold", text)};
            return std::nullopt;
        }
        return static_cast<uint64_t>(size);
    }
    error = {ErrorCode::CANNOT_PARSE_TEXT, fmt::format("Unknown unit '{}'", unit)};
    return std::nullopt;
}

enum class Otherwise : uint8_t { Throw, Null, Zero };

Overload resolve_parse(ArgumentList arguments, Otherwise otherwise, const char* name) {
    require_string(arguments, 0, name);
    const TypePtr number = make_type(TypeId::UInt64);
    const TypePtr type = otherwise == Otherwise::Null ? make_nullable(number) : number;
    return {type, [=](const KernelArguments& call) {
                const Reader<StringRef> texts(call[0]);
                VectorBuilder out(type);
                for (size_t i = 0; i < call.rows; ++i) {
                    SizeError error;
                    if (const auto size = parse_size(texts[i].view(), error))
                        out.append<uint64_t>(*size);
                    else if (otherwise == Otherwise::Throw)
                        fail(error.code, "Function {}: {}", name, error.message);
                    else
                        out.append_default();
                }
                return out.finish();
            }};
}

}  // namespace

void register_readable_functions(FunctionRegistry& registry) {
    add_format(registry, {"formatReadableSize", {"FORMAT_BYTES"}}, 1024, kBinaryUnits);
    add_format(registry, {"formatReadableDecimalSize"}, 1000, kDecimalUnits);
    add_format(registry, {"formatReadableQuantity"}, 1000, kQuantities);
    declare(registry, {"formatReadableTimeDelta"}, 1, 3, resolve_time_delta);
    const std::pair<const char*, Otherwise> parses[] = {{"parseReadableSize", Otherwise::Throw},
                                                        {"parseReadableSizeOrNull", Otherwise::Null},
                                                        {"parseReadableSizeOrZero", Otherwise::Zero}};
    for (const auto& [name, otherwise] : parses)
        declare(registry, {name}, 1, 1,
                [name = name, otherwise = otherwise](ArgumentList arguments, const FunctionContext&) {
                    return resolve_parse(arguments, otherwise, name);
                });
}

}  // namespace firn::functions
