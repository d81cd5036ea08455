#include "firn/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace firn::cli {
namespace {

constexpr auto kFirstLook = std::chrono::milliseconds(500);
constexpr auto kEveryLook = std::chrono::milliseconds(100);

std::string readable(double number, const char* const (&units)[4]) {
    size_t unit = 0;
    while (number >= 1000 && unit + 1 < std::size(units)) {
        number /= 1000;
        ++unit;
    }
    return fmt::format("{:.{}f}{}", number, unit ? 2 : 0, units[unit]);
}

std::string rows_text(double rows) { return readable(rows, {"", " thousand", " million", " billion"}); }
std::string bytes_text(double bytes) { return readable(bytes, {" B", " KB", " MB", " GB"}); }

}  // namespace

ProgressLine::ProgressLine(const session::Session& session) : session_(session) {
    if (isatty(STDERR_FILENO)) thread_ = std::thread([this] { run(); });
}

ProgressLine::~ProgressLine() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void ProgressLine::run() {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    bool shown = false;
    for (auto pause = kFirstLook; !wake_.wait_for(lock, pause, [this] { return stopping_; }); pause = kEveryLook) {
        const auto context = session_.running();
        if (!context) continue;
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const auto rows = static_cast<double>(context->progress_rows.load());
        const auto total = static_cast<double>(context->progress_total_rows.load());
        const auto bytes = static_cast<double>(context->count(ProfileEvent::ReadBytesFromStorage));
        const std::string part = total > 0 ? fmt::format("{:.0f}%, ", 100 * std::min(1.0, rows / total)) : "";
        fmt::print(stderr, "\r\033[K{}{} rows, {} read, {} rows/s, {:.1f} s", part, rows_text(rows), bytes_text(bytes),
                   rows_text(rows / seconds), seconds);
        std::fflush(stderr);
        shown = true;
    }
    if (shown) {
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
    }
}

}  // namespace firn::cli
