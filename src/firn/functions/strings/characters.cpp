// Characters put over or changed into others: overlay, translateUTF8; substringIndexUTF8.
#include <algorithm>

#include "firn/functions/registration.h"
#include "firn/functions/strings/text_loops.h"
#include "firn/functions/substring_search.h"

namespace firn::functions {

namespace {

/// What is before the count-th delimiter, or after the count-th from the end.
std::string_view substring_index(std::string_view text, std::string_view delimiter, int64_t count) {
    if (count == 0 || delimiter.empty()) return {};
    if (count > 0) {
        size_t at = 0;
        for (;;) {
            const size_t found = find_substring(text, delimiter, at);
            if (found == std::string_view::npos) return text;
            if (--count == 0) return text.substr(0, found);
            at = found + delimiter.size();
        }
    }
    size_t end = text.size();
    for (;;) {
        if (end < delimiter.size()) return text;
        const size_t found = text.rfind(delimiter, end - delimiter.size());
        if (found == std::string_view::npos) return text;
        if (++count == 0) return text.substr(found + delimiter.size());
        end = found;
    }
}

Overload resolve_substring_index(ArgumentList arguments, const FunctionContext&) {
    require_string(arguments, 0, "substringIndexUTF8");
    const std::string delimiter = require_text(arguments[1], "substringIndexUTF8", 1);
    require_integer(arguments, 2, "substringIndexUTF8");
    if (utf8_count(delimiter) > 1)
        fail(ErrorCode::BAD_ARGUMENTS, "The delimiter of function substringIndexUTF8 must be one character, not '{}'",
             delimiter);
    return {make_type(TypeId::String), [=](const KernelArguments& call) {
                const VectorPtr counts = as_int64(call[2]);
                const Reader<int64_t> count(counts);
                return cut_text(call[0], call.rows,
                                [&](std::string_view s, size_t i) { return substring_index(s, delimiter, count[i]); });
            }};
}

/// From `offset` on, `length` units (as many as the replacement has, where none is given) give way to the replacement.
void append_overlay(std::string& out, std::string_view text, std::string_view part, int64_t offset,
                    const int64_t* length, bool utf8) {
    const auto size = static_cast<int64_t>(utf8 ? utf8_count(text) : text.size());
    int64_t begin = offset > 0    ? std::min(offset - 1, size)
                    : offset == 0 ? size
                                  : std::max<int64_t>(0, offset < -size ? 0 : size + offset);
    const auto own = static_cast<int64_t>(utf8 ? utf8_count(part) : part.size());
    const int64_t removed = length && *length >= 0 ? *length : own;
    const int64_t end = removed > size - begin ? size : begin + removed;
    const auto bytes = [&](int64_t units) {
        return utf8 ? utf8_offset(text, static_cast<size_t>(units)) : static_cast<size_t>(units);
    };
    out.append(text.substr(0, bytes(begin))).append(part).append(text.substr(bytes(end)));
}

void declare_overlay(FunctionRegistry& registry, FunctionName name, bool utf8) {
    const char* function = name.name;
    declare(registry, name, 3, 4, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, function);
        require_string(arguments, 1, function);
        for (size_t i = 2; i < arguments.size(); ++i) require_integer(arguments, i, function);
        return Overload{
            make_type(TypeId::String), [=](const KernelArguments& call) {
                const VectorPtr offsets = as_int64(call[2]), lengths = call.size() > 3 ? as_int64(call[3]) : offsets;
                const Reader<StringRef> part(call[1]);
                const Reader<int64_t> offset(offsets), length(lengths);
                size_t i = 0;
                return map_text(call[0], call.rows, [&](std::string_view s, std::string& out) {
                    append_overlay(out, s, part[i].view(), offset[i], call.size() > 3 ? &length[i] : nullptr, utf8);
                    ++i;
                });
            }};
    });
}

/// Each character of `from` becomes that of `to` at its place; those without one go away.
void append_translated_utf8(std::string& out, std::string_view text, std::string_view from, std::string_view to) {
    if (utf8_count(to) > utf8_count(from))
        fail(ErrorCode::BAD_ARGUMENTS, "The third argument of function translateUTF8 is longer than the second");
    size_t step = 1;
    for (size_t at = 0; at < text.size(); at += step) {
        step = utf8_step(text, at);
        const std::string_view character = text.substr(at, step);
        size_t k = 0, place = 0;
        for (; place < from.size(); place += utf8_step(from, place), ++k)
            if (from.substr(place, utf8_step(from, place)) == character) break;
        if (place >= from.size()) {
            out.append(character);
        } else if (const size_t other = utf8_offset(to, k); other < to.size()) {
            out.append(to.substr(other, utf8_step(to, other)));
        }
    }
}

Overload resolve_translate(ArgumentList arguments, const FunctionContext&) {
    for (size_t i = 0; i < 3; ++i) require_string(arguments, i, "translateUTF8");
    return {make_type(TypeId::String), [](const KernelArguments& call) {
                const Reader<StringRef> from(call[1]), to(call[2]);
                size_t i = 0;
                return map_text(call[0], call.rows, [&](std::string_view s, std::string& out) {
                    append_translated_utf8(out, s, from[i].view(), to[i].view());
                    ++i;
                });
            }};
}

}  // namespace

void register_character_functions(FunctionRegistry& registry) {
    declare_overlay(registry, {"overlay", {}, true}, false);
    declare_overlay(registry, {"overlayUTF8"}, true);
    declare(registry, {"substringIndexUTF8"}, 3, 3, resolve_substring_index);
    declare(registry, {"translateUTF8"}, 3, 3, resolve_translate);
}

}  // namespace firn::functions
