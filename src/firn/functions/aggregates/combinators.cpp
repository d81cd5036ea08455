#include "firn/functions/aggregates/combinators.h"

#include "firn/functions/aggregates/around.h"
#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/functions/grouped_rows.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {
namespace {

/// Has one byte more: whether a row came.
class Flagged : public Around {
public:
    Flagged(AggregatePtr inner, bool to_null) : Around(std::move(inner)) {
        flag_ = inner_->state_size();
        if (to_null) result_ = make_nullable(result_);
    }
    size_t state_size() const override { return flag_ + 16; }
    void create(char* state) const override {
        inner_->create(state);
        state[flag_] = 0;
    }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        inner_->add(arguments, rows, states, offset, arena);
        for (size_t i = 0; i < rows; ++i) states[i][offset + flag_] = 1;
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        inner_->add_all(arguments, rows, state, arena);
        if (rows) state[flag_] = 1;
    }
    bool has_grouped_way() const override { return inner_->has_grouped_way(); }
    bool add_grouped(std::span<const VectorPtr> arguments, GroupedRows& rows, size_t offset,
                     Arena& arena) const override {
        if (!inner_->add_grouped(arguments, rows, offset, arena)) return false;
        for (size_t g = 0; g < rows.groups(); ++g)
            if (rows.count(g)) rows.state(g)[offset + flag_] = 1;
        return true;
    }
    void merge(char* state, const char* other, Arena& arena) const override {
        inner_->merge(state, other, arena);
        state[flag_] |= other[flag_];
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        const VectorPtr values = inner_->finish(states, rows, offset);
        size_t empty = 0;
        for (size_t i = 0; i < rows; ++i) empty += !states[i][offset + flag_];
        if (empty == 0) return same_type(values->type(), result_) ? values : values->with_type(result_);
        VectorBuilder builder(result_);
        for (size_t i = 0; i < rows; ++i) {
            if (states[i][offset + flag_])
                builder.append_from(*values, i);
            else
                builder.append_default();
        }
        return builder.finish();
    }
    void serialize(const char* state, std::string& out) const override {
        out.push_back(state[flag_]);
        inner_->serialize(state, out);
    }
    void deserialize(char* state, std::string_view& in, Arena& arena) const override {
        state[flag_] = read_raw<char>(in);
        inner_->deserialize(state, in, arena);
    }

private:
    size_t flag_;
};

class SkipNulls : public Around {
public:
    SkipNulls(AggregatePtr inner, std::span<const TypePtr> arguments) : Around(std::move(inner)) {
        for (const auto& type : arguments) plain_.push_back(strip_nullable(type));
    }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        Selection left;
        if (!any_null(arguments, rows, left)) return inner_->add(plain(arguments), rows, states, offset, arena);
        if (!left.empty()) add_selected(plain(arguments), left, states, offset, arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        Selection left;
        if (!any_null(arguments, rows, left)) return inner_->add_all(plain(arguments), rows, state, arena);
        if (!left.empty()) add_all_selected(plain(arguments), left, state, arena);
    }
    bool has_grouped_way() const override { return inner_->has_grouped_way(); }
    bool add_grouped(std::span<const VectorPtr> arguments, GroupedRows& rows, size_t offset,
                     Arena& arena) const override {
        for (const auto& argument : arguments)
            if (may_have_null(*argument)) return false;
        return inner_->add_grouped(plain(arguments), rows, offset, arena);
    }

private:
    /// Whether a row has a NULL; then `left` are those that have none.
    static bool any_null(std::span<const VectorPtr> arguments, size_t rows, Selection& left) {
        std::vector<uint8_t> null;
        for (const auto& argument : arguments) {
            if (!may_have_null(*argument)) continue;
            const Decoded decoded(argument);
            if (null.empty()) null.resize(rows);
            const uint8_t* flags = decoded.nulls();
            for (size_t i = 0; i < rows; ++i) null[i] |= flags[decoded[i]];
        }
        if (null.empty()) return false;
        left.resize(rows);
        size_t n = 0;
        for (size_t i = 0; i < rows; ++i) {
            left[n] = static_cast<uint32_t>(i);
            n += !null[i];
        }
        left.resize(n);
        return n < rows;
    }
    std::vector<VectorPtr> plain(std::span<const VectorPtr> arguments) const {
        std::vector<VectorPtr> out;
        for (size_t i = 0; i < arguments.size(); ++i)
            out.push_back(same_type(arguments[i]->type(), plain_[i]) ? arguments[i]
                                                                     : arguments[i]->with_type(plain_[i]));
        return out;
    }
    std::vector<TypePtr> plain_;
};

