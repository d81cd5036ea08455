#include "firn/base/settings.h"

#include <algorithm>
#include <charconv>

#include "firn/base/error.h"

namespace firn {
namespace {

constexpr SettingDefinition kSettings[] = {
#define FIRN_SETTING(name, kind, value) {#name, SettingKind::kind, value},
#include "firn/base/known_settings.inc"
#undef FIRN_SETTING
};

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = row[j];
            row[j] = next;
        }
    }
    return row[b.size()];
}

[[noreturn]] void unknown_setting(std::string_view name) {
    const SettingDefinition* nearest = nullptr;
    size_t best = 4;
    for (const auto& setting : kSettings) {
        const size_t distance = edit_distance(name, setting.name);
        if (distance < best) {
            best = distance;
            nearest = &setting;
        }
    }
    if (nearest) fail(ErrorCode::UNKNOWN_SETTING, "Unknown setting '{}': maybe you meant '{}'", name, nearest->name);
    fail(ErrorCode::UNKNOWN_SETTING, "Unknown setting '{}'", name);
}

std::optional<bool> parse_bool(std::string_view text) {
    if (text == "1" || text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "0" || text == "false" || text == "False" || text == "FALSE") return false;
    return std::nullopt;
}

template <typename T>
std::optional<T> parse_number(std::string_view text) {
    T value{};
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Checks and brings to the form in which it is kept.
std::string normalized(const SettingDefinition& setting, std::string_view value) {
    const auto bad = [&](ErrorCode code) {
        fail(code, "Cannot parse value '{}' of setting '{}'", value, setting.name);
    };
    switch (setting.kind) {
        case SettingKind::Bool: {
            const auto parsed = parse_bool(value);
            if (!parsed) bad(ErrorCode::CANNOT_PARSE_BOOL);
            return *parsed ? "1" : "0";
        }
        case SettingKind::UInt64: {
            if (value == "auto") return "0";
            if (const auto flag = parse_bool(value)) return *flag ? "1" : "0";
            if (!parse_number<uint64_t>(value)) {
                // Counts of threads are numbers or "auto": what begins with neither breaks an assertion of that syntax.
                const bool threads = setting.name.ends_with("max_threads");
                bad(threads ? ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED : ErrorCode::CANNOT_PARSE_NUMBER);
            }
            return std::string(value);
        }
        case SettingKind::Int64:
            if (!parse_number<int64_t>(value)) bad(ErrorCode::CANNOT_PARSE_NUMBER);
            return std::string(value);
        case SettingKind::Float:
        case SettingKind::Seconds:
        case SettingKind::Milliseconds:
            if (!parse_number<double>(value)) bad(ErrorCode::CANNOT_PARSE_NUMBER);
            return std::string(value);
        case SettingKind::String:
            return std::string(value);
    }
    return std::string(value);
}

/// Settings that change answers in ways that are not there yet: another value than the default is refused, so that nobody
/// takes an answer for the one that was asked for. What is not listed and does nothing only concerns speed, or limits.
constexpr std::string_view kNotYet[] = {
    "additional_result_filter",
    "additional_table_filters",
    "aggregate_functions_null_for_empty",
    "any_join_distinct_right_table_keys",
    "bool_false_representation",
    "bool_true_representation",
    "date_time_output_format",
    "date_time_overflow_behavior",
    "decimal_check_overflow",
    "empty_result_for_aggregation_by_empty_set",
    "enable_extended_results_for_datetime_functions",
    "enable_named_columns_in_function_tuple",
    "formatdatetime_e_with_space_padding",
    "formatdatetime_f_prints_scale_number_of_digits",
    "formatdatetime_f_prints_single_zero",
    "formatdatetime_format_without_leading_zeros",
    "formatdatetime_parsedatetime_m_is_month_name",
    "interval_output_format",
    "least_greatest_legacy_null_behavior",
    "output_format_tsv_crlf_end_of_line",
    "single_join_prefer_left_table",
    "splitby_max_substrings_includes_remaining_string",
    "transform_null_in",
};

}  // namespace

const SettingDefinition* find_setting(std::string_view name) noexcept {
    const auto* end = std::end(kSettings);
    const auto* found =
        std::lower_bound(std::begin(kSettings), end, name,
                         [](const SettingDefinition& setting, std::string_view n) { return setting.name < n; });
    return found != end && found->name == name ? found : nullptr;
}

std::vector<const SettingDefinition*> all_settings() {
    std::vector<const SettingDefinition*> out;
    for (const auto& setting : kSettings) out.push_back(&setting);
    return out;
}

void Settings::set(std::string_view name, std::string_view value) {
    const SettingDefinition* setting = find_setting(name);
    if (!setting) unknown_setting(name);
    std::string text = normalized(*setting, value);
    if (text != setting->default_value && std::find(std::begin(kNotYet), std::end(kNotYet), name) != std::end(kNotYet))
        fail(ErrorCode::NOT_IMPLEMENTED, "Setting {} = '{}' is not supported yet, only its default, '{}'", name, value,
             setting->default_value);
    changed_[std::string(name)] = std::move(text);
}

void Settings::reset(std::string_view name) {
    if (!find_setting(name)) unknown_setting(name);
    const auto found = changed_.find(name);
    if (found != changed_.end()) changed_.erase(found);
}

void Settings::apply(const Settings& other) {
    for (const auto& [name, value] : other.changed_) changed_[name] = value;
}

std::string Settings::get_string(std::string_view name) const {
    const auto found = changed_.find(name);
    if (found != changed_.end()) return found->second;
    const SettingDefinition* setting = find_setting(name);
    if (!setting) fail(ErrorCode::LOGICAL_ERROR, "No setting is named '{}'", name);
    return std::string(setting->default_value);
}

bool Settings::get_bool(std::string_view name) const { return get_string(name) == "1"; }
uint64_t Settings::get_uint(std::string_view name) const {
    return parse_number<uint64_t>(get_string(name)).value_or(0);
}
int64_t Settings::get_int(std::string_view name) const { return parse_number<int64_t>(get_string(name)).value_or(0); }

double Settings::get_float(std::string_view name) const {
    const double value = parse_number<double>(get_string(name)).value_or(0);
    const SettingDefinition* setting = find_setting(name);
    return setting && setting->kind == SettingKind::Milliseconds ? value / 1000 : value;
}

}  // namespace firn
