// Time zones by name. Offsets from the system's zone database; UTC costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace firn {

class TimeZone {
public:
    /// The zone of that name, which lives for ever; empty means UTC. BAD_ARGUMENTS where there is none. Thread-safe.
    static const TimeZone& find(std::string_view name);
    static const TimeZone& utc();

    const std::string& name() const noexcept { return name_; }
    bool is_utc() const noexcept { return zone_ == nullptr; }

    /// Seconds to add to UTC for local time, at a moment in seconds since the epoch.
    int64_t offset(int64_t utc_seconds) const { return zone_ ? lookup(utc_seconds) : 0; }
    int64_t to_local(int64_t utc_seconds) const { return utc_seconds + offset(utc_seconds); }
    /// The moment of a local time (as seconds of a UTC clock that shows it): the earlier of two; where the clock was put
    /// forward over it, as ClickHouse has it: the time of the clock that was put forward, so an hour before as a rule.
    int64_t from_local(int64_t local_seconds) const { return zone_ ? resolve(local_seconds) : local_seconds; }

private:
    struct Zone;
    int64_t lookup(int64_t utc_seconds) const;
    int64_t resolve(int64_t local_seconds) const;
    std::string name_;
    std::shared_ptr<const Zone> zone_;
};

}  // namespace firn
