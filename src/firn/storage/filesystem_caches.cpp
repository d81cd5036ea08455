// The caches on disk that the process knows, and how a configuration names them.
#include <charconv>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/filesystem_cache.h"

namespace firn::storage {
namespace {

struct Caches {
    std::mutex mutex;
    std::vector<std::shared_ptr<FilesystemCache>> all;
};

Caches& caches() {
    static Caches* const known = new Caches;  // never freed: threads may still read when the process ends
    return *known;
}

/// "10Gi", "500M", "1000000"; nothing where it is no such size.
std::optional<uint64_t> size_of(std::string_view text) {
    uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc{}) return std::nullopt;
    std::string_view unit(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
    if (unit.ends_with('B')) unit.remove_suffix(1);
    uint64_t base = 1000;
    if (unit.size() == 2 && unit[1] == 'i') {
        base = 1024;
        unit.remove_suffix(1);
    }
    if (unit.empty()) return number;
    constexpr std::string_view kUnits = "KMGTPE";
    const size_t power = kUnits.find(unit[0] == 'k' ? 'K' : unit[0]);
    if (unit.size() != 1 || power == kUnits.npos) return std::nullopt;
    for (size_t i = 0; i <= power; ++i)
        if (__builtin_mul_overflow(number, base, &number)) return std::nullopt;
    return number;
}

}  // namespace

uint64_t configured_bytes(std::string_view name, std::string_view text) {
    const auto bytes = size_of(text);
    if (!bytes) fail(ErrorCode::BAD_ARGUMENTS, "Configuration: {} must be a size, as 10Gi, and is '{}'", name, text);
    return *bytes;
}

std::vector<std::shared_ptr<FilesystemCache>> filesystem_caches() {
    Caches& known = caches();
    std::lock_guard lock(known.mutex);
    return known.all;
}

int add_filesystem_cache(FilesystemCacheOptions options) {
    Caches& known = caches();
    std::lock_guard lock(known.mutex);
    for (size_t i = 0; i < known.all.size(); ++i) {
        const FilesystemCacheOptions& other = known.all[i]->options();
        if (other.name != options.name) continue;
        if (other.path == options.path && other.max_size == options.max_size) return static_cast<int>(i);
        fail(ErrorCode::BAD_ARGUMENTS, "Cache {} is at {} with {} bytes already", other.name, other.path,
             other.max_size);
    }
    known.all.push_back(std::make_shared<FilesystemCache>(std::move(options)));
    return static_cast<int>(known.all.size()) - 1;
}

int find_filesystem_cache(std::string_view name) {
    Caches& known = caches();
    std::lock_guard lock(known.mutex);
    if (name.empty()) return known.all.size() == 1 ? 0 : -1;
    for (size_t i = 0; i < known.all.size(); ++i)
        if (known.all[i]->options().name == name) return static_cast<int>(i);
    return -1;
}

FilesystemCache* current_filesystem_cache() {
    const QueryContext* context = QueryContext::current();
    if (!context || context->filesystem_cache < 0) return nullptr;
    Caches& known = caches();
    std::lock_guard lock(known.mutex);
    const auto number = static_cast<size_t>(context->filesystem_cache);
    return number < known.all.size() ? known.all[number].get() : nullptr;
}

FilesystemCache* writable_filesystem_cache() {
    const QueryContext* context = QueryContext::current();
    return context && !context->filesystem_cache_read_only ? current_filesystem_cache() : nullptr;
}

void configure_filesystem_caches(const ConfigurationNode& configuration) {
    const auto* node = configuration.child("filesystem_caches");
    if (!node) return;
    for (const ConfigurationNode& cache : node->children) {
        FilesystemCacheOptions options;
        options.name = cache.name;
        options.path = cache.child_text("path");
        const std::string base = configuration.child_text("filesystem_caches_path");
        if (!options.path.empty() && options.path[0] != '/' && !base.empty()) options.path = base + "/" + options.path;
        while (options.path.size() > 1 && options.path.ends_with('/')) options.path.pop_back();
        if (options.path.size() < 2 || options.path[0] != '/')
            fail(ErrorCode::BAD_ARGUMENTS, "filesystem_caches.{}: path must be an absolute path, and is '{}'",
                 cache.name, options.path);
        options.max_size =
            configured_bytes("filesystem_caches." + cache.name + ".max_size", cache.child_text("max_size"));
        if (options.max_size == 0)
            fail(ErrorCode::BAD_ARGUMENTS, "filesystem_caches.{}: max_size must be more than nothing", cache.name);
        add_filesystem_cache(std::move(options));
    }
}

}  // namespace firn::storage
