// min, max, any, anyLast, argMin, argMax.
#include <array>
#include <cmath>

#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/functions/grouped_rows.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {
namespace {

enum class Pick : uint8_t { Min, Max, First, Last };

/// Whether `value` takes the place of `kept`. NaN never wins against a number.
template <Pick pick, typename T>
bool replaces(const T& value, const T& kept) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(value)) return pick == Pick::Last;
        if (std::isnan(kept)) return pick != Pick::First;
    }
    if constexpr (pick == Pick::Min)
        return value < kept;
    else if constexpr (pick == Pick::Max)
        return kept < value;
    else
        return pick == Pick::Last;
}

template <typename T>
struct Kept {
    T value{};
    bool has = false;
};

template <Pick pick, typename T>
class FixedPick : public StateAggregate<FixedPick<pick, T>, Kept<T>> {
    using Base = StateAggregate<FixedPick<pick, T>, Kept<T>>;

public:
    using Base::Base;
    static void offer(Kept<T>& state, const T& value) {
        if (state.has && !replaces<pick>(value, state.value)) return;
        state.value = value;
        state.has = true;
    }
    void add_row(Kept<T>& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        offer(state, arguments[0].template value<T>(row));
    }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena&) const override {
        const Decoded decoded(arguments[0]);
        const T* values = decoded.values<T>();
        for (size_t i = 0; i < rows; ++i) offer(Base::as_state(states[i] + offset), values[decoded[i]]);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena&) const override {
        if (rows == 0) return;
        const Decoded decoded(arguments[0]);
        const T* values = decoded.values<T>();
        Kept<T>& kept = Base::as_state(state);
        if (decoded.is_constant()) return offer(kept, values[0]);
        if (pick == Pick::First) return offer(kept, values[decoded[0]]);
        if (pick == Pick::Last) return offer(kept, values[decoded[rows - 1]]);
        if constexpr (std::is_integral_v<T>) {
            if (decoded.is_identity()) {
                T best = values[0];
                for (size_t i = 1; i < rows; ++i)
                    best = pick == Pick::Min ? std::min(best, values[i]) : std::max(best, values[i]);
                return offer(kept, best);
            }
        }
        for (size_t i = 0; i < rows; ++i) offer(kept, values[decoded[i]]);
    }
    bool has_grouped_way() const override { return true; }
    bool add_grouped(std::span<const VectorPtr> arguments, GroupedRows& rows, size_t offset, Arena&) const override {
        const Decoded decoded(arguments[0]);
        const T* values = decoded.values<T>();
        std::array<Kept<T>, GroupedRows::kMostGroups + 1> kept;
        for (size_t i = 0; i < rows.rows(); ++i) offer(kept[rows.numbers()[i]], values[decoded[i]]);
        for (size_t g = 0; g < rows.groups(); ++g)
            if (kept[g].has) offer(Base::as_state(rows.state(g) + offset), kept[g].value);
        return true;
    }
    void merge_state(Kept<T>& state, const Kept<T>& other, Arena&) const {
        if (other.has) offer(state, other.value);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        return vector_of<T>(this->result_, rows, [&](size_t i) { return Base::as_state(states[i] + offset).value; });
    }
    void serialize(const char* state, std::string& out) const override {
        write_raw(out, Base::as_state(state).value);
        write_raw(out, Base::as_state(state).has);
    }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        Base::as_state(state).value = read_raw<T>(in);
        Base::as_state(state).has = read_raw<bool>(in);
    }
};

/// Strings live in the arena; the room of a replaced one is used again when the new one fits.
struct KeptString {
    StringRef value;
    uint32_t capacity = 0;
    bool has = false;
};

