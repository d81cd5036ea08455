// Loops over strings: what the string functions' kernels are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"

namespace firn::functions {

/// Bytes of the UTF-8 character that begins with this byte; 1 for one that begins none.
inline size_t utf8_length(char first) {
    const auto byte = static_cast<uint8_t>(first);
    return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF8 ? 4 : 1;
}
/// Bytes of the character at `at`, cut at the text's end.
inline size_t utf8_step(std::string_view text, size_t at) {
    const size_t length = utf8_length(text[at]);
    return length < text.size() - at ? length : text.size() - at;
}
/// Characters, counted as bytes that continue none.
inline size_t utf8_count(std::string_view text) {
    size_t count = 0;
    for (const char c : text) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
    return count;
}
/// Byte offset of character n (0 = first); the text's size where it has fewer.
inline size_t utf8_offset(std::string_view text, size_t n) {
    size_t at = 0;
    while (at < text.size())
        if ((static_cast<uint8_t>(text[at]) & 0xC0) != 0x80 && n-- == 0)
            break;
        else
            ++at;
    return at;
}

/// result[i] = what f(text[i], out) appends to out.
template <typename F>
VectorPtr map_text(const VectorPtr& texts, size_t rows, F f, TypePtr type = make_type(TypeId::String)) {
    StringOutput out(rows);
    const Reader<StringRef> text(texts);
    std::string scratch;
    for (size_t i = 0; i < rows; ++i) {
        scratch.clear();
        f(text[i].view(), scratch);
        out.set(i, scratch);
    }
    return out.finish(std::move(type));
}

/// result[i] = the part of text[i] that f gives, which is not copied.
template <typename F>
VectorPtr cut_text(const VectorPtr& texts, size_t rows, F f) {
    StringOutput out(rows);
    const Reader<StringRef> text(texts);
    out.keep(texts);
    for (size_t i = 0; i < rows; ++i) out.set_view(i, f(text[i].view(), i));
    return out.finish(make_type(TypeId::String));
}

/// String -> String, f appends to out.
template <typename F>
void declare_text(FunctionRegistry& registry, FunctionName name, F f) {
    const char* text = name.name;
    declare(registry, name, 1, 1, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, text);
        return Overload{make_type(TypeId::String),
                        [=](const KernelArguments& call) { return map_text(call[0], call.rows, f); }};
    });
}

/// String -> a part of it, which f(string_view) gives.
template <typename F>
void declare_part(FunctionRegistry& registry, FunctionName name, F f) {
    const char* text = name.name;
    declare(registry, name, 1, 1, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, text);
        return Overload{make_type(TypeId::String), [=](const KernelArguments& call) {
                            return cut_text(call[0], call.rows, [&](std::string_view s, size_t) { return f(s); });
                        }};
    });
}

/// String -> a number of C++ type R that f(string_view) gives.
template <typename R, typename F>
void declare_measure(FunctionRegistry& registry, FunctionName name, TypeId result, F f) {
    const char* text = name.name;
    declare(registry, name, 1, 1, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, text);
        const TypePtr type = make_type(result);
        return Overload{type, [=](const KernelArguments& call) {
                            return map_unary<StringRef, R>(call[0], call.rows, type, [&](const StringRef& s) {
                                return static_cast<R>(f(s.view()));
                            });
                        }};
    });
}

/// Two strings -> a number of C++ type R that f(string_view, string_view) gives.
template <typename R, typename F>
void declare_pair_measure(FunctionRegistry& registry, FunctionName name, TypeId result, F f) {
    const char* text = name.name;
    declare(registry, name, 2, 2, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, text);
        require_string(arguments, 1, text);
        const TypePtr type = make_type(result);
        return Overload{type, [=](const KernelArguments& call) {
                            return map_binary<StringRef, StringRef, R>(call[0], call[1], call.rows, type,
                                                                       [&](const StringRef& a, const StringRef& b) {
                                                                           return static_cast<R>(f(a.view(), b.view()));
                                                                       });
                        }};
    });
}

}  // namespace firn::functions
