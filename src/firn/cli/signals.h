// How signals end statements and the process.
#pragma once

#include "firn/session/session.h"

namespace firn::cli {

/// SIGINT (Ctrl-C) cancels the session's running statement; with none running, or at a second one for the same statement,
/// it ends the process with status 130. SIGTERM, SIGHUP, SIGQUIT and SIGPIPE end it as they do by default, or stay
/// ignored. No spilled data are left behind. One at a time; at its end SIGINT ends the process.
class SignalHandling {
public:
    explicit SignalHandling(session::Session& session);
    ~SignalHandling();
    SignalHandling(const SignalHandling&) = delete;
    SignalHandling& operator=(const SignalHandling&) = delete;
};

}  // namespace firn::cli