template <Pick pick>
class StringPick : public StateAggregate<StringPick<pick>, KeptString> {
    using Base = StateAggregate<StringPick<pick>, KeptString>;

public:
    using Base::Base;
    static void offer(KeptString& state, const StringRef& value, Arena& arena) {
        if (state.has && !replaces<pick>(value, state.value)) return;
        char* place = const_cast<char*>(state.value.data);
        if (value.size > state.capacity) {
            state.capacity = std::max<uint32_t>(value.size, 16);
            place = arena.allocate(state.capacity, 1);
        }
        if (value.size) std::memmove(place, value.data, value.size);
        state.value = StringRef(place, value.size);
        state.has = true;
    }
    void add_row(KeptString& state, const std::vector<Decoded>& arguments, size_t row, Arena& arena) const {
        offer(state, arguments[0].template value<StringRef>(row), arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        if (rows == 0) return;
        const Decoded decoded(arguments[0]);
        const StringRef* values = decoded.values<StringRef>();
        size_t best = decoded[pick == Pick::Last ? rows - 1 : 0];
        if (pick == Pick::Min || pick == Pick::Max)
            for (size_t i = 1; i < rows; ++i)
                if (replaces<pick>(values[decoded[i]], values[best])) best = decoded[i];
        offer(Base::as_state(state), values[best], arena);
    }
    bool has_grouped_way() const override { return true; }
    bool add_grouped(std::span<const VectorPtr> arguments, GroupedRows& rows, size_t offset,
                     Arena& arena) const override {
        const Decoded decoded(arguments[0]);
        const StringRef* values = decoded.values<StringRef>();
        std::array<const StringRef*, GroupedRows::kMostGroups + 1> kept{};
        for (size_t i = 0; i < rows.rows(); ++i) {
            const StringRef& value = values[decoded[i]];
            const StringRef*& best = kept[rows.numbers()[i]];
            if (!best || replaces<pick>(value, *best)) best = &value;
        }
        for (size_t g = 0; g < rows.groups(); ++g)
            if (kept[g]) offer(Base::as_state(rows.state(g) + offset), *kept[g], arena);
        return true;
    }
    void merge_state(KeptString& state, const KeptString& other, Arena& arena) const {
        if (other.has) offer(state, other.value, arena);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        VectorBuilder builder(this->result_);
        for (size_t i = 0; i < rows; ++i) {
            const KeptString& state = Base::as_state(states[i] + offset);
            if (state.has)
                builder.append_string(state.value.view());
            else
                builder.append_default();
        }
        return builder.finish();
    }
    void serialize(const char* state, std::string& out) const override {
        write_raw(out, Base::as_state(state).has);
        write_bytes(out, Base::as_state(state).value.view());
    }
    void deserialize(char* state, std::string_view& in, Arena& arena) const override {
        const bool has = read_raw<bool>(in);
        const std::string_view bytes = read_bytes(in);
        if (has) offer(Base::as_state(state), StringRef(bytes), arena);
    }
};

/// Values of any other type, each kept as a vector of one row.
class AnyPick : public StateAggregate<AnyPick, VectorPtr> {
public:
    AnyPick(std::string name, TypePtr result, Pick pick)
        : StateAggregate(std::move(name), std::move(result)), pick_(pick) {}
    void add_row(VectorPtr& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        offer(state, arguments[0].flat(), arguments[0][row]);
    }
    void merge_state(VectorPtr& state, const VectorPtr& other, Arena&) const {
        if (other) offer(state, *other, 0);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        VectorBuilder builder(result_);
        for (size_t i = 0; i < rows; ++i) {
            const VectorPtr& state = as_state(states[i] + offset);
            if (state)
                builder.append_from(*state, 0);
            else
                builder.append_default();
        }
        return builder.finish();
    }
    void serialize(const char* state, std::string& out) const override {
        write_raw(out, as_state(state) != nullptr);
        if (as_state(state)) write_value(out, *as_state(state), 0);
    }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        if (read_raw<bool>(in)) as_state(state) = read_value(result_, in);
    }

private:
    void offer(VectorPtr& state, const Vector& source, size_t row) const {
        if (state) {
            const int order = pick_ == Pick::Min || pick_ == Pick::Max ? compare_values(source, row, *state, 0) : 0;
            if (pick_ == Pick::First || (pick_ == Pick::Min && order >= 0) || (pick_ == Pick::Max && order <= 0))
                return;
        }
        VectorBuilder builder(result_);
        builder.append_from(source, row);
        state = builder.finish();
    }
    Pick pick_;
};

struct KeptPair {
    VectorPtr value, key;
};

