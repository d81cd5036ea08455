// Conversion of values from one type to another: what CAST, the toX functions and implicit conversions are made of.
#pragma once

#include <functional>
#include <string>

#include "firn/base/error.h"
#include "firn/functions/function.h"
#include "firn/types/time_zone.h"

namespace firn::functions {

enum class CastErrors : uint8_t { Throw, Null };

struct CastRule {
    CastErrors errors = CastErrors::Throw;
    bool accurate = false;     // a number that the type does not hold exactly is an error
    bool strict_text = false;  // so is one in text that is out of range (toInt8OrNull('300'))
    bool best_effort = false;  // unused by types that have one form of text only
};

/// Values converted, and which of them could not be (one byte a row; null where all could, or errors are thrown).
struct Converted {
    VectorPtr vector;  // flat, of the target type, without NULL at the top
    BufferPtr failed;
};

/// Converts a flat vector. Rows with skip[i] != 0 (skip may be null) hold NULL: they give anything and raise nothing.
using Converter = std::function<Converted(const VectorPtr& flat, const uint8_t* skip)>;

/// from and to without Nullable and LowCardinality at the top. CANNOT_CONVERT_TYPE, TYPE_MISMATCH,
/// ILLEGAL_TYPE_OF_ARGUMENT, NOT_IMPLEMENTED where there is no such conversion.
Converter make_converter(const TypePtr& from, const TypePtr& to, const FunctionContext& context, CastRule rule = {});

/// From any type to any, NULL and LowCardinality included, in any encoding. from_text_null: text that is no value becomes
/// NULL where `to` is Nullable, as CAST does.
std::function<VectorPtr(const VectorPtr&)> make_cast(const TypePtr& from, const TypePtr& to,
                                                     const FunctionContext& context, CastRule rule = {});

// Parts, each in a file; an empty function where the pair is not theirs.
Converter make_number_converter(const TypePtr& from, const TypePtr& to, CastRule rule);
Converter make_decimal_converter(const TypePtr& from, const TypePtr& to, CastRule rule);
Converter make_time_converter(const TypePtr& from, const TypePtr& to, const FunctionContext& context, CastRule rule);
Converter make_text_converter(const TypePtr& from, const TypePtr& to, const FunctionContext& context, CastRule rule);
Converter make_nested_converter(const TypePtr& from, const TypePtr& to, const FunctionContext& context, CastRule rule);

/// A flat vector of numbers as another number type, wrapping around; any non-finite float gives something.
VectorPtr convert_numbers(const TypePtr& to, const VectorPtr& flat);
/// The same, and an error of `code` for values that the type does not hold exactly.
Converted convert_numbers_checked(const TypePtr& to, const VectorPtr& flat, const uint8_t* skip, CastErrors errors,
                                  ErrorCode code);

/// Where rows that cannot be converted go: an exception or a flag.
class Failures {
public:
    Failures(CastErrors errors, size_t rows, const uint8_t* skip) : errors_(errors), rows_(rows), skip_(skip) {}
    template <typename... Args>
    void report(size_t row, ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
        if (skip_ && skip_[row]) return;
        if (errors_ == CastErrors::Throw) fail(code, format, std::forward<Args>(args)...);
        mark(row);
    }
    BufferPtr flags() const { return flags_; }

private:
    void mark(size_t row);
    CastErrors errors_;
    size_t rows_;
    const uint8_t* skip_;
    MutableBufferPtr flags_;
};

}  // namespace firn::functions
