#include "firn/cli/local.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "firn/base/error.h"
#include "firn/cli/progress.h"
#include "firn/cli/shell.h"
#include "firn/cli/signals.h"
#include "firn/cli/version.h"
#include "firn/exec/spill/directory.h"
#include "firn/session/session.h"
#include "firn/sql/parser.h"

namespace firn::cli {
namespace {

struct Arguments {
    std::vector<std::string> queries;
    std::vector<std::string> files;
    std::string format;
    std::string config_file;
    bool time = false;
    bool profile_events = false;
    bool multiquery = false;
    bool help = false;
    bool version = false;
    std::vector<std::string> rest;
};

/// Writes all of it or fails. A closed pipe ends the program by SIGPIPE, as users of `| head` expect.
void write_stdout(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            fail(ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR, "Cannot write to standard output: {}",
                 std::strerror(errno));
        }
        bytes.remove_prefix(static_cast<size_t>(written));
    }
}

std::string read_whole(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) fail(ErrorCode::FILE_DOESNT_EXIST, "Cannot open the query file '{}'", path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string read_stdin() {
    std::string text;
    char block[65536];
    for (;;) {
        const ssize_t n = ::read(STDIN_FILENO, block, sizeof(block));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            fail(ErrorCode::CANNOT_READ_FROM_FILE_DESCRIPTOR, "Cannot read standard input: {}", std::strerror(errno));
        if (n == 0) return text;
        text.append(block, static_cast<size_t>(n));
    }
}

void describe_options(CLI::App& app, Arguments& arguments) {
    app.set_help_flag();
    app.add_flag("-h,--help", arguments.help, "This help");
    app.add_flag("-V,--version", arguments.version, "The version");
    app.add_option("-q,--query", arguments.queries, "Statements to run, separated by ';'. May be given several times")
        ->take_all();
    app.add_option("--queries-file", arguments.files, "A file of statements to run. May be given several times")
        ->take_all();
    app.add_option("-f,--format,--output-format", arguments.format,
                   "Output format of queries without FORMAT. Default: PrettyCompact on a terminal, else TabSeparated");
    app.add_option("-C,--config-file", arguments.config_file,
                   "A configuration file, XML or YAML: named collections, disks, settings");
    app.add_flag("-t,--time", arguments.time, "Print each statement's elapsed seconds on standard error");
    app.add_flag("--print-profile-events", arguments.profile_events,
                 "Print each statement's counters on standard error, a line 'Name: N' each");
    app.add_flag("-n,--multiquery,--multi-query", arguments.multiquery,
                 "Accepted; several statements are always taken");
    app.footer(
        "Besides: --SETTING=VALUE sets any setting (--max_threads=4), --param_NAME=VALUE gives a query's {NAME:Type} "
        "its value.\n"
        "Without -q and --queries-file, statements are read from standard input; on a terminal, the shell starts.\n"
        "\n"
        "Examples:\n"
        "  firn local -q \"SELECT count() FROM icebergLocal('warehouse/db/table')\"\n"
        "  firn local -q \"SELECT * FROM file('data.parquet') LIMIT 10\" --format Vertical\n"
        "  echo \"SELECT {n:UInt8} + 1\" | firn local --param_n=41");
    app.allow_extras();
}

/// --name=value, --name value, --name (meaning 1): a setting or a query parameter.
void apply_setting_arguments(const std::vector<std::string>& rest, session::Session& session) {
    for (size_t i = 0; i < rest.size(); ++i) {
        std::string_view word = rest[i];
        if (!word.starts_with("--"))
            fail(ErrorCode::BAD_ARGUMENTS, "Unexpected argument '{}': see firn local --help", word);
        word.remove_prefix(2);
        std::string name(word.substr(0, word.find('=')));
        std::string value = "1";
        if (const size_t equals = word.find('='); equals != std::string_view::npos)
            value = word.substr(equals + 1);
        else if (i + 1 < rest.size() && !rest[i + 1].starts_with("--"))
            value = rest[++i];
        if (name.starts_with("param_")) {
            session.set_parameter(name.substr(6), value);
            continue;
        }
        std::replace(name.begin(), name.end(), '-', '_');
        session.settings().set(name, value);
    }
}

/// 0 when standard output is no terminal.
size_t terminal_width() {
    constexpr size_t kUnknownWidth = 80;
    winsize size{};
    if (!isatty(STDOUT_FILENO)) return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUnknownWidth;
}

void print_report(const Arguments& arguments, const session::StatementReport& report) {
    if (arguments.time) fmt::print(stderr, "{:.6f}\n", report.elapsed_seconds);
    if (!arguments.profile_events || !report.context) return;
    for (size_t i = 0; i < kProfileEvents; ++i) {
        const auto event = static_cast<ProfileEvent>(i);
        // Of the services that a query did not use there is nothing to say.
        const uint64_t count = report.context->count(event);
        if (count == 0 && event >= ProfileEvent::StorageRequests) continue;
        fmt::print(stderr, "{}: {}\n", profile_event_name(event), count);
    }
    fmt::print(stderr, "MemoryPeak: {}\n", report.context->memory()->peak());
}

/// Runs all statements of a text; the first Error ends it.
void run_text(session::Session& session, std::string_view text, const Arguments& arguments) {
    sql::StatementReader reader(text);
    for (;;) {
        reader.set_options(session::parse_options(session.settings()));
        const sql::StatementPtr statement = reader.next();
        if (!statement) return;
        session::StatementReport report;
        {
            const ProgressLine progress(session);
            session.run(*statement, write_stdout, &report);
        }
        print_report(arguments, report);
    }
}

}  // namespace

int run_local(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Runs ClickHouse SQL over Iceberg tables and files, without a server", "firn local");
    describe_options(app, arguments);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        fail(ErrorCode::BAD_ARGUMENTS, "{}: see firn local --help", error.what());
    }
    if (arguments.help) {
        fmt::print("{}", app.help());
        return 0;
    }
    if (arguments.version) {
        fmt::print("{}\n", version_line());
        return 0;
    }

    const bool shell = arguments.queries.empty() && arguments.files.empty() && isatty(STDIN_FILENO);
    session::SessionOptions options;
    options.terminal_width = terminal_width();
    options.color = options.terminal_width > 0 && !std::getenv("NO_COLOR");
    options.default_format = !arguments.format.empty()    ? arguments.format
                             : options.terminal_width > 0 ? "PrettyCompact"
                                                          : "TabSeparated";
    session::Session session(options);
    if (!arguments.config_file.empty()) session.configure(arguments.config_file);
    apply_setting_arguments(app.remaining(), session);

    const SignalHandling signals(session);
    exec::SpillDirectory::remove_abandoned(session.settings().get_string("firn_temporary_directory"));

    if (shell) return run_shell(session, write_stdout);
    for (const auto& query : arguments.queries) run_text(session, query, arguments);
    for (const auto& file : arguments.files) run_text(session, read_whole(file), arguments);
    if (arguments.queries.empty() && arguments.files.empty()) run_text(session, read_stdin(), arguments);
    return 0;
}

}  // namespace firn::cli
