#include "firn/engine.h"

#include "firn/base/error.h"
#include "firn/session/session.h"
#include "firn/sql/parser.h"

namespace firn {

QueryError::QueryError(int code, std::string name, std::string message)
    : code_(code), name_(std::move(name)), message_(std::move(message)) {}

struct Engine::State {
    session::Session session;
};

namespace {

/// Runs work and gives its Error the public form.
template <typename Work>
void translated(Work&& work) {
    try {
        work();
    } catch (const Error& error) {
        throw QueryError(static_cast<int>(error.code()), std::string(error_name(error.code())), error.display());
    }
}

}  // namespace

Engine::Engine() : state_(std::make_unique<State>()) {}
Engine::~Engine() = default;

void Engine::set(std::string_view name, std::string_view value) {
    translated([&] { state_->session.settings().set(name, value); });
}

void Engine::set_parameter(const std::string& name, const std::string& value) {
    state_->session.set_parameter(name, value);
}

void Engine::run(std::string_view sql, std::string_view format, const std::function<void(std::string_view)>& write) {
    translated([&] {
        state_->session.set_default_format(std::string(format));
        sql::StatementReader reader(sql, session::parse_options(state_->session.settings()));
        while (const auto statement = reader.next()) {
            state_->session.run(*statement, write);
            reader.set_options(session::parse_options(state_->session.settings()));
        }
    });
}

std::string Engine::query(std::string_view sql, std::string_view format) {
    std::string out;
    run(sql, format, [&](std::string_view bytes) { out += bytes; });
    return out;
}

bool Engine::cancel() noexcept { return state_->session.cancel(); }

}  // namespace firn
