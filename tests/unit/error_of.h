// What an action fails with.
#pragma once

#include <optional>
#include <string>

#include "firn/base/error.h"

namespace firn {

struct Failure {
    std::optional<ErrorCode> code;  ///< none: it did not fail
    std::string message;
};

template <typename Action>
Failure failure_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        return {error.code(), error.message()};
    }
    return {};
}

}  // namespace firn
