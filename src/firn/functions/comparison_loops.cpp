#include "firn/functions/comparison.h"
#include "firn/functions/elementwise.h"

namespace firn::functions {

namespace {

struct Equals {
    template <typename A, typename B>
    uint8_t operator()(const A& a, const B& b) const {
        return a == b;
    }
};
struct NotEquals {
    template <typename A, typename B>
    uint8_t operator()(const A& a, const B& b) const {
        return !(a == b);
    }
};
struct Less {
    template <typename A, typename B>
    uint8_t operator()(const A& a, const B& b) const {
        return a < b;
    }
};
struct LessOrEqual {
    template <typename A, typename B>
    uint8_t operator()(const A& a, const B& b) const {
        return a <= b;
    }
};
struct Greater {
    template <typename A, typename B>
    uint8_t operator()(const A& a, const B& b) const {
        return a > b;
    }
};
struct GreaterOrEqual {
    template <typename A, typename B>
    uint8_t operator()(const A& a, const B& b) const {
        return a >= b;
    }
};

template <typename F>
CompareLoop with_op(Compare op, F&& f) {
    switch (op) {
        case Compare::Equal:
            return f.template operator()<Equals>();
        case Compare::NotEqual:
            return f.template operator()<NotEquals>();
        case Compare::Less:
            return f.template operator()<Less>();
        case Compare::LessOrEqual:
            return f.template operator()<LessOrEqual>();
        case Compare::Greater:
            return f.template operator()<Greater>();
        default:
            return f.template operator()<GreaterOrEqual>();
    }
}

template <typename T, typename Op>
VectorPtr loop(const VectorPtr& a, const VectorPtr& b, size_t rows) {
    return map_binary<T, T, uint8_t>(a, b, rows, make_type(TypeId::UInt8), Op());
}

/// Greater is Less the other way round: fewer loops to compile.
template <typename T, typename Op>
VectorPtr swapped(const VectorPtr& a, const VectorPtr& b, size_t rows) {
    return loop<T, Op>(b, a, rows);
}

StringRef without_padding(StringRef text) {
    while (text.size && text.data[text.size - 1] == '\0') --text.size;
    return StringRef(text.data, text.size);
}

template <typename Op>
VectorPtr padded(const VectorPtr& a, const VectorPtr& b, size_t rows) {
    return map_binary<StringRef, StringRef, uint8_t>(
        a, b, rows, make_type(TypeId::UInt8),
        [](const StringRef& x, const StringRef& y) { return Op()(without_padding(x), without_padding(y)); });
}

/// The machine's 80-bit floats hold every 64-bit integer and every double.
template <typename T, typename Op>
VectorPtr against_float(const VectorPtr& a, const VectorPtr& b, size_t rows) {
    return map_binary<T, double, uint8_t>(a, b, rows, make_type(TypeId::UInt8), [](T x, double y) {
        return Op()(static_cast<long double>(x), static_cast<long double>(y));
    });
}

template <typename T>
CompareLoop typed(Compare op) {
    switch (op) {
        case Compare::Equal:
            return &loop<T, Equals>;
        case Compare::NotEqual:
            return &loop<T, NotEquals>;
        case Compare::Less:
            return &loop<T, Less>;
        case Compare::LessOrEqual:
            return &loop<T, LessOrEqual>;
        case Compare::Greater:
            return &swapped<T, Less>;
        default:
            return &swapped<T, LessOrEqual>;
    }
}

}  // namespace

CompareLoop compare_loop(Physical physical, Compare op) {
    if (physical == Physical::Str) return typed<StringRef>(op);
    CompareLoop found = nullptr;
    dispatch_fixed(physical, [&]<typename T>() { found = typed<T>(op); });
    return found;
}

CompareLoop compare_padded_loop(Compare op) {
    return with_op(op, []<typename Op>() -> CompareLoop { return &padded<Op>; });
}

CompareLoop compare_integer_float_loop(Physical physical, Compare op) {
    if (physical == Physical::UInt64)
        return with_op(op, []<typename Op>() -> CompareLoop { return &against_float<uint64_t, Op>; });
    return with_op(op, []<typename Op>() -> CompareLoop { return &against_float<int64_t, Op>; });
}

}  // namespace firn::functions
