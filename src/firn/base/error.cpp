#include "firn/base/error.h"

namespace firn {

std::string_view error_name(ErrorCode code) noexcept {
    switch (code) {
#define FIRN_ERROR_CODE(number, name) \
    case ErrorCode::name:             \
        return #name;
#include "firn/base/error_codes.inc"
#undef FIRN_ERROR_CODE
    }
    return "UNKNOWN";
}

std::string Error::display() const {
    std::string_view text = message_;
    while (!text.empty() && (text.back() == '.' || text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    return fmt::format("Code: {}. DB::Exception: {}. ({})", static_cast<int>(code_), text, error_name(code_));
}

}  // namespace firn
