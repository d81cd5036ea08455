// The line that shows how far a running statement is, on standard error of a terminal.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "firn/session/session.h"

namespace firn::cli {

/// Shows the session's running statement until destroyed, when it has taken longer than a moment. Does nothing where
/// standard error is no terminal.
class ProgressLine {
public:
    explicit ProgressLine(const session::Session& session);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

private:
    void run();
    const session::Session& session_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace firn::cli
