#include "firn/iceberg/metadata_location.h"

#include <algorithm>
#include <vector>

#include "firn/base/error.h"
#include "firn/base/thread_pool.h"
#include "firn/iceberg/metadata.h"
#include "firn/iceberg/path_resolver.h"
#include "firn/storage/object_store.h"

namespace firn::iceberg {

namespace {

constexpr uint64_t kMaxHintBytes = 4096;

struct Candidate {
    std::string path;
    std::string name;
    std::optional<uint64_t> version;
    int64_t modified_us = 0;
    storage::ObjectInfo info = {};
};

bool take_suffix(std::string_view& text, std::string_view suffix) {
    if (text.size() < suffix.size() || text.substr(text.size() - suffix.size()) != suffix) return false;
    text.remove_suffix(suffix.size());
    return true;
}

/// What comes before ".metadata.json" and the compression's mark, in either order; nothing for another name.
std::optional<std::string_view> stem_of(std::string_view name) {
    constexpr std::string_view kMarks[] = {".gz", ".zst", ".zstd"};
    for (std::string_view mark : kMarks) {
        if (take_suffix(name, mark)) break;
    }
    if (!take_suffix(name, ".metadata.json")) return std::nullopt;
    for (std::string_view mark : kMarks) {
        if (take_suffix(name, mark)) break;
    }
    return name;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

std::string folder_of(std::string_view table_path) {
    std::string folder(table_path);
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    return folder;
}

/// The file that the setting names: relative to the table's folder, also with a slash before; or whole, below that
/// folder.
std::string explicit_path(std::string_view table_path, std::string_view wanted) {
    std::string root = folder_of(table_path);
    std::string canonical_root = PathResolver(root, root).root();
    bool whole = canonical_path(wanted).substr(0, canonical_root.size()) == canonical_root;
    if (!whole) {
        while (!wanted.empty() && wanted[0] == '/') wanted.remove_prefix(1);
    }
    std::string path;
    try {
        path = PathResolver(root, root).resolve(wanted);
    } catch (const Error&) {
        fail(ErrorCode::BAD_ARGUMENTS, "iceberg_metadata_file_path '{}' is not inside the table {}", wanted, root);
    }
    std::string inside = PathResolver(root, root).root();
    bool below = path.size() > inside.size() && path.substr(0, inside.size()) == inside &&
                 (inside.back() == '/' || path[inside.size()] == '/');
    if (!below) {
        fail(ErrorCode::BAD_ARGUMENTS, "iceberg_metadata_file_path '{}' is not inside the table {}", wanted, root);
    }
    return path;
}

std::vector<Candidate> list_candidates(const storage::ObjectStore& store, const std::string& folder) {
    std::vector<Candidate> candidates;
    for (storage::ObjectInfo& info : store.list(folder, false)) {
        std::string name = info.path.substr(info.path.rfind('/') + 1);
        if (!stem_of(name)) continue;
        Candidate found{info.path, name, metadata_version(name), info.modified_us};
        found.info = std::move(info);
        candidates.push_back(std::move(found));
    }
    return candidates;
}

/// The newest by version; of one version the file written last, then the greater name, so that the choice is always the
/// same.
bool older(const Candidate& a, const Candidate& b) {
    // A name without a version is behind all that have one.
    if (a.version != b.version) return a.version < b.version;
    if (a.modified_us != b.modified_us) return a.modified_us < b.modified_us;
    return a.name < b.name;
}

MetadataStamp stamp_of(const storage::ObjectStore& store, const Candidate& candidate) {
    return parse_metadata_stamp(store.read_all(candidate.info, kMaxMetadataBytes), candidate.path);
}

/// Of all, at once where each is a round trip.
std::vector<MetadataStamp> stamps_of(const storage::ObjectStore& store, const std::vector<Candidate>& candidates) {
    constexpr size_t kRemoteReaders = 32;
    std::vector<MetadataStamp> stamps(candidates.size());
    parallel_for(candidates.size(), store.is_remote() ? kRemoteReaders : 1,
                 [&](size_t i) { stamps[i] = stamp_of(store, candidates[i]); });
    return stamps;
}

/// What version-hint.text says; nothing where there is none.
std::optional<std::string> read_hint(const storage::ObjectStore& store, const std::string& folder) {
    try {
        return store.read_all(folder + "/version-hint.text", kMaxHintBytes);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::FILE_DOESNT_EXIST) throw;
        return std::nullopt;
    }
}

/// The file that the hint names: a version, or a file's name or stem. Nothing where there is no such file (a stale hint is
/// passed over).
const Candidate* hinted(std::string hint, const std::vector<Candidate>& candidates) {
    auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
    while (!hint.empty() && is_space(hint.back())) hint.pop_back();
    while (!hint.empty() && is_space(hint.front())) hint.erase(0, 1);
    bool number = !hint.empty() && hint.find_first_not_of("0123456789") == std::string::npos;
    std::optional<uint64_t> version;
    if (number) version = metadata_version(hint + ".metadata.json");
    std::string name = hint.substr(hint.rfind('/') + 1);
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates) {
        bool fits = number ? version && candidate.version == version
                           : candidate.name == name || *stem_of(candidate.name) == name;
        if (fits && (!best || older(*best, candidate))) best = &candidate;
    }
    return best;
}

storage::ObjectInfo by_last_updated(const std::vector<Candidate>& candidates,
                                    const std::vector<MetadataStamp>& stamps) {
    size_t best = 0;
    int64_t best_ms = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
        int64_t ms = stamps[i].last_updated_ms;
        if (i == 0 || ms > best_ms || (ms == best_ms && older(candidates[best], candidates[i]))) {
            best = i;
            best_ms = ms;
        }
    }
    return candidates[best].info;
}