/// argMin, argMax: the first argument where the second is least or greatest.
class ArgPick : public StateAggregate<ArgPick, KeptPair> {
public:
    ArgPick(std::string name, TypePtr result, TypePtr key, bool least)
        : StateAggregate(std::move(name), std::move(result)), key_(std::move(key)), least_(least) {}
    void add_row(KeptPair& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        offer(state, arguments[0].flat(), arguments[0][row], arguments[1].flat(), arguments[1][row]);
    }
    void merge_state(KeptPair& state, const KeptPair& other, Arena&) const {
        if (other.key) offer(state, *other.value, 0, *other.key, 0);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        VectorBuilder builder(result_);
        for (size_t i = 0; i < rows; ++i) {
            const KeptPair& state = as_state(states[i] + offset);
            if (state.key)
                builder.append_from(*state.value, 0);
            else
                builder.append_default();
        }
        return builder.finish();
    }
    void serialize(const char* state, std::string& out) const override {
        write_raw(out, as_state(state).key != nullptr);
        if (!as_state(state).key) return;
        write_value(out, *as_state(state).value, 0);
        write_value(out, *as_state(state).key, 0);
    }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        if (!read_raw<bool>(in)) return;
        as_state(state).value = read_value(result_, in);
        as_state(state).key = read_value(key_, in);
    }

private:
    static VectorPtr one(const TypePtr& type, const Vector& source, size_t row) {
        VectorBuilder builder(type);
        builder.append_from(source, row);
        return builder.finish();
    }
    void offer(KeptPair& state, const Vector& value, size_t value_row, const Vector& key, size_t key_row) const {
        if (state.key) {
            const int order = compare_values(key, key_row, *state.key, 0, least_ ? 1 : -1);
            if (least_ ? order >= 0 : order <= 0) return;
        }
        state.value = one(result_, value, value_row);
        state.key = one(key_, key, key_row);
    }
    TypePtr key_;
    bool least_;
};

template <Pick pick>
AggregatePtr make_pick(const std::string& name, std::span<const TypePtr> arguments) {
    expect_arguments(name, arguments, 1);
    const TypePtr& type = arguments[0];
    AggregatePtr made;
    dispatch_fixed(type->physical(), [&]<typename T>() { made = std::make_shared<FixedPick<pick, T>>(name, type); });
    // An enum's default is not zero: its states start empty, as vectors. UUIDs do not order as their numbers do.
    if (type->id() == TypeId::Enum8 || type->id() == TypeId::Enum16 || type->id() == TypeId::UUID) made = nullptr;
    if (!made && type->id() == TypeId::String) made = std::make_shared<StringPick<pick>>(name, type);
    if (!made) made = std::make_shared<AnyPick>(name, type, pick);
    return made;
}

void add_pick(AggregateRegistry& registry, std::vector<std::string> names, auto make, bool case_insensitive) {
    const std::string name = names[0];
    registry.add({.name = name,
                  .aliases = {names.begin() + 1, names.end()},
                  .case_insensitive = case_insensitive,
                  .resolve = [name, make](std::span<const TypePtr> arguments, std::span<const VectorPtr>) {
                      return make(name, arguments);
                  }});
}

}  // namespace

void register_min_max(AggregateRegistry& registry) {
    add_pick(registry, {"min"}, make_pick<Pick::Min>, true);
    add_pick(registry, {"max"}, make_pick<Pick::Max>, true);
    add_pick(registry, {"any", "any_value", "first_value", "anyHeavy"}, make_pick<Pick::First>, true);
    add_pick(registry, {"anyLast", "last_value"}, make_pick<Pick::Last>, true);
    for (const bool last : {false, true}) {
        const std::string name = last ? "anyLast_respect_nulls" : "any_respect_nulls";
        const auto aliases =
            last ? std::vector<std::string>{"anyLastRespectNulls", "last_value_respect_nulls", "lastValueRespectNulls"}
                 : std::vector<std::string>{"anyRespectNulls", "first_value_respect_nulls", "firstValueRespectNulls",
                                            "any_value_respect_nulls", "anyValueRespectNulls"};
        registry.add(
            {.name = name,
             .aliases = aliases,
             .sees_nulls = true,
             .resolve = [name, last](std::span<const TypePtr> arguments, std::span<const VectorPtr>) -> AggregatePtr {
                 expect_arguments(name, arguments, 1);
                 return std::make_shared<AnyPick>(name, arguments[0], last ? Pick::Last : Pick::First);
             }});
    }
    for (const bool least : {true, false}) {
        const std::string name = least ? "argMin" : "argMax";
        registry.add(
            {.name = name,
             .aliases = {least ? "min_by" : "max_by"},
             .null_when_empty = true,
             .resolve = [name, least](std::span<const TypePtr> arguments, std::span<const VectorPtr>) -> AggregatePtr {
                 expect_arguments(name, arguments, 2);
                 return std::make_shared<ArgPick>(name, arguments[0], arguments[1], least);
             }});
    }
}

}  // namespace firn::functions
