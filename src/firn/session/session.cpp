#include "firn/session/session.h"

#include <chrono>
#include <thread>

#include "firn/session/cache_statements.h"
#include "firn/session/statement_run.h"
#include "firn/storage/configuration.h"
#include "firn/table/catalog.h"

namespace firn::session {

Session::Session(SessionOptions options) : options_(std::move(options)), catalog_(std::make_unique<table::Catalog>()) {}
Session::~Session() = default;

void Session::configure(const std::string& file) {
    const storage::ConfigurationNode configuration = storage::read_configuration(file);
    catalog_->configure(configuration);
    configure_caches(configuration);
    const auto* profiles = configuration.child("profiles");
    if (const auto* profile = profiles ? profiles->child("default") : nullptr)
        for (const auto& setting : profile->children)
            if (find_setting(setting.name)) settings_.set(setting.name, setting.text);
}

bool Session::cancel() noexcept {
    cancelling_.fetch_add(1);
    QueryContext* context = running_.load();
    const bool stopping = context && !context->cancelled();
    if (stopping) context->cancel();
    cancelling_.fetch_sub(1);
    return stopping;
}

sql::ParseOptions parse_options(const Settings& settings) {
    sql::ParseOptions options;
    options.implicit_select = settings.get_bool("implicit_select");
    options.max_query_size = settings.get_uint("max_query_size");
    options.max_parser_depth = settings.get_uint("max_parser_depth");
    options.max_ast_depth = settings.get_uint("max_ast_depth");
    options.max_ast_elements = settings.get_uint("max_ast_elements");
    return options;
}

std::shared_ptr<QueryContext> Session::running() const {
    std::lock_guard lock(running_mutex_);
    return running_context_;
}

void Session::run(const sql::Statement& statement, const std::function<void(std::string_view)>& write,
                  StatementReport* report) {
    StatementReport own;
    StatementReport& out = report ? *report : own;
    const auto begin = std::chrono::steady_clock::now();
    out.context = std::make_shared<QueryContext>(static_cast<int64_t>(settings_.get_uint("max_memory_usage")));
    const auto show = [&](std::shared_ptr<QueryContext> context) {
        std::lock_guard lock(running_mutex_);
        running_context_ = std::move(context);
    };
    const auto finish = [&] {
        out.context->add_to_process();
        running_.store(nullptr);
        while (cancelling_.load() > 0)
            std::this_thread::yield();  // whoever still holds the context; no lock in signals
        show(nullptr);
        out.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    running_.store(out.context.get());
    show(out.context);
    try {
        QueryContext::Scope scope(out.context.get());
        StatementRun(*this, statement, write, out).run();
    } catch (...) {
        finish();
        throw;
    }
    finish();
}

}  // namespace firn::session
