// Values as JSON text.
#pragma once

#include <string>
#include <string_view>

#include "firn/base/escape.h"
#include "firn/format/output.h"

namespace firn::format {

struct JsonOptions {
    TextOptions text;
    bool quote_64bit_integers = false;
    bool quote_64bit_floats = false;
    bool quote_denormals = false;  // nan and inf as strings instead of null
    bool quote_decimals = false;
    bool named_tuples_as_objects = true;
    JsonSlash slashes = JsonSlash::Escaped;
    bool all_as_strings = false;  // JSONStrings: every value in quotes

    static JsonOptions from(const OutputContext& context);
};

/// `indent` >= 0: nested tuples, maps and arrays of them on lines of their own, one tab deeper each, as FORMAT JSON does;
/// -1: all on one line.
void append_json(std::string& out, const Vector& vector, size_t row, const JsonOptions& options, int indent = -1);

}  // namespace firn::format
