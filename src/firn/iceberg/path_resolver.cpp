#include "firn/iceberg/path_resolver.h"

#include <vector>

#include "firn/base/error.h"

namespace firn::iceberg {

namespace {

bool is_scheme_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
}

/// What comes before the path: scheme and, where the scheme has one, authority.
struct Split {
    std::string prefix;     ///< "" or "s3://bucket"
    std::string_view path;  ///< the rest
};

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

Split split(std::string_view text) {
    size_t colon = 0;
    while (colon < text.size() && is_scheme_char(text[colon])) ++colon;
    // One letter would be a drive; no slash after the colon is a file name with a colon in it.
    if (colon < 2 || colon + 1 >= text.size() || text[colon] != ':' || text[colon + 1] != '/') return {"", text};
    std::string scheme = lower(text.substr(0, colon));
    std::string_view rest = text.substr(colon + 1);
    if (scheme == "file") {
        constexpr std::string_view localhost = "//localhost/";
        if (rest.substr(0, localhost.size()) == localhost) rest.remove_prefix(localhost.size() - 1);
        return {"", rest};
    }
    if (scheme == "s3a" || scheme == "s3n") scheme = "s3";
    if (scheme == "abfs" || scheme == "wasb" || scheme == "wasbs") scheme = "abfss";
    if (scheme == "gcs") scheme = "gs";
    if (rest.substr(0, 2) != "//") return {scheme + "://", rest};
    rest.remove_prefix(2);
    size_t slash = rest.find('/');
    if (slash == rest.npos) slash = rest.size();
    std::string authority(rest.substr(0, slash));
    // One account of Azure has two host names, by the interface that is spoken.
    constexpr std::string_view blob = ".blob.core.";
    if (const size_t at = authority.find(blob); scheme == "abfss" && at != authority.npos)
        authority.replace(at, blob.size(), ".dfs.core.");
    return {scheme + "://" + authority, rest.substr(slash)};
}

/// Joins the segments of a path again without empty ones, `.` and `..`. Sets `escaped` when `..` goes above the begin.
std::string normalize_segments(std::string_view path, bool& escaped) {
    std::vector<std::string_view> kept;
    size_t begin = 0;
    while (begin <= path.size()) {
        size_t slash = path.find('/', begin);
        if (slash == path.npos) slash = path.size();
        std::string_view segment = path.substr(begin, slash - begin);
        begin = slash + 1;
        if (segment.empty() || segment == ".") continue;
        if (segment == "..") {
            if (kept.empty()) {
                escaped = true;
            } else {
                kept.pop_back();
            }
            continue;
        }
        kept.push_back(segment);
    }
    std::string out;
    for (std::string_view segment : kept) {
        out += '/';
        out += segment;
    }
    return out;
}

std::string canonical(std::string_view text, bool& escaped) {
    Split parts = split(text);
    bool absolute =
        !parts.prefix.empty() || (!parts.path.empty() && parts.path[0] == '/') || text.size() > parts.path.size();
    std::string path = normalize_segments(parts.path, escaped);
    if (!parts.prefix.empty()) return parts.prefix + path;
    if (!absolute) return path.empty() ? "." : path.substr(1);
    return path.empty() ? "/" : path;
}

/// Whether `path` is `folder` or lies below it; both canonical.
bool lies_below(std::string_view path, std::string_view folder) {
    if (folder == "/") return !path.empty() && path[0] == '/';
    return path.substr(0, folder.size()) == folder && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool has_parent_segment(std::string_view path) {
    for (size_t at = path.find(".."); at != path.npos; at = path.find("..", at + 1)) {
        bool begins = at == 0 || path[at - 1] == '/';
        bool ends = at + 2 == path.size() || path[at + 2] == '/';
        if (begins && ends) return true;
    }
    return false;
}

bool is_relative(std::string_view path) {
    return !path.empty() && path[0] != '/' && split(path).prefix.empty() && split(path).path.size() == path.size();
}

/// Scheme unified, everything behind it as it stands. In an object store a doubled slash is part of an object's name.
std::string exact(std::string_view text) {
    const Split parts = split(text);
    return parts.prefix + std::string(parts.path);
}

/// Whether a path is of a store that keeps objects by name, without folders.
bool is_object_path(std::string_view path) {
    const std::string_view scheme = path_scheme(path);
    return scheme == "s3" || scheme == "gs" || scheme == "abfss" || scheme == "az";
}

std::string join(std::string_view folder, std::string_view name) {
    std::string out(folder);
    if (out.empty() || out.back() != '/') out += '/';
    while (!name.empty() && name[0] == '/') name.remove_prefix(1);
    return out.append(name);
}

}  // namespace

std::string canonical_path(std::string_view path) {
    bool escaped = false;
    return canonical(path, escaped);
}

std::string local_path(std::string_view path) {
    return lower(path.substr(0, 6)) == "file:/" ? canonical_path(path) : std::string(path);
}

std::string_view path_scheme(std::string_view canonical) {
    size_t at = canonical.find("://");
    return at == canonical.npos ? std::string_view() : canonical.substr(0, at);
}

PathResolver::PathResolver(std::string_view location, std::string_view opened_at)
    : written_location_(location), location_(canonical_path(location)), root_(opened_at) {
    while (written_location_.size() > 1 && written_location_.back() == '/') written_location_.pop_back();
    plain_location_ = written_location_ == location_ && location_ != "/";
    // A working directory may be above the folder's relative name, so `..` at its begin stays as it is.
    if (!has_parent_segment(opened_at)) root_ = canonical_path(opened_at);
    if (is_object_path(root_) && !has_parent_segment(opened_at)) root_ = exact(opened_at);
    while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
}

namespace {

/// Whether a path below a location is canonical as it stands: no empty segment, none that begins with a dot.
bool is_plain(std::string_view inside) {
    for (size_t at = 0; at < inside.size(); ++at) {
        if (inside[at] != '/') continue;
        if (at + 1 == inside.size() || inside[at + 1] == '/' || inside[at + 1] == '.') return false;
    }
    return true;
}

}  // namespace

std::string PathResolver::resolve(std::string_view path) const {
    // Nearly every path, of which there may be millions, is the location and a plain name.
    size_t size = written_location_.size();
    if (plain_location_ && path.size() > size && path[size] == '/' && path.substr(0, size) == written_location_ &&
        is_plain(path.substr(size))) {
        return join(root_, path.substr(size));
    }
    if (path.empty())
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "The metadata of table {} holds an empty path", root_);
    bool parents = has_parent_segment(path);
    bool escaped = false;
    if (is_relative(path)) {
        std::string inside = normalize_segments(path, escaped);
        if (escaped) {
            fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "Path {} climbs out of the table {}", path, root_);
        }
        // Relative to the working directory of the writer, as its location is.
        std::string below = canonical_path(path);
        if (is_relative(written_location_) && location_ != "." && lies_below(below, location_) &&
            below.size() > location_.size())
            return join(root_, std::string_view(below).substr(location_.size()));
        return join(root_, inside);
    }
    if (is_object_path(root_) && !parents) {
        const std::string name = exact(path);
        const std::string location = exact(written_location_);
        if (name.size() > location.size() && name.starts_with(location) && name[location.size()] == '/')
            return root_ + name.substr(location.size());
        if (is_object_path(name) && !lies_below(canonical(path, escaped), location_)) return name;
    }
    std::string whole = canonical(path, escaped);
    if (!location_.empty() && lies_below(whole, location_)) {
        return whole.size() == location_.size() ? root_ : join(root_, std::string_view(whole).substr(location_.size()));
    }
    if (parents) {
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "Path {} climbs out of the table {} by \"..\"", path, root_);
    }
    return whole;
}

std::string PathResolver::to_metadata(std::string_view store_path) const {
    std::string whole = canonical_path(store_path);
    if (!lies_below(whole, root_)) return std::string(store_path);
    if (whole.size() == root_.size()) return written_location_;
    return join(written_location_, std::string_view(whole).substr(root_.size()));
}

}  // namespace firn::iceberg
