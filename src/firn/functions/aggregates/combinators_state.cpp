// -State, -Merge and -MergeState: aggregate states as values of type
// AggregateFunction(name, arguments…), which are the serialised bytes of the
// state. -ForEach and -Resample: several states side by side.
#include <algorithm>
#include <cmath>

#include "firn/functions/aggregates/around.h"
#include "firn/functions/aggregates/combinators.h"
#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/functions/argument_types.h"
#include "firn/vector/builder.h"
#include "firn/vector/vector_text.h"

namespace firn::functions {
namespace {

/// -State: the state itself comes out.
class ToState : public Around {
public:
    using Around::Around;
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        VectorBuilder builder(result_);
        std::string bytes;
        for (size_t i = 0; i < rows; ++i) {
            bytes.clear();
            inner_->serialize(states[i] + offset, bytes);
            builder.append_string(bytes);
        }
        return builder.finish();
    }
};

/// -Merge: states go in.
class FromStates : public Around {
public:
    using Around::Around;
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        take(
            arguments[0], rows, [&](size_t row) { return states[row] + offset; }, arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        take(
            arguments[0], rows, [&](size_t) { return state; }, arena);
    }

private:
    template <typename StateOf>
    void take(const VectorPtr& values, size_t rows, const StateOf& state_of, Arena& arena) const {
        const Decoded decoded(values);
        // One place for all the states that come, one after another. What they allocate stays in the arena, as the merge
        // may take it over.
        char* other = arena.allocate(padded_size(*inner_), 16);
        const auto destroy = [&](char* place) {
            if (inner_->has_destructor()) inner_->destroy(place);
        };
        for (size_t i = 0; i < rows; ++i) {
            std::string_view bytes = decoded.value<StringRef>(i).view();
            if (bytes.empty()) continue;  // the type's default value: a state without rows
            inner_->create(other);
            const std::unique_ptr<char, decltype(destroy)> guard(other, destroy);
            inner_->deserialize(other, bytes, arena);
            inner_->merge(state_of(i), other, arena);
        }
    }
};

/// -ForEach: element i of the arrays goes to state i.
class OfEach : public StateAggregate<OfEach, std::vector<char*>> {
    using States = std::vector<char*>;

public:
    explicit OfEach(AggregatePtr inner)
        : StateAggregate(std::string(inner->name()) + "ForEach", make_array(inner->result_type())),
          inner_(std::move(inner)) {}
    bool has_destructor() const override { return true; }
    void destroy(char* place) const noexcept override {
        States& states = as_state(place);
        if (inner_->has_destructor())
            for (char* state : states) inner_->destroy(state);
        states.~States();
    }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        add_each(
            arguments, rows, [&](size_t row) -> States& { return as_state(states[row] + offset); }, arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        add_each(
            arguments, rows, [&](size_t) -> States& { return as_state(state); }, arena);
    }
    void add_row(States&, const std::vector<Decoded>&, size_t, Arena&) const {}  // whole batches are added, above
    void merge_state(States& state, const States& other, Arena& arena) const {
        reserve(state, other.size(), arena);
        for (size_t i = 0; i < other.size(); ++i) inner_->merge(state[i], other[i], arena);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        States all;
        auto offsets = Buffer::allocate((rows + 1) * sizeof(int64_t));
        offsets->mutable_as<int64_t>()[0] = 0;
        for (size_t i = 0; i < rows; ++i) {
            const States& row = as_state(states[i] + offset);
            all.insert(all.end(), row.begin(), row.end());
            offsets->mutable_as<int64_t>()[i + 1] = static_cast<int64_t>(all.size());
        }
        VectorPtr elements =
            all.empty() ? concat(inner_->result_type(), {}) : inner_->finish(all.data(), all.size(), 0);
        return Vector::array(result_, rows, std::move(offsets), flatten(elements));
    }
    void serialize(const char* place, std::string& out) const override {
        const States& states = as_state(place);
        write_raw<uint64_t>(out, states.size());
        for (const char* state : states) inner_->serialize(state, out);
    }
    void deserialize(char* place, std::string_view& in, Arena& arena) const override {
        const auto size = read_raw<uint64_t>(in);
        for (uint64_t i = 0; i < size; ++i) {
            reserve(as_state(place), i + 1, arena);
            inner_->deserialize(as_state(place)[i], in, arena);
        }
    }

private:
    void reserve(States& states, size_t size, Arena& arena) const {
        while (states.size() < size) {
            char* place = arena.allocate(padded_size(*inner_), 16);
            inner_->create(place);
            states.push_back(place);
        }
    }
    template <typename StateOf>
    void add_each(std::span<const VectorPtr> arguments, size_t rows, const StateOf& state_of, Arena& arena) const {
        std::vector<VectorPtr> elements;
        States places;
        for (const auto& argument : arguments) {
            const VectorPtr flat = flatten(argument);
            const int64_t* offsets = flat->offsets();
            const auto first = static_cast<size_t>(offsets[0]), size = static_cast<size_t>(offsets[rows]) - first;
            if (elements.empty()) {
                for (size_t row = 0; row < rows; ++row) {
                    const auto count = static_cast<size_t>(offsets[row + 1] - offsets[row]);
                    States& states = state_of(row);
                    reserve(states, count, arena);
                    places.insert(places.end(), states.begin(), states.begin() + static_cast<int64_t>(count));
                }
            }
            if (size != places.size())
                fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                     "All arrays passed to an aggregate function with -ForEach must "
                     "have the same sizes");
            elements.push_back(slice(flat->child(), first, size));
        }
        if (!places.empty()) inner_->add(elements, places.size(), places.data(), 0, arena);
    }
    AggregatePtr inner_;
};