class OnlyIf : public Around {
public:
    using Around::Around;
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        const Selection selected = selected_rows(arguments.back());
        const auto rest = arguments.first(arguments.size() - 1);
        if (selected.size() == rows)
            inner_->add(rest, rows, states, offset, arena);
        else if (!selected.empty())
            add_selected(rest, selected, states, offset, arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        const Selection selected = selected_rows(arguments.back());
        const auto rest = arguments.first(arguments.size() - 1);
        if (selected.size() == rows)
            inner_->add_all(rest, rows, state, arena);
        else if (!selected.empty())
            add_all_selected(rest, selected, state, arena);
    }
};

class OfElements : public Around {
public:
    using Around::Around;
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        std::vector<uint32_t> owners;
        const auto elements = unfold(arguments, rows, owners);
        std::vector<char*> places(owners.size());
        for (size_t i = 0; i < owners.size(); ++i) places[i] = states[owners[i]];
        if (!places.empty()) inner_->add(elements, places.size(), places.data(), offset, arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        std::vector<uint32_t> owners;
        const auto elements = unfold(arguments, rows, owners);
        if (!owners.empty()) inner_->add_all(elements, owners.size(), state, arena);
    }

private:
    static std::vector<VectorPtr> unfold(std::span<const VectorPtr> arguments, size_t rows,
                                         std::vector<uint32_t>& owners) {
        std::vector<VectorPtr> out;
        for (const auto& argument : arguments) {
            const VectorPtr flat = flatten(argument);
            const int64_t* offsets = flat->offsets();
            if (out.empty()) {
                for (size_t row = 0; row < rows; ++row)
                    for (int64_t i = offsets[row]; i < offsets[row + 1]; ++i)
                        owners.push_back(static_cast<uint32_t>(row));
            }
            const auto size = static_cast<size_t>(offsets[rows] - offsets[0]);
            if (size != owners.size())
                fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                     "All arrays passed to an aggregate function with -Array must have the same sizes");
            out.push_back(slice(flat->child(), static_cast<size_t>(offsets[0]), size));
        }
        return out;
    }
};

/// Different rows of the arguments, kept as vectors of one row each by hash.
struct DifferentRows {
    std::vector<std::vector<VectorPtr>> rows;
    std::vector<uint64_t> hashes;
    std::vector<uint32_t> slots;
};

