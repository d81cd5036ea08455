// uniqExact and its kin: how many different values.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/vector/row_ops.h"
#include "firn/vector/vector_text.h"

namespace firn::functions {
namespace {

uint64_t slot_hash(uint64_t key) { return mix_hash(key); }
uint64_t slot_hash(UInt128 key) { return static_cast<uint64_t>(key); }  // already a hash

/// Open addressing over keys that are their own identity; zero is kept aside. Its memory is charged to the query.
template <typename Key>
class KeySet {
public:
    KeySet() = default;
    KeySet(const KeySet& other) : slots_(other.slots_), used_(other.used_), has_zero_(other.has_zero_) {}

    /// Which entries of a dictionary are in the set already: a flag for each. Kept until another dictionary is asked for.
    uint8_t* known_entries(const VectorPtr& dictionary) {
        if (!known_) known_ = std::make_unique<Known>();
        if (!knows(dictionary)) {
            known_->values = dictionary->values_buffer();
            known_->entries.assign(dictionary->size(), 0);
        }
        return known_->entries.data();
    }
    /// By the values: a dictionary's vector is another after a change of its type's nullability.
    bool knows(const VectorPtr& dictionary) const {
        return known_ && known_->values == dictionary->values_buffer() && known_->entries.size() == dictionary->size();
    }

    bool insert(Key key) {
        if (key == Key{}) {
            const bool fresh = !has_zero_;
            has_zero_ = true;
            return fresh;
        }
        if ((used_ + 1) * 2 > slots_.size()) grow();
        for (size_t slot = slot_hash(key) & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
            if (slots_[slot] == key) return false;
            if (slots_[slot] == Key{}) {
                slots_[slot] = key;
                ++used_;
                return true;
            }
        }
    }
    void prefetch(Key key) const {
        if (!slots_.empty()) __builtin_prefetch(&slots_[slot_hash(key) & (slots_.size() - 1)]);
    }
    bool large() const { return slots_.size() > 1 << 14; }
    size_t size() const { return used_ + has_zero_; }
    template <typename F>
    void each(F&& f) const {
        if (has_zero_) f(Key{});
        for (const Key& key : slots_)
            if (key != Key{}) f(key);
    }
    void swap(KeySet& other) noexcept {
        slots_.swap(other.slots_);
        std::swap(used_, other.used_);
        std::swap(has_zero_, other.has_zero_);
        known_.reset();
        other.known_.reset();
    }

private:
    void grow() {
        TrackedVector<Key> old(slots_.empty() ? 8 : slots_.size() * (slots_.size() < 1 << 16 ? 4 : 2), Key{});
        old.swap(slots_);
        for (const Key& key : old) {
            if (key == Key{}) continue;
            size_t slot = slot_hash(key) & (slots_.size() - 1);
            while (slots_[slot] != Key{}) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = key;
        }
    }
    struct Known {
        BufferPtr values;  // of the dictionary, kept alive
        TrackedVector<uint8_t> entries;
    };
    TrackedVector<Key> slots_;
    std::unique_ptr<Known> known_;
    size_t used_ = 0;
    bool has_zero_ = false;
};

/// The bits of a fixed-width value as a key; all NaNs as one. 0 and -0 are two, as in ClickHouse.
template <typename T>
uint64_t key_of(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        if (value != value) value = std::numeric_limits<T>::quiet_NaN();
    }
    uint64_t key = 0;
    std::memcpy(&key, &value, sizeof(T));
    return key;
}

template <typename Key, typename Derived>
class UniqBase : public StateAggregate<Derived, KeySet<Key>> {
    using Base = StateAggregate<Derived, KeySet<Key>>;

public:
    explicit UniqBase(std::string name) : Base(std::move(name), make_type(TypeId::UInt64)) {}
    void merge_state(KeySet<Key>& state, const KeySet<Key>& other, Arena&) const {
        if (other.size() > state.size()) {
            KeySet<Key> larger = other;
            state.swap(larger);
            larger.each([&](const Key& key) { state.insert(key); });
            return;
        }
        other.each([&](const Key& key) { state.insert(key); });
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        return vector_of<uint64_t>(this->result_, rows,
                                   [&](size_t i) { return Base::as_state(states[i] + offset).size(); });
    }
    void serialize(const char* state, std::string& out) const override {
        write_raw<uint64_t>(out, Base::as_state(state).size());
        Base::as_state(state).each([&](const Key& key) { write_raw(out, key); });
    }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        const auto size = read_raw<uint64_t>(in);
        for (uint64_t i = 0; i < size; ++i) Base::as_state(state).insert(read_raw<Key>(in));
    }
};

constexpr size_t kAhead = 16;       // rows between prefetching a slot and using it
constexpr size_t kWorthwhile = 32;  // entries of a dictionary for each row of a batch

