// The program `firn`: finds the command and hands over.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <malloc.h>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/cli/local.h"
#include "firn/cli/version.h"

namespace {

constexpr const char* kUsage =
    "firn: ClickHouse SQL over Apache Iceberg tables\n"
    "\n"
    "usage: firn local [options]     run SQL here, without a server\n"
    "       firn --version\n"
    "       firn --help\n"
    "\n"
    "Try: firn local -q \"SELECT count() FROM icebergLocal('path/to/table')\"\n"
    "     firn local --help\n";

/// A query frees and takes the same megabytes over and over: given back to the system each time, they would be faulted in
/// again page by page. Asked for here, as it is the process's affair and not the library's.
void keep_freed_memory() {
    constexpr int kMappedFrom = 4 << 20;  // larger blocks lie on large pages, and go back at once
    constexpr int kKept = 64 << 20;
    mallopt(M_MMAP_THRESHOLD, kMappedFrom);
    mallopt(M_TRIM_THRESHOLD, kKept);
}

int run(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "local") return firn::cli::run_local(argc - 1, argv + 1);
    if (command == "--version" || command == "-V") {
        fmt::print("{}\n", firn::cli::version_line());
        return 0;
    }
    if (command == "--help" || command == "-h" || command == "help") {
        fmt::print("{}", kUsage);
        return 0;
    }
    if (command == "server" || command == "client")
        firn::fail(firn::ErrorCode::NOT_IMPLEMENTED, "firn {} is not there yet: use firn local", command);
    if (command.empty()) {
        fmt::print(stderr, "{}", kUsage);
        return 1;
    }
    firn::fail(firn::ErrorCode::BAD_ARGUMENTS, "firn has no command '{}': see firn --help", command);
}

}  // namespace

int main(int argc, char** argv) {
    keep_freed_memory();
    std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file-size limit is an error of that write
    try {
        return run(argc, argv);
    } catch (const firn::Error& error) {
        fmt::print(stderr, "{}\n", error.display());
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "{}\n",
                   firn::Error(firn::ErrorCode::MEMORY_LIMIT_EXCEEDED, "The system has no more memory").display());
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", firn::Error(firn::ErrorCode::STD_EXCEPTION, error.what()).display());
    }
    return 1;
}