class OfDifferent : public StateAggregate<OfDifferent, DifferentRows> {
public:
    OfDifferent(AggregatePtr inner, std::vector<TypePtr> types)
        : StateAggregate(std::string(inner->name()) + "Distinct", inner->result_type()),
          inner_(std::move(inner)),
          types_(std::move(types)) {}
    void add_row(DifferentRows& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        std::vector<VectorPtr> one;
        for (size_t i = 0; i < arguments.size(); ++i) {
            VectorBuilder builder(types_[i]);
            builder.append_from(arguments[i].flat(), arguments[i][row]);
            one.push_back(builder.finish());
        }
        insert(state, std::move(one));
    }
    void merge_state(DifferentRows& state, const DifferentRows& other, Arena&) const {
        for (const auto& row : other.rows) insert(state, row);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        Arena arena;
        std::vector<char*> places;
        for (size_t i = 0; i < rows; ++i) {
            places.push_back(arena.allocate(inner_->state_size(), 16));
            inner_->create(places.back());
            for (const auto& row : as_state(states[i] + offset).rows) inner_->add_all(row, 1, places.back(), arena);
        }
        VectorPtr out = inner_->finish(places.data(), rows, 0);
        if (inner_->has_destructor())
            for (char* place : places) inner_->destroy(place);
        return out;
    }
    void serialize(const char* state, std::string& out) const override {
        write_raw<uint64_t>(out, as_state(state).rows.size());
        for (const auto& row : as_state(state).rows)
            for (const auto& value : row) write_value(out, *value, 0);
    }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        const auto size = read_raw<uint64_t>(in);
        for (uint64_t i = 0; i < size; ++i) {
            std::vector<VectorPtr> row;
            for (const auto& type : types_) row.push_back(read_value(type, in));
            insert(as_state(state), std::move(row));
        }
    }

private:
    static void insert(DifferentRows& state, std::vector<VectorPtr> row) {
        uint64_t hash = 0;
        hash_rows(row, 1, &hash);
        if ((state.rows.size() + 1) * 2 > state.slots.size()) {
            state.slots.assign(std::max<size_t>(16, state.slots.size() * 2), 0);
            for (size_t i = 0; i < state.rows.size(); ++i) {
                size_t slot = state.hashes[i] & (state.slots.size() - 1);
                while (state.slots[slot]) slot = (slot + 1) & (state.slots.size() - 1);
                state.slots[slot] = static_cast<uint32_t>(i + 1);
            }
        }
        size_t slot = hash & (state.slots.size() - 1);
        for (; state.slots[slot]; slot = (slot + 1) & (state.slots.size() - 1)) {
            const auto& kept = state.rows[state.slots[slot] - 1];
            bool equal = state.hashes[state.slots[slot] - 1] == hash;
            for (size_t i = 0; i < row.size() && equal; ++i) equal = equal_values(*kept[i], 0, *row[i], 0);
            if (equal) return;
        }
        state.rows.push_back(std::move(row));
        state.hashes.push_back(hash);
        state.slots[slot] = static_cast<uint32_t>(state.rows.size());
    }
    AggregatePtr inner_;
    std::vector<TypePtr> types_;
};

class AlwaysNull : public StateAggregate<AlwaysNull, char> {
public:
    explicit AlwaysNull(std::string name)
        : StateAggregate(std::move(name), make_nullable(make_type(TypeId::Nothing))) {}
    void add_row(char&, const std::vector<Decoded>&, size_t, Arena&) const {}
    void merge_state(char&, const char&, Arena&) const {}
    VectorPtr finish(char* const*, size_t rows, size_t) const override { return Vector::defaults(result_, rows); }
    void serialize(const char*, std::string&) const override {}
    void deserialize(char*, std::string_view&, Arena&) const override {}
};

}  // namespace

AggregatePtr skip_nulls(AggregatePtr inner, std::span<const TypePtr> arguments, bool null_when_empty) {
    if (null_when_empty) inner = std::make_shared<Flagged>(std::move(inner), true);
    return std::make_shared<SkipNulls>(std::move(inner), arguments);
}
AggregatePtr or_empty(AggregatePtr inner, bool to_null) { return std::make_shared<Flagged>(std::move(inner), to_null); }
AggregatePtr only_if(AggregatePtr inner) { return std::make_shared<OnlyIf>(std::move(inner)); }
AggregatePtr of_elements(AggregatePtr inner) { return std::make_shared<OfElements>(std::move(inner)); }
AggregatePtr of_different(AggregatePtr inner, std::vector<TypePtr> arguments) {
    return std::make_shared<OfDifferent>(std::move(inner), std::move(arguments));
}
AggregatePtr always_null(std::string name) { return std::make_shared<AlwaysNull>(std::move(name)); }

}  // namespace firn::functions
