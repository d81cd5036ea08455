// icebergTruncate, icebergBucket, icebergHash: Iceberg's partition transforms as functions.
#include <algorithm>
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/functions/strings/row_calls.h"
#include "firn/iceberg/transform.h"
#include "firn/iceberg/values.h"

namespace firn::functions {

namespace {

using iceberg::Datum;
using iceberg::TypeKind;

bool is_whole(const TypePtr& type) {
    return (is_integer(type->id()) && integer_bits(type->id()) <= 64) || is_date_or_time(type->id()) ||
           type->id() == TypeId::Bool;
}

/// The value that Iceberg hashes for one of ours; all integers, dates and times as 64 bits.
Datum datum_at(const Vector& flat, size_t row, const DataType& type, std::string& scratch) {
    if (type.physical() == Physical::Str) return Datum::bytes(TypeKind::String, flat.values<StringRef>()[row].view());
    if (type.id() == TypeId::Decimal) {
        Int128 value = 0;
        if (type.physical() == Physical::Int128)
            value = flat.values<Int128>()[row];
        else
            value = int_at(flat, row);
        return Datum::decimal(value, type.scale());
    }
    if (type.id() == TypeId::UUID) {
        scratch.clear();
        const UInt128 value = flat.values<UInt128>()[row];
        for (int shift = 120; shift >= 0; shift -= 8) scratch.push_back(static_cast<char>(value >> shift));
        return Datum::bytes(TypeKind::Uuid, scratch);
    }
    if (is_float(type.id())) {
        const double value =
            type.id() == TypeId::Float64 ? flat.values<double>()[row] : static_cast<double>(flat.values<float>()[row]);
        int64_t bits = 0;
        std::memcpy(&bits, &value, sizeof(bits));
        return Datum::integral(TypeKind::Long, bits);
    }
    return Datum::integral(TypeKind::Long, int_at(flat, row));
}

bool can_hash(const TypePtr& type) {
    return is_whole(type) || type->physical() == Physical::Str || type->id() == TypeId::UUID || is_float(type->id()) ||
           (type->id() == TypeId::Decimal && type->precision() <= 38);
}

Overload resolve_hash(std::span<const Argument> arguments, size_t position, const char* name, int64_t buckets) {
    const TypePtr from = arguments[position].type;
    if (!can_hash(from)) fail_argument(name, *from, position);
    const TypePtr type = make_type(buckets ? TypeId::UInt32 : TypeId::Int32);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr flat = flatten(call[position]);
                Output<int32_t> out(call.rows);
                std::string scratch;
                for (size_t i = 0; i < call.rows; ++i) {
                    const int32_t hash = iceberg::bucket_hash(datum_at(*flat, i, *from, scratch));
                    out[i] = buckets ? static_cast<int32_t>((static_cast<uint32_t>(hash) & 0x7FFFFFFFU) %
                                                            static_cast<uint64_t>(buckets))
                                     : hash;
                }
                return out.finish(type);
            }};
}

/// A multiple of the width at or below the value.
Overload resolve_truncate(std::span<const Argument> arguments, const FunctionContext&) {
    const TypePtr from = arguments[1].type;
    const int64_t width = require_int(arguments[0], "icebergTruncate", 0);
    if (width <= 0) fail(ErrorCode::BAD_ARGUMENTS, "The width of function icebergTruncate must be positive");
    if (from->physical() == Physical::Str) {
        const TypePtr type = make_type(TypeId::String);
        return {type, [=](const KernelArguments& call) {
                    const Reader<StringRef> texts(call[1]);
                    StringOutput out(call.rows);
                    out.keep(call[1]);
                    for (size_t i = 0; i < call.rows; ++i) {
                        const std::string_view text = texts[i].view();
                        out.set_view(i, text.substr(0, utf8_prefix(text, static_cast<size_t>(width))));
                    }
                    return out.finish(type);
                }};
    }
    const bool whole = is_integer(from->id()) && integer_bits(from->id()) <= 64;
    if (!whole && from->id() != TypeId::Decimal) fail_argument("icebergTruncate", *from, 1);
    // As wide as a difference of the two.
    TypePtr type = from;
    if (whole)
        type = integer_type(std::min(64, std::max(integer_bits(from->id()), integer_bits(arguments[0].type->id())) * 2),
                            true);
    const TypePtr wide = make_type(TypeId::Int128);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr values = convert_numbers(wide, flatten(call[1]));
                const VectorPtr truncated =
                    map_unary<Int128, Int128>(values, call.rows, wide, [width](const Int128& value) {
                        const Int128 rest = value % width;
                        return value - (rest < 0 ? rest + width : rest);
                    });
                return convert_numbers(type, truncated)->with_type(type);
            }};
}

}  // namespace

void register_iceberg_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, size_t count, auto resolve) {
        Definition definition;
        definition.name = name;
        definition.min_arguments = definition.max_arguments = count;
        definition.resolve = resolve;
        registry.add(std::move(definition));
    };
    add("icebergHash", 1,
        [](std::span<const Argument> a, const FunctionContext&) { return resolve_hash(a, 0, "icebergHash", 0); });
    add("icebergBucket", 2, [](std::span<const Argument> a, const FunctionContext&) {
        const int64_t buckets = require_int(a[0], "icebergBucket", 0);
        if (buckets <= 0)
            fail(ErrorCode::BAD_ARGUMENTS, "The number of buckets of function icebergBucket must be positive");
        return resolve_hash(a, 1, "icebergBucket", buckets);
    });
    add("icebergTruncate", 2, resolve_truncate);
}

}  // namespace firn::functions