/// -Resample(begin, end, step): the last argument says which of the intervals'
/// states a row goes to.
class Resampled : public AggregateFunction {
public:
    struct Intervals {
        int64_t begin, step;
        size_t count;
        int64_t end;
    };
    Resampled(AggregatePtr inner, Intervals intervals)
        : inner_(std::move(inner)), result_(make_array(inner_->result_type())), intervals_(intervals) {
        stride_ = padded_size(*inner_);
    }
    std::string_view name() const override { return inner_->name(); }
    const TypePtr& result_type() const override { return result_; }
    size_t state_size() const override { return stride_ * intervals_.count; }
    void create(char* state) const override {
        for (size_t i = 0; i < intervals_.count; ++i) inner_->create(state + i * stride_);
    }
    bool has_destructor() const override { return inner_->has_destructor(); }
    void destroy(char* state) const noexcept override {
        for (size_t i = 0; i < intervals_.count; ++i) inner_->destroy(state + i * stride_);
    }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        const Decoded keys(arguments.back());
        std::vector<uint32_t> picked;
        std::vector<char*> places;
        for (size_t i = 0; i < rows; ++i) {
            if (keys.is_null(i)) continue;
            const int64_t key = int_at(keys.flat(), keys[i]);
            if (key < intervals_.begin || key >= intervals_.end) continue;
            const auto which = static_cast<size_t>((key - intervals_.begin) / intervals_.step);
            picked.push_back(static_cast<uint32_t>(i));
            places.push_back(states[i] + offset + which * stride_);
        }
        if (picked.empty()) return;
        std::vector<VectorPtr> rest;
        for (const auto& argument : arguments.first(arguments.size() - 1)) rest.push_back(gather(argument, picked));
        inner_->add(rest, picked.size(), places.data(), 0, arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        const std::vector<char*> states(rows, state);
        add(arguments, rows, states.data(), 0, arena);
    }
    void merge(char* state, const char* other, Arena& arena) const override {
        for (size_t i = 0; i < intervals_.count; ++i) inner_->merge(state + i * stride_, other + i * stride_, arena);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        std::vector<char*> all;
        auto offsets = Buffer::allocate((rows + 1) * sizeof(int64_t));
        offsets->mutable_as<int64_t>()[0] = 0;
        for (size_t row = 0; row < rows; ++row) {
            for (size_t i = 0; i < intervals_.count; ++i) all.push_back(states[row] + offset + i * stride_);
            offsets->mutable_as<int64_t>()[row + 1] = static_cast<int64_t>(all.size());
        }
        return Vector::array(result_, rows, std::move(offsets), flatten(inner_->finish(all.data(), all.size(), 0)));
    }
    void serialize(const char* state, std::string& out) const override {
        for (size_t i = 0; i < intervals_.count; ++i) inner_->serialize(state + i * stride_, out);
    }
    void deserialize(char* state, std::string_view& in, Arena& arena) const override {
        for (size_t i = 0; i < intervals_.count; ++i) inner_->deserialize(state + i * stride_, in, arena);
    }

private:
    AggregatePtr inner_;
    TypePtr result_;
    Intervals intervals_;
    size_t stride_;
};

/// Reads the constants in "quantiles(0.5, 'x', [1,2])" as append_quoted_text writes them: numbers, texts, arrays, tuples.
class ParameterReader {
public:
    explicit ParameterReader(std::string_view text) : text_(text) {}

    /// Values up to `close` (0: the end of the text).
    std::vector<VectorPtr> values(char close) {
        std::vector<VectorPtr> out;
        while (true) {
            while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == ',')) ++at_;
            if (at_ >= text_.size()) return out;
            if (text_[at_] == close) {
                ++at_;
                return out;
            }
            out.push_back(value());
        }
    }

