// The families of functions. Each is registered by one call from FunctionRegistry::instance().
#pragma once

#include "firn/functions/function.h"

// clang-format off
#define FIRN_FUNCTION_FAMILIES(X) \
    X(comparison) \
    X(logical) \
    X(arithmetic) \
    X(null) \
    X(conditional) X(set) X(pattern) X(conversion) X(date_part) X(date_start) X(date_move) X(structure) \
        X(introspection) X(string) X(string_piece) X(encoding) X(rounding) X(float) X(bit) X(array) X(higher_order) \
            X(unix_time) X(date_format) X(iceberg) X(hash) X(transform) X(reinterpret) X(letter_case) X(text_measure) \
                X(text_search) X(regexp) X(character) X(url) X(bit_list) X(best_effort) X(round_step) \
    X(json_extract) X(json_path) X(json_simple) X(json_text) X(array_move) X(tuple) X(vector) X(map_lambda) X(map_merge) \
    X(date_pattern) X(date_change) X(base_code) X(address) X(number_misc) X(readable) X(aggregate_state)
// clang-format on

namespace firn::functions {

#define FIRN_DECLARE_FAMILY(name) void register_##name##_functions(FunctionRegistry& registry);
FIRN_FUNCTION_FAMILIES(FIRN_DECLARE_FAMILY)
#undef FIRN_DECLARE_FAMILY

}  // namespace firn::functions
