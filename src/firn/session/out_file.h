// The file of INTO OUTFILE.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace firn::session {

/// The format that a file's name asks for, TabSeparated where it asks for none. NOT_IMPLEMENTED for formats and compressions
/// that firn cannot write; compressed: whether the name may say so (no COMPRESSION 'none').
std::string format_of_file(std::string_view path, bool compressed);

/// Appears, or takes the place of another, as a whole when it is finished: until then, and where the statement fails, what was
/// there stays. Where it is appended to, or is a pipe, a device or a symbolic link, it is written to as it is.
class OutFile {
public:
    enum class Mode { New, Truncate, Append };

    /// CANNOT_OPEN_FILE, also where a file is there that Mode::New should make.
    OutFile(std::string path, Mode mode);
    ~OutFile();
    OutFile(const OutFile&) = delete;
    OutFile& operator=(const OutFile&) = delete;

    /// CANNOT_WRITE_TO_FILE_DESCRIPTOR
    void write(std::string_view bytes);
    void finish();

private:
    [[noreturn]] void fail_writing() const;

    const std::string path_;
    const Mode mode_;
    std::string temporary_;  // what is written to until the end; empty: the file itself
    FILE* file_ = nullptr;
};

}  // namespace firn::session
