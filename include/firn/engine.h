// firn as a library: SQL in, formatted rows out.
//
//     firn::Engine engine;
//     engine.set("max_threads", "2");
//     std::string rows = engine.query("SELECT count() FROM icebergLocal('/warehouse/trips')");
//
// An Engine is one session: its settings, parameters and named tables last from one call to the next. Calls are one thread's
// at a time; cancel() may come from any thread. Link with the target firn_session.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace firn {

/// What a statement failed with: ClickHouse's code and name, and a message for people.
class QueryError : public std::exception {
public:
    QueryError(int code, std::string name, std::string message);
    int code() const noexcept { return code_; }
    const std::string& name() const noexcept { return name_; }
    const char* what() const noexcept override { return message_.c_str(); }

private:
    int code_;
    std::string name_;
    std::string message_;
};

class Engine {
public:
    Engine();
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// As SET name = value. QueryError: UNKNOWN_SETTING, or a value that is none of its kind.
    void set(std::string_view name, std::string_view value);
    /// The value of {name:Type} in later statements, as text.
    void set_parameter(const std::string& name, const std::string& value);

    /// Runs all statements of a text and gives their output in pieces, as it comes, to `write`. `format`: of queries without
    /// FORMAT ("TabSeparated", "JSONEachRow", …). The first failure ends the text: QueryError; what was given stays given.
    void run(std::string_view sql, std::string_view format, const std::function<void(std::string_view)>& write);
    /// The same, the output whole.
    std::string query(std::string_view sql, std::string_view format = "TabSeparated");

    /// Stops the running statement, which then fails with QUERY_WAS_CANCELLED. False when none runs, or when it was asked
    /// to stop before.
    bool cancel() noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace firn
