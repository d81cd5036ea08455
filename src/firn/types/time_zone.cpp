#include "firn/types/time_zone.h"

#include <map>
#include <mutex>

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include "firn/base/error.h"

namespace firn {

struct TimeZone::Zone {
    cctz::time_zone zone;
};

namespace {

using Moment = cctz::time_point<cctz::seconds>;

Moment moment(int64_t seconds) { return Moment(cctz::seconds(seconds)); }

}  // namespace

const TimeZone& TimeZone::utc() {
    static const TimeZone zone = [] {
        TimeZone made;
        made.name_ = "UTC";
        return made;
    }();
    return zone;
}

const TimeZone& TimeZone::find(std::string_view name) {
    if (name.empty() || name == "UTC") return utc();
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<TimeZone>, std::less<>> zones;
    const std::lock_guard lock(mutex);
    auto it = zones.find(name);
    if (it != zones.end()) return *it->second;
    auto zone = std::make_shared<Zone>();
    // A path is no name: the library would open it as a file.
    const bool is_path =
        name.front() == '/' || name.find("..") != std::string_view::npos || name.find(':') != std::string_view::npos;
    if (is_path || !cctz::load_time_zone(std::string(name), &zone->zone))
        fail(ErrorCode::BAD_ARGUMENTS, "there is no time zone '{}'", name);
    auto made = std::make_unique<TimeZone>();
    made->name_ = name;
    made->zone_ = std::move(zone);
    return *zones.emplace(std::string(name), std::move(made)).first->second;
}

int64_t TimeZone::lookup(int64_t utc_seconds) const { return zone_->zone.lookup(moment(utc_seconds)).offset; }

int64_t TimeZone::resolve(int64_t local_seconds) const {
    const cctz::civil_second civil = cctz::civil_second() + local_seconds;
    const auto found = zone_->zone.lookup(civil);
    const bool skipped = found.kind == cctz::time_zone::civil_lookup::SKIPPED;
    return (skipped ? found.post : found.pre).time_since_epoch().count();
}

}  // namespace firn
