#include "firn/cli/signals.h"

#include <atomic>
#include <csignal>

#include <unistd.h>

#include "firn/exec/spill/directory.h"

namespace firn::cli {
namespace {

constexpr int kInterrupted = 130;  // as shells say of a program that SIGINT has ended

std::atomic<session::Session*> interruptible{nullptr};

void on_interrupt(int) {
    session::Session* const session = interruptible.load();
    if (session && session->cancel()) return;
    exec::SpillDirectory::remove_all();
    _exit(kInterrupted);
}

/// The signal comes again when this returns, to its default action.
void on_end(int signal_number) {
    exec::SpillDirectory::remove_all();
    raise(signal_number);
}

}  // namespace

SignalHandling::SignalHandling(session::Session& session) {
    interruptible.store(&session);
    struct sigaction interrupt {};
    interrupt.sa_handler = on_interrupt;
    sigaction(SIGINT, &interrupt, nullptr);
    for (const int signal_number : {SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
        struct sigaction before {
        }, end{};
        end.sa_handler = on_end;
        end.sa_flags = SA_RESETHAND;
        if (sigaction(signal_number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signal_number, &end, nullptr);
    }
}

SignalHandling::~SignalHandling() { interruptible.store(nullptr); }

}  // namespace firn::cli
