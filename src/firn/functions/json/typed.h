// JSON elements as values of SQL types, as JSONExtract gives them.
#pragma once

#include "firn/functions/json/document.h"
#include "firn/types/time_zone.h"
#include "firn/vector/builder.h"

namespace firn::functions::json {

struct ExtractRule {
    const TimeZone* zone = &TimeZone::utc();  // of DateTime types that name none
    bool bool_as_number = true;               // true is 1 where a number is wanted
};

/// ILLEGAL_TYPE_OF_ARGUMENT for a type that cannot be extracted.
void check_extractable(std::string_view function, const DataType& type);

/// Appends the element as a value of the builder's type. False, with nothing appended, where it is no such value. Inside
/// arrays, tuples and maps what is no such value becomes a default. DECIMAL_OVERFLOW for a number too large for a Decimal.
bool append_typed(const Element& element, VectorBuilder& out, const ExtractRule& rule);

}  // namespace firn::functions::json