template <typename T>
class UniqFixed : public UniqBase<uint64_t, UniqFixed<T>> {
    using Base = UniqBase<uint64_t, UniqFixed<T>>;

public:
    using Base::Base;
    void add_row(KeySet<uint64_t>& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        state.insert(key_of(arguments[0].template value<T>(row)));
    }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena&) const override {
        const Decoded decoded(arguments[0]);
        const T* values = decoded.values<T>();
        for (size_t i = 0; i < rows; ++i) {
            if (i + kAhead < rows) {
                const KeySet<uint64_t>& ahead = Base::as_state(states[i + kAhead] + offset);
                if (ahead.large()) ahead.prefetch(key_of(values[decoded[i + kAhead]]));
            }
            Base::as_state(states[i] + offset).insert(key_of(values[decoded[i]]));
        }
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* place, Arena&) const override {
        KeySet<uint64_t>& state = Base::as_state(place);
        const Decoded decoded(arguments[0]);
        const T* values = decoded.values<T>();
        if (decoded.is_constant() && rows) {
            state.insert(key_of(values[0]));
            return;
        }
        if (arguments[0]->encoding() == Encoding::Dictionary) {
            const VectorPtr& dictionary = arguments[0]->base();
            if (state.knows(dictionary) || dictionary->size() <= kWorthwhile * rows) {
                uint8_t* known = state.known_entries(dictionary);
                for (size_t i = 0; i < rows; ++i)
                    if (uint8_t& entry = known[decoded[i]]; !entry)
                        entry = state.insert(key_of(values[decoded[i]])) | 1;
                return;
            }
        }
        for (size_t i = 0; i < rows; ++i) {
            if (state.large() && i + kAhead < rows) state.prefetch(key_of(values[decoded[i + kAhead]]));
            state.insert(key_of(values[decoded[i]]));
        }
    }
};

UInt128 hash128(const char* data, size_t size) {
    const XXH128_hash_t hash = XXH3_128bits(data, size);
    const UInt128 key = static_cast<UInt128>(hash.high64) << 64 | hash.low64;
    return key == 0 ? 1 : key;
}

/// By 128-bit hashes of strings, or of the text of values of any types.
class UniqHashed : public UniqBase<UInt128, UniqHashed> {
public:
    UniqHashed(std::string name, bool one_string) : UniqBase(std::move(name)), one_string_(one_string) {}

    void add_row(KeySet<UInt128>& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        state.insert(key(arguments, row));
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* place, Arena& arena) const override {
        KeySet<UInt128>& state = as_state(place);
        const auto decoded = decode(arguments);
        // Each entry of a dictionary need be hashed only once.
        if (one_string_ && !decoded[0].is_identity() && decoded[0].flat().size() < rows) {
            std::vector<uint8_t> seen(decoded[0].flat().size());
            for (size_t i = 0; i < rows; ++i) {
                if (std::exchange(seen[decoded[0][i]], 1)) continue;
                state.insert(key(decoded, i));
            }
            return;
        }
        for (size_t i = 0; i < rows; ++i) state.insert(key(decoded, i));
    }

private:
    UInt128 key(const std::vector<Decoded>& arguments, size_t row) const {
        if (one_string_) {
            const StringRef& text = arguments[0].value<StringRef>(row);
            return hash128(text.data, text.size);
        }
        std::string text;
        for (const auto& argument : arguments) {
            append_quoted_text(text, argument.flat(), argument[row]);
            text.push_back('\0');
        }
        return hash128(text.data(), text.size());
    }
    bool one_string_;
};

AggregatePtr make_uniq(const std::string& name, std::span<const TypePtr> arguments) {
    if (arguments.empty())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Incorrect number of arguments for aggregate function {}",
             name);
    if (arguments.size() > 1) return std::make_shared<UniqHashed>(name, false);
    AggregatePtr made;
    dispatch_fixed(arguments[0]->physical(), [&]<typename T>() {
        if constexpr (sizeof(T) <= 8) made = std::make_shared<UniqFixed<T>>(name);
    });
    if (!made) made = std::make_shared<UniqHashed>(name, arguments[0]->physical() == Physical::Str);
    return made;
}

}  // namespace

void register_uniq(AggregateRegistry& registry) {
    // The approximate ones are exact too: nearer to the truth than they promise.
    for (const std::string name : {"uniqExact", "uniq", "uniqCombined", "uniqCombined64", "uniqHLL12", "uniqTheta"}) {
        registry.add(
            {.name = name,
             .aliases = name == "uniq" ? std::vector<std::string>{"approx_count_distinct"} : std::vector<std::string>{},
             .null_when_empty = name.starts_with("uniqCombined"),  // as in ClickHouse
             .resolve = [name](std::span<const TypePtr> arguments, std::span<const VectorPtr>) {
                 return make_uniq(name, arguments);
             }});
    }
}

}  // namespace firn::functions
