#include "firn/session/out_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "firn/base/error.h"

namespace firn::session {
namespace {

namespace fs = std::filesystem;

/// What stands behind the last dot of the file's name, in lower case.
std::string extension(std::string_view path) {
    std::string out = fs::path(path).extension().string();
    if (!out.empty()) out.erase(0, 1);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

}  // namespace

std::string format_of_file(std::string_view path, bool compressed) {
    constexpr std::array<std::string_view, 9> kCompressions{"gz",  "gzip", "zst",     "bz2",   "xz",
                                                            "lz4", "br",   "deflate", "snappy"};
    constexpr std::array<std::string_view, 6> kUnwritten{"parquet", "orc", "avro", "arrow", "feather", "msgpack"};
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFormats{{{"tsv", "TabSeparated"},
                                                                                     {"csv", "CSV"},
                                                                                     {"json", "JSON"},
                                                                                     {"jsonl", "JSONEachRow"},
                                                                                     {"ndjson", "JSONEachRow"},
                                                                                     {"md", "Markdown"},
                                                                                     {"xml", "XML"},
                                                                                     {"native", "Native"},
                                                                                     {"sql", "SQLInsert"}}};
    std::string last = extension(path);
    if (std::find(kCompressions.begin(), kCompressions.end(), last) != kCompressions.end()) {
        if (compressed)
            fail(
                ErrorCode::NOT_IMPLEMENTED,
                "INTO OUTFILE '{}': compressed files are not written yet; pipe the output through a compressor, or say "
                "COMPRESSION 'none'",
                path);
        last = extension(fs::path(path).stem().string());
    }
    if (std::find(kUnwritten.begin(), kUnwritten.end(), last) != kUnwritten.end())
        fail(ErrorCode::NOT_IMPLEMENTED,
             "INTO OUTFILE '{}': {} is not written yet; say FORMAT, for example CSV, to write another format", path,
             last);
    for (const auto& [name, format] : kFormats)
        if (name == last) return std::string(format);
    return "TabSeparated";
}

OutFile::OutFile(std::string path, Mode mode) : path_(std::move(path)), mode_(mode) {
    std::error_code none;
    const fs::file_status there = fs::symlink_status(path_, none);
    if (mode == Mode::New && fs::exists(there))
        fail(ErrorCode::CANNOT_OPEN_FILE,
             "File {} exists; INTO OUTFILE replaces it with TRUNCATE, or adds to it with APPEND", path_);
    const bool whole = mode != Mode::Append && (!fs::exists(there) || fs::is_regular_file(there));
    static std::atomic<uint64_t> counter{0};
    do {  // never one that is there: another statement's, or somebody's link
        if (whole) temporary_ = fmt::format("{}.firn-{}-{}.tmp", path_, ::getpid(), counter.fetch_add(1));
        file_ = whole ? std::fopen(temporary_.c_str(), "wbx")
                      : std::fopen(path_.c_str(), mode == Mode::Append ? "ab" : "wb");
    } while (whole && !file_ && errno == EEXIST);
    if (!file_) fail(ErrorCode::CANNOT_OPEN_FILE, "Cannot open file {}: {}", path_, std::strerror(errno));
    if (whole && fs::exists(there)) fs::permissions(temporary_, there.permissions(), none);
}

OutFile::~OutFile() {
    if (file_) std::fclose(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutFile::fail_writing() const {
    fail(ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR, "Cannot write to {}: {}", path_, std::strerror(errno));
}

void OutFile::write(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size() || std::fflush(file_) != 0) fail_writing();
}

void OutFile::finish() {
    if (!file_) return;
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail_writing();
    if (temporary_.empty()) return;
    // A link is refused where another has made the file meanwhile; not all file systems have them.
    if (mode_ == Mode::New && ::link(temporary_.c_str(), path_.c_str()) == 0) return;
    if (mode_ == Mode::New && errno == EEXIST) fail_writing();
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_writing();
    temporary_.clear();
}

}  // namespace firn::session
