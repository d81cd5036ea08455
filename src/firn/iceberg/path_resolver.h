// Where a path written in Iceberg metadata really is. The one place that knows; every path of manifest lists,
// manifests, data and delete files, position deletes and Puffin blobs goes through it.
//
// The rule: a path below the metadata's `location` is relative to where the table was opened, so that a copied or moved
// table reads as it is; a path outside is used as written. Spelling is not identity: `s3://b/k`, `s3a://b/k` and
// `s3n://b/k` are one object, as are `file:/p`, `file:///p` and `/p`, and slashes doubled by a careless join count
// once. Beyond that a path is an opaque string: nothing is percent-decoded.
#pragma once

#include <string>
#include <string_view>

namespace firn::iceberg {

/// One spelling for each object: scheme unified, `file:` dropped, doubled slashes and `.` segments removed, `..` taken
/// back, no slash at the end. Two paths name one object exactly when this is equal.
std::string canonical_path(std::string_view path);

/// The path that a user gave of a local file or folder: a file URI as a plain path, anything else as it is.
std::string local_path(std::string_view path);

/// The scheme of a canonical path: "" for the local disk, "s3", "gs", "abfss", …
std::string_view path_scheme(std::string_view canonical);

/// Immutable; thread-safe.
class PathResolver {
public:
    /// location: `location` of the table metadata. opened_at: the folder where the table was opened, as the store takes
    /// it.
    PathResolver(std::string_view location, std::string_view opened_at);

    /// The store's path of an object named in the metadata. Equal results name one object, so this is also the key by
    /// which a position delete finds its data file. ICEBERG_SPECIFICATION_VIOLATION when the path is empty or starts in
    /// the table and climbs out of it by `..`.
    std::string resolve(std::string_view path) const;

    /// The folder where the table was opened, canonical.
    const std::string& root() const { return root_; }

    /// The inverse, for writing: the name under the metadata's `location` of a path below the folder where the table
    /// was opened; any other path unchanged.
    std::string to_metadata(std::string_view store_path) const;

private:
    std::string written_location_;  ///< without a slash at the end
    std::string location_;          ///< canonical
    bool plain_location_ = false;   ///< written in canonical form
    std::string root_;              ///< canonical
};

}  // namespace firn::iceberg