/// Newest first, the first whose table is the wanted one: seldom more than a few are read.
storage::ObjectInfo newest_of_table(const storage::ObjectStore& store, std::vector<Candidate> candidates,
                                    const std::string& uuid, bool by_last_updated_ms, const std::string& folder) {
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return older(b, a); });
    std::vector<Candidate> kept;
    std::vector<MetadataStamp> stamps, all;
    if (by_last_updated_ms) all = stamps_of(store, candidates);
    for (size_t i = 0; i < candidates.size(); ++i) {
        MetadataStamp stamp = by_last_updated_ms ? std::move(all[i]) : stamp_of(store, candidates[i]);
        if (lower(stamp.table_uuid) != uuid) continue;
        if (!by_last_updated_ms) return candidates[i].info;
        kept.push_back(std::move(candidates[i]));
        stamps.push_back(std::move(stamp));
    }
    if (kept.empty()) {
        fail(ErrorCode::FILE_DOESNT_EXIST, "No metadata file in {} is of the table with uuid {}", folder, uuid);
    }
    return by_last_updated(kept, stamps);
}

}  // namespace

std::optional<uint64_t> metadata_version(std::string_view file_name) {
    auto stem = stem_of(file_name);
    if (!stem) return std::nullopt;
    std::string_view text = *stem;
    if (!text.empty() && text[0] == 'v') text.remove_prefix(1);
    uint64_t version = 0;
    size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
        if (version > (UINT64_MAX - 9) / 10) return std::nullopt;
        version = version * 10 + static_cast<uint64_t>(text[digits++] - '0');
    }
    if (digits == 0) return std::nullopt;
    bool v_form = text.size() != stem->size();
    if (digits == text.size()) return version;
    return !v_form && text[digits] == '-' ? std::optional(version) : std::nullopt;
}

std::string find_metadata_file(const storage::ObjectStore& store, std::string_view table_path,
                               const MetadataLocationOptions& options) {
    return find_metadata_object(store, table_path, options).path;
}

storage::ObjectInfo find_metadata_object(const storage::ObjectStore& store, std::string_view table_path,
                                         const MetadataLocationOptions& options) {
    if (!options.metadata_file_path.empty()) {
        std::string path = explicit_path(table_path, options.metadata_file_path);
        if (!store.is_remote()) return store.stat(path);
        storage::ObjectInfo named;  // reading it will tell whether it is there
        named.path = path;
        return named;
    }
    std::string folder = folder_of(table_path);
    folder += folder == "/" ? "metadata" : "/metadata";
    std::vector<Candidate> candidates;
    std::optional<std::string> hint;
    // Both at once where each is a round trip.
    parallel_for(options.use_version_hint ? 2 : 1, store.is_remote() ? 2 : 1, [&](size_t task) {
        if (task == 0) {
            candidates = list_candidates(store, folder);
        } else {
            hint = read_hint(store, folder);
        }
    });
    if (candidates.empty()) {
        fail(ErrorCode::FILE_DOESNT_EXIST, "There is no Iceberg table at {}: no *.metadata.json file in {}", table_path,
             folder);
    }
    if (!options.table_uuid.empty()) {
        return newest_of_table(store, std::move(candidates), lower(options.table_uuid), options.by_last_updated_ms,
                               folder);
    }
    if (options.by_last_updated_ms) return by_last_updated(candidates, stamps_of(store, candidates));
    if (hint) {
        if (const Candidate* found = hinted(*std::move(hint), candidates)) return found->info;
    }
    return std::max_element(candidates.begin(), candidates.end(), older)->info;
}

}  // namespace firn::iceberg
