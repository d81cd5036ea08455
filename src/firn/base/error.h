// Errors: one exception type that carries one of ClickHouse's codes and a message for the user.
//
// Kinds that a caller has to tell apart have a code each: a damaged file is INCORRECT_DATA, a file that is well
// formed but breaks the Iceberg spec is ICEBERG_SPECIFICATION_VIOLATION, a missing one FILE_DOESNT_EXIST, memory
// MEMORY_LIMIT_EXCEEDED, a cancelled query QUERY_WAS_CANCELLED, a part not built yet NOT_IMPLEMENTED. LOGICAL_ERROR is a
// bug of firn itself and must not be reachable by input.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace firn {

enum class ErrorCode : int {
#define FIRN_ERROR_CODE(number, name) name = number,
#include "firn/base/error_codes.inc"
#undef FIRN_ERROR_CODE
};

/// The code's name, "BAD_ARGUMENTS"; "UNKNOWN" for a number without one. Never fails.
std::string_view error_name(ErrorCode code) noexcept;

class Error : public std::exception {
public:
    Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

    ErrorCode code() const noexcept { return code_; }
    const std::string& message() const noexcept { return message_; }
    const char* what() const noexcept override { return message_.c_str(); }

    /// "Code: 36. DB::Exception: message. (BAD_ARGUMENTS)": what is printed, the name as the last words.
    std::string display() const;

    /// Puts words before the message, as an error passes a place that knows more ("In file x.parquet: ").
    void add_context(std::string_view before) { message_.insert(0, before); }

private:
    ErrorCode code_;
    std::string message_;
};

/// Throws Error with a formatted message: fail(ErrorCode::BAD_ARGUMENTS, "no column {} in {}", name, table).
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
    throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace firn
