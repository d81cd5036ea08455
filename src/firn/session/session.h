// A session: what statements share (settings, tables by name, parameters), and the life of one statement: run, written out
// in its format, stopped, counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "firn/base/query_context.h"
#include "firn/base/settings.h"
#include "firn/sql/parser.h"
#include "firn/sql/statement.h"

namespace firn::table {
class Catalog;
}

namespace firn::session {

struct SessionOptions {
    std::string default_format = "TabSeparated";  // for queries without FORMAT
    bool color = false;                           // Pretty formats may use escape sequences
    size_t terminal_width = 0;                    // 0 = not a terminal
};

/// What one statement took, filled as it ends, also when it fails.
struct StatementReport {
    double elapsed_seconds = 0;
    uint64_t rows_out = 0;
    std::shared_ptr<QueryContext> context;  // its counters and memory
};

class Session {
public:
    explicit Session(SessionOptions options = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Settings& settings() noexcept { return settings_; }
    /// Named collections, disks, caches and settings (profiles.default) of a configuration file. The errors of
    /// storage::read_configuration, BAD_ARGUMENTS.
    void configure(const std::string& file);
    /// Of queries without FORMAT.
    void set_default_format(std::string format) { options_.default_format = std::move(format); }
    /// Text form of {name:Type}'s value.
    void set_parameter(const std::string& name, const std::string& value) { parameters_[name] = value; }

    /// Runs a statement and gives its output, in pieces, to `write`. Throws Error; what was given before stays given.
    void run(const sql::Statement& statement, const std::function<void(std::string_view)>& write,
             StatementReport* report = nullptr);

    /// Stops the running statement; safe from a signal handler and from other threads. False when none runs, or when it
    /// was asked to stop before.
    bool cancel() noexcept;
    /// The running statement's context, for progress; null between statements.
    std::shared_ptr<QueryContext> running() const;

private:
    friend class StatementRun;
    SessionOptions options_;
    Settings settings_;
    std::map<std::string, std::string> parameters_;
    std::unique_ptr<table::Catalog> catalog_;
    std::atomic<QueryContext*> running_{nullptr};  // what cancel() reaches, also from a signal handler
    std::atomic<int> cancelling_{0};               // calls of cancel() that may hold the pointer
    mutable std::mutex running_mutex_;
    std::shared_ptr<QueryContext> running_context_;
};

/// How statements are parsed under these settings.
sql::ParseOptions parse_options(const Settings& settings);

}  // namespace firn::session
