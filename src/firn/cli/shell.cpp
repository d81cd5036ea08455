#include "firn/cli/shell.h"

#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <histedit.h>

#include "firn/base/error.h"
#include "firn/cli/progress.h"
#include "firn/cli/version.h"
#include "firn/sql/parser.h"

namespace firn::cli {
namespace {

constexpr int kHistoryEntries = 10000;
bool continuing = false;

char* prompt(EditLine*) {
    static char first[] = "firn :) ";
    static char further[] = ":-] ";
    return continuing ? further : first;
}

/// Line editor and history, saved in ~/.firn_history.
class LineEditor {
public:
    LineEditor() : editor_(el_init("firn", stdin, stdout, stderr)), history_(history_init()) {
        HistEvent event;
        history(history_, &event, H_SETSIZE, kHistoryEntries);
        history(history_, &event, H_SETUNIQUE, 1);
        if (const char* home = std::getenv("HOME")) file_ = std::string(home) + "/.firn_history";
        if (!file_.empty()) history(history_, &event, H_LOAD, file_.c_str());
        el_set(editor_, EL_PROMPT, prompt);
        el_set(editor_, EL_EDITOR, "emacs");
        el_set(editor_, EL_SIGNAL, 1);
        el_set(editor_, EL_HIST, history, history_);
        el_source(editor_, nullptr);
    }
    ~LineEditor() {
        HistEvent event;
        if (!file_.empty()) history(history_, &event, H_SAVE, file_.c_str());
        history_end(history_);
        el_end(editor_);
    }
    LineEditor(const LineEditor&) = delete;
    LineEditor& operator=(const LineEditor&) = delete;

    /// False at the end of input.
    bool read(std::string& line) {
        int count = 0;
        const char* text = el_gets(editor_, &count);
        if (!text || count <= 0) return false;
        line.assign(text, static_cast<size_t>(count));
        return true;
    }
    void remember(const std::string& statement) {
        HistEvent event;
        history(history_, &event, H_ENTER, statement.c_str());
    }

private:
    EditLine* editor_;
    History* history_;
    std::string file_;
};

bool is_complete(std::string_view text) {
    const size_t last = text.find_last_not_of(" \t\r\n");
    return last == std::string_view::npos || text[last] == ';';
}

void run_statements(session::Session& session, std::string_view text,
                    const std::function<void(std::string_view)>& write) {
    sql::StatementReader reader(text, session::parse_options(session.settings()));
    while (const auto statement = reader.next()) {
        session::StatementReport report;
        {
            const ProgressLine progress(session);
            session.run(*statement, write, &report);
        }
        fmt::print("\n{} row{} in set. Elapsed: {:.3f} sec.", report.rows_out, report.rows_out == 1 ? "" : "s",
                   report.elapsed_seconds);
        if (report.context)
            if (const uint64_t rows = report.context->count(ProfileEvent::ScannedRows))
                fmt::print(" Read {} rows, {} bytes.", rows, report.context->count(ProfileEvent::ReadBytesFromStorage));
        fmt::print("\n\n");
    }
}

}  // namespace

int run_shell(session::Session& session, const std::function<void(std::string_view)>& write) {
    fmt::print("{}. Statements end with ';'. Leave with exit or Ctrl-D.\n\n", version_line());
    LineEditor editor;
    std::string text, line;
    for (;;) {
        std::fflush(stdout);
        continuing = !text.empty();
        if (!editor.read(line)) break;
        text += line;
        const size_t begin = text.find_first_not_of(" \t\r\n;");
        if (begin == std::string::npos) {
            text.clear();
            continue;
        }
        const std::string_view word = std::string_view(text).substr(begin);
        if (word.starts_with("exit") || word.starts_with("quit")) break;
        if (!is_complete(text)) continue;
        editor.remember(text);
        try {
            run_statements(session, text, write);
        } catch (const Error& error) {
            std::fflush(stdout);
            fmt::print(stderr, "{}\n\n", error.display());
        }
        text.clear();
    }
    fmt::print("\n");
    return 0;
}

}  // namespace firn::cli
