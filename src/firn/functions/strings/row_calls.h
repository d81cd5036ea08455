// Functions of strings and integers that are computed a row at a time: how one is declared by a plain C++ function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/error.h"
#include "firn/functions/function.h"

namespace firn::functions {

/// One row's arguments: texts where the signature says 's', integers where it says 'i'.
struct Row {
    std::string_view text[5];
    int64_t number[5] = {};
    size_t count = 0;  // how many were given
};

/// name, "ss|i" = two strings and perhaps an integer, …
struct RowSignature {
    std::string name;
    std::string kinds;
    std::vector<std::string> aliases = {};
    bool any_case = false;
};

/// Result String: the function appends the row's text to `out` (empty before).
void add_text_call(FunctionRegistry& registry, RowSignature signature, void (*function)(const Row&, std::string& out));
/// Result a view of one of the arguments' bytes: nothing is copied.
void add_view_call(FunctionRegistry& registry, RowSignature signature, std::string_view (*function)(const Row&));
/// Result an integer of that type.
void add_number_call(FunctionRegistry& registry, RowSignature signature, TypeId result,
                     uint64_t (*function)(const Row&));
/// Result Array(String): the function appends the row's pieces, views of the arguments' bytes.
void add_pieces_call(FunctionRegistry& registry, RowSignature signature,
                     void (*function)(const Row&, std::vector<std::string_view>& out));

/// Characters of UTF-8: bytes that do not continue another.
size_t utf8_length(std::string_view text);
/// Bytes of the first n characters.
size_t utf8_prefix(std::string_view text, size_t characters);

}  // namespace firn::functions
