// sumMap, minMap, maxMap: a value for each key of maps, or of pairs of arrays. Keys come out in order.
#include <map>

#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/types/number.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

enum class Fold : uint8_t { Sum, Min, Max };

/// Bytes whose order is that of the keys.
void encode_key(const Vector& flat, size_t row, std::string& out) {
    out.clear();
    if (flat.type()->physical() == Physical::Str) {
        out = flat.values<StringRef>()[row].view();
        return;
    }
    const size_t width = flat.type()->value_size();
    const char* bytes = flat.values_buffer()->data() + row * width;
    for (size_t i = 0; i < width; ++i) out.push_back(bytes[width - 1 - i]);
    const bool is_signed = flat.type()->physical() >= Physical::Int8 && flat.type()->physical() <= Physical::Int256;
    if (is_signed) out[0] = static_cast<char>(out[0] ^ 0x80);
    if (is_float(flat.type()->id())) {
        const bool negative = out[0] & 0x80;
        for (char& c : out) c = static_cast<char>(negative ? ~c : c);
        if (!negative) out[0] = static_cast<char>(out[0] ^ 0x80);
    }
}

void decode_key(std::string bytes, VectorBuilder& builder) {
    const DataType& type = *builder.type();
    if (type.physical() == Physical::Str) return builder.append_string(bytes);
    if (type.physical() >= Physical::Int8 && type.physical() <= Physical::Int256)
        bytes[0] = static_cast<char>(bytes[0] ^ 0x80);
    if (is_float(type.id())) {
        const bool negative = !(bytes[0] & 0x80);
        for (char& c : bytes) c = static_cast<char>(negative ? ~c : c);
        if (!negative) bytes[0] = static_cast<char>(bytes[0] ^ 0x80);
    }
    dispatch_fixed(type.physical(), [&]<typename T>() {
        T value;
        char raw[sizeof(T)];
        for (size_t i = 0; i < sizeof(T); ++i) raw[i] = bytes[sizeof(T) - 1 - i];
        std::memcpy(&value, raw, sizeof(T));
        builder.append(value);
    });
}

template <typename T>
struct Total {
    T value = T();
    bool seen = false;
};
template <typename T>
using Totals = std::map<std::string, Total<T>>;

template <typename T>
void fold_into(Total<T>& total, const T& value, Fold fold) {
    if (!total.seen)
        total.value = value;
    else if (fold == Fold::Sum)
        total.value = static_cast<T>(total.value + value);
    else if (fold == Fold::Min ? value < total.value : total.value < value)
        total.value = value;
    total.seen = true;
}

struct MapShape {
    Fold fold = Fold::Sum;
    bool is_map = false;          // else two arrays
    bool nullable = false;        // values may be NULL
    TypePtr key, value, working;  // value: as given, without Nullable; working: what is added up
    TypePtr result;
};

template <typename T>
class MapAggregate final : public StateAggregate<MapAggregate<T>, Totals<T>> {
    using Base = StateAggregate<MapAggregate<T>, Totals<T>>;

public:
    MapAggregate(std::string name, MapShape shape) : Base(std::move(name), shape.result), shape_(std::move(shape)) {
        const TypePtr value = shape_.nullable ? make_nullable(shape_.value) : shape_.value;
        cast_ = make_cast(value, shape_.nullable ? make_nullable(shape_.working) : shape_.working, {});
        back_ = make_cast(shape_.working, shape_.fold == Fold::Sum ? shape_.working : shape_.value, {});
    }

    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena&) const override {
        each_pair(arguments, rows, [&](size_t row) -> Totals<T>& { return Base::as_state(states[row] + offset); });
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena&) const override {
        each_pair(arguments, rows, [&](size_t) -> Totals<T>& { return Base::as_state(state); });
    }
    /// Rows are added by whole batches, above: the arrays' elements are converted once.
    void add_row(Totals<T>&, const std::vector<Decoded>&, size_t, Arena&) const {}
    void merge_state(Totals<T>& state, const Totals<T>& other, Arena&) const {
        for (const auto& [key, total] : other) {
            auto& mine = state[key];
            if (total.seen) fold_into(mine, total.value, shape_.fold);
        }
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        VectorBuilder keys(shape_.key), values(shape_.working);
        std::vector<uint8_t> nulls;
        auto offsets = Buffer::allocate((rows + 1) * sizeof(int64_t));
        offsets->mutable_as<int64_t>()[0] = 0;
        for (size_t i = 0; i < rows; ++i) {
            for (const auto& [key, total] : Base::as_state(states[i] + offset)) {
                if (!shape_.is_map && shape_.fold == Fold::Sum && total.value == T())
                    continue;  // as ClickHouse: zeros are left out
                decode_key(key, keys);
                values.append(total.value);
                nulls.push_back(!total.seen);
            }
            offsets->mutable_as<int64_t>()[i + 1] = static_cast<int64_t>(nulls.size());
        }
        VectorPtr value_column = flatten(back_(values.finish()));
        if (shape_.nullable) {
            auto flags = Buffer::allocate(nulls.size());
            if (!nulls.empty()) std::memcpy(flags->mutable_data(), nulls.data(), nulls.size());
            value_column = value_column->with_nulls(make_nullable(value_column->type()), std::move(flags));
        }
        const TypePtr& result = Base::result_;
        if (shape_.is_map) {
            VectorPtr entries = Vector::tuple(make_tuple_type({result->child(0), result->child(1)}), nulls.size(),
                                              {keys.finish(), value_column});
            return Vector::array(result, rows, std::move(offsets), std::move(entries));
        }
        const BufferPtr shared = std::move(offsets);
        return Vector::tuple(result, rows,
                             {Vector::array(result->child(0), rows, shared, keys.finish()),
                              Vector::array(result->child(1), rows, shared, value_column)});
    }
    void serialize(const char* place, std::string& out) const override {
        const auto& state = Base::as_state(place);
        write_raw<uint64_t>(out, state.size());
        for (const auto& [key, total] : state) {
            write_bytes(out, key);
            write_raw(out, total.value);
            write_raw<uint8_t>(out, total.seen);
        }
    }
    void deserialize(char* place, std::string_view& in, Arena&) const override {
        auto& state = Base::as_state(place);
        for (auto left = read_raw<uint64_t>(in); left > 0; --left) {
            const std::string key(read_bytes(in));
            const T value = read_raw<T>(in);
            state[key] = {value, read_raw<uint8_t>(in) != 0};
        }
    }

