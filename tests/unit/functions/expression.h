// Expressions as tests write them, "plus(1, toInt8(-2))": calls, literals, [arrays] and (tuples), bound and run through the
// registry. Literals have ClickHouse's types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/functions/function.h"

namespace firn::functions::test {

struct Value {
    TypePtr type;
    VectorPtr constant;  // one row
};

/// How the first argument of the outermost call is given to it.
enum class Form { Constant, Flat, Dictionary, RunLength };

/// The value, or the Error that binding or running raises. With a form other than Constant, all arguments of the outermost call
/// whose bit is set in `columns` are columns of several equal rows, in that encoding; all rows of the result must be equal.
Value evaluate(std::string_view expression, Form form = Form::Constant, unsigned columns = 1);
/// Arguments of the outermost call.
size_t argument_count(std::string_view expression);
/// Type and value, as "UInt8\t1", or "Code: 43".
std::string describe(std::string_view expression, Form form = Form::Constant, unsigned columns = 1);

}  // namespace firn::functions::test