private:
    VectorPtr value() {
        switch (text_[at_]) {
            case '\'':
                return text();
            case '[':
                ++at_;
                return array(values(']'));
            case '(':
                ++at_;
                return tuple(values(')'));
            default:
                return word();
        }
    }
    VectorPtr text() {
        constexpr std::string_view kFrom = "bfrnt0", kTo("\b\f\r\n\t\0", 6);
        std::string out;
        for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_) {
            if (text_[at_] != '\\' || at_ + 1 >= text_.size()) {
                out.push_back(text_[at_]);
                continue;
            }
            const char c = text_[++at_];
            const size_t which = kFrom.find(c);
            out.push_back(which == std::string_view::npos ? c : kTo[which]);
        }
        ++at_;
        return make_string_value(make_type(TypeId::String), out);
    }
    VectorPtr word() {
        const size_t end = std::max(at_ + 1, std::min(text_.size(), text_.find_first_of(",])", at_)));
        const std::string piece(text_.substr(at_, end - at_));
        at_ = end;
        const bool negative = piece[0] == '-';
        const bool whole =
            piece.size() > (negative ? 1 : 0) && piece.find_first_not_of("0123456789", negative) == std::string::npos;
        const TypeId type = piece == "true" || piece == "false" ? TypeId::Bool
                            : !whole                            ? TypeId::Float64
                            : negative                          ? TypeId::Int64
                                                                : TypeId::UInt64;
        return flatten(cast_vector(make_string_value(make_type(TypeId::String), piece), make_type(type)));
    }
    static VectorPtr array(const std::vector<VectorPtr>& elements) {
        std::vector<TypePtr> types;
        for (const auto& element : elements) types.push_back(element->type());
        if (types.empty()) return Vector::defaults(make_array(make_type(TypeId::Nothing)), 1);
        const TypePtr type = common_type(types);
        VectorBuilder out(make_array(type));
        for (const auto& element : elements) out.element().append_from(*flatten(cast_vector(element, type)), 0);
        out.end_array();
        return out.finish();
    }
    static VectorPtr tuple(const std::vector<VectorPtr>& elements) {
        std::vector<TypePtr> types;
        for (const auto& element : elements) types.push_back(element->type());
        return Vector::tuple(make_tuple_type(types), 1, elements);
    }

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace

AggregatePtr to_state(AggregatePtr inner, std::string name, std::span<const VectorPtr> parameters,
                      std::span<const TypePtr> arguments) {
    if (!parameters.empty()) {
        name.push_back('(');
        for (size_t i = 0; i < parameters.size(); ++i) {
            if (i) name += ", ";
            append_quoted_text(name, parameters[i]->flat_base(), parameters[i]->base_row(0));
        }
        name.push_back(')');
    }
    TypePtr type = make_aggregate_state(std::move(name), {arguments.begin(), arguments.end()});
    return std::make_shared<ToState>(std::move(inner), std::move(type));
}

AggregatePtr function_of_state(const DataType& type) {
    std::string_view name = type.text();
    std::string_view parameters;
    if (const size_t open = name.find('('); open != std::string_view::npos) {
        parameters = name.substr(open + 1, name.size() - open - 2);
        name = name.substr(0, open);
    }
    return AggregateRegistry::instance().bind(name, type.children(), ParameterReader(parameters).values('\0'));
}

AggregatePtr from_states(std::string_view name, std::span<const TypePtr> arguments) {
    if (arguments.size() != 1)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Aggregate function {}Merge takes one argument, a state",
             name);
    const DataType& type = *arguments[0];
    const std::string_view made_by = type.id() == TypeId::AggregateFunction
                                         ? std::string_view(type.text()).substr(0, type.text().find('('))
                                         : std::string_view();
    if (made_by != name)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
             "Illegal type {} of the argument of aggregate function {}Merge: it "
             "has to be a state of {}",
             type.name(), name, name);
    AggregatePtr inner = function_of_state(type);
    const TypePtr result = inner->result_type();
    return std::make_shared<FromStates>(std::move(inner), result);
}

AggregatePtr of_each(AggregatePtr inner) { return std::make_shared<OfEach>(std::move(inner)); }

AggregatePtr resampled(AggregatePtr inner, std::span<const VectorPtr> parameters, const TypePtr& key) {
    constexpr double kMostIntervals = 1 << 20;
    const auto number = [](const VectorPtr& parameter) {
        const VectorPtr value = flatten(cast_vector(parameter, make_type(TypeId::Int64)));
        return value->values<int64_t>()[0];
    };
    if (!is_integer(unwrap(key)->id()) && !is_date_or_time(unwrap(key)->id())) illegal_argument("Resample", key);
    const int64_t begin = number(parameters[0]), end = number(parameters[1]), step = number(parameters[2]);
    if (step <= 0) fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "The step of -Resample has to be positive, not {}", step);
    const double count =
        end < begin ? 0
                    : std::ceil((static_cast<double>(end) - static_cast<double>(begin)) / static_cast<double>(step));
    if (count > kMostIntervals)
        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "The range given in function -Resample has more than {} intervals",
             kMostIntervals);
    return std::make_shared<Resampled>(std::move(inner),
                                       Resampled::Intervals{begin, step, static_cast<size_t>(count), end});
}

}  // namespace firn::functions