private:
    template <typename StateOf>
    void each_pair(std::span<const VectorPtr> arguments, size_t rows, StateOf state_of) const {
        const Decoded outer(arguments[0]);
        const Vector& array = outer.flat();
        const VectorPtr entries = flatten(array.child());
        const Decoded second(shape_.is_map ? arguments[0] : arguments[1]);
        const VectorPtr keys = flatten(shape_.is_map ? entries->child(0) : entries);
        const VectorPtr values = flatten(cast_(shape_.is_map ? entries->child(1) : second.flat().child()));
        std::string key;
        for (size_t i = 0; i < rows; ++i) {
            const int64_t begin = array.offsets()[outer[i]], end = array.offsets()[outer[i] + 1];
            const int64_t shift = shape_.is_map ? 0 : second.flat().offsets()[second[i]] - begin;
            if (!shape_.is_map &&
                second.flat().offsets()[second[i] + 1] - second.flat().offsets()[second[i]] != end - begin)
                fail(ErrorCode::BAD_ARGUMENTS, "Sizes of keys and values arrays of {} do not match", Base::name_);
            auto& state = state_of(i);
            for (int64_t j = begin; j < end; ++j) {
                encode_key(*keys, static_cast<size_t>(j), key);
                auto& total = state[key];
                const auto at = static_cast<size_t>(j + shift);
                if (!values->nulls() || !values->nulls()[at])
                    fold_into(total, values->template values<T>()[at], shape_.fold);
            }
        }
    }
    MapShape shape_;
    std::function<VectorPtr(const VectorPtr&)> cast_, back_;
};

TypePtr working_type(const TypePtr& value, std::string_view name) {
    const TypeId id = value->id();
    if (id == TypeId::Decimal && value->precision() <= 38) return make_decimal(38, value->scale());
    if (is_float(id)) return make_type(TypeId::Float64);
    if (is_signed_integer(id) && integer_bits(id) <= 64) return make_type(TypeId::Int64);
    if ((is_unsigned_integer(id) && integer_bits(id) <= 64) || id == TypeId::Bool) return make_type(TypeId::UInt64);
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Values of type {} cannot be added up by aggregate function {}",
         value->name(), name);
}

AggregatePtr make_map_aggregate(const std::string& name, Fold fold, std::span<const TypePtr> arguments) {
    MapShape shape;
    shape.fold = fold;
    TypePtr value;
    if (arguments.size() == 1 && arguments[0]->id() == TypeId::Map) {
        shape.is_map = true;
        shape.key = strip_low_cardinality(arguments[0]->child(0));
        value = strip_low_cardinality(arguments[0]->child(1));
    } else if (arguments.size() == 2 && arguments[0]->id() == TypeId::Array && arguments[1]->id() == TypeId::Array) {
        shape.key = strip_low_cardinality(arguments[0]->child());
        value = strip_low_cardinality(arguments[1]->child());
    } else {
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
             "Aggregate function {} takes a map, or an array of keys and an array of values", name);
    }
    if (accepts_null(*shape.key) || (shape.key->physical() != Physical::Str && shape.key->value_size() == 0))
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Keys of type {} are not supported by aggregate function {}",
             shape.key->name(), name);
    shape.nullable = accepts_null(*value);
    shape.value = strip_nullable(value);
    shape.working = working_type(shape.value, name);
    TypePtr out = fold == Fold::Sum ? shape.working : shape.value;
    if (shape.nullable) out = make_nullable(out);
    shape.result = shape.is_map ? make_map(shape.key, out) : make_tuple_type({make_array(shape.key), make_array(out)});
    switch (shape.working->physical()) {
        case Physical::Int64:
            return std::make_shared<MapAggregate<int64_t>>(name, shape);
        case Physical::UInt64:
            return std::make_shared<MapAggregate<uint64_t>>(name, shape);
        case Physical::Float64:
            return std::make_shared<MapAggregate<double>>(name, shape);
        default:
            return std::make_shared<MapAggregate<Int128>>(name, shape);
    }
}

}  // namespace

void register_map_aggregates(AggregateRegistry& registry) {
    const std::pair<const char*, Fold> functions[] = {
        {"sumMap", Fold::Sum}, {"minMap", Fold::Min}, {"maxMap", Fold::Max}};
    for (const auto& [name, fold] : functions) {
        AggregateDefinition definition;
        definition.name = name;
        if (fold == Fold::Sum) definition.aliases = {"sumMappedArrays"};
        definition.null_when_empty = false;
        definition.resolve = [name = std::string(name), fold = fold](std::span<const TypePtr> arguments,
                                                                     std::span<const VectorPtr>) {
            return make_map_aggregate(name, fold, arguments);
        };
        registry.add(std::move(definition));
    }
}

}  // namespace firn::functions
