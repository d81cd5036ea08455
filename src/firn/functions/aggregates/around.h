// The base of aggregate functions around another one: of combinators and of the rules for NULLs.
#pragma once

#include <algorithm>

#include "firn/functions/aggregate.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

/// Bytes that a state takes among others, each where any type may begin.
inline size_t padded_size(const AggregateFunction& function) {
    return std::max<size_t>(16, (function.state_size() + 15) / 16 * 16);
}

/// Passes everything on to `inner`, whose state it shares; what derives from it changes what goes in or comes out.
class Around : public AggregateFunction {
public:
    explicit Around(AggregatePtr inner) : Around(inner, inner->result_type()) {}
    Around(AggregatePtr inner, TypePtr result) : inner_(std::move(inner)), result_(std::move(result)) {}
    std::string_view name() const override { return inner_->name(); }
    const TypePtr& result_type() const override { return result_; }
    size_t state_size() const override { return inner_->state_size(); }
    void create(char* state) const override { inner_->create(state); }
    bool has_destructor() const override { return inner_->has_destructor(); }
    void destroy(char* state) const noexcept override { inner_->destroy(state); }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        inner_->add(arguments, rows, states, offset, arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        inner_->add_all(arguments, rows, state, arena);
    }
    void merge(char* state, const char* other, Arena& arena) const override { inner_->merge(state, other, arena); }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        return inner_->finish(states, rows, offset);
    }
    void serialize(const char* state, std::string& out) const override { inner_->serialize(state, out); }
    void deserialize(char* state, std::string_view& in, Arena& arena) const override {
        inner_->deserialize(state, in, arena);
    }

protected:
    /// Adds only the rows of `selected`.
    void add_selected(std::span<const VectorPtr> arguments, const Selection& selected, char* const* states,
                      size_t offset, Arena& arena) const {
        std::vector<VectorPtr> picked;
        for (const auto& argument : arguments) picked.push_back(gather(argument, selected));
        std::vector<char*> places(selected.size());
        for (size_t i = 0; i < places.size(); ++i) places[i] = states[selected[i]];
        inner_->add(picked, selected.size(), places.data(), offset, arena);
    }
    void add_all_selected(std::span<const VectorPtr> arguments, const Selection& selected, char* state,
                          Arena& arena) const {
        std::vector<VectorPtr> picked;
        for (const auto& argument : arguments) picked.push_back(gather(argument, selected));
        inner_->add_all(picked, selected.size(), state, arena);
    }
    AggregatePtr inner_;
    TypePtr result_;
};

}  // namespace firn::functions
