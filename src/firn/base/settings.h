// Settings: named values that a session, a query or a table call changes. Names and defaults are ClickHouse's; those that
// firn does not act upon are accepted, so that clients which send them work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firn {

enum class SettingKind : uint8_t { Bool, UInt64, Int64, Float, Seconds, Milliseconds, String };

struct SettingDefinition {
    std::string_view name;
    SettingKind kind;
    std::string_view default_value;
};

/// Null when there is no such setting. The names are ordered.
const SettingDefinition* find_setting(std::string_view name) noexcept;
std::vector<const SettingDefinition*> all_settings();

/// Changed settings over the defaults. A value; copying makes a scope (a query's settings over the session's).
class Settings {
public:
    /// Checks name and value: UNKNOWN_SETTING (with the name that was likely meant), CANNOT_PARSE_NUMBER, CANNOT_PARSE_BOOL …
    void set(std::string_view name, std::string_view value);
    void reset(std::string_view name);
    /// All changes of `other`, over these.
    void apply(const Settings& other);

    // The setting must exist (LOGICAL_ERROR otherwise) and be of that kind.
    bool get_bool(std::string_view name) const;
    uint64_t get_uint(std::string_view name) const;
    int64_t get_int(std::string_view name) const;
    double get_float(std::string_view name) const;        // Float; Seconds and Milliseconds as seconds
    std::string get_string(std::string_view name) const;  // any kind: the text

    bool is_changed(std::string_view name) const { return changed_.find(name) != changed_.end(); }
    const std::map<std::string, std::string, std::less<>>& changed() const noexcept { return changed_; }

private:
    std::map<std::string, std::string, std::less<>> changed_;
};

}  // namespace firn
