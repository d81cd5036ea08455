// Filters, LIKE and text functions, decimal arithmetic: what scans evaluate on every row, in each encoding.
#include <benchmark/benchmark.h>

#include "bench/micro/columns.h"
#include "firn/exec/filter.h"
#include "firn/functions/aggregate.h"
#include "firn/functions/substring_search.h"

namespace firn::micro {
namespace {

using plan::ExpressionPtr;

enum Form : int64_t { kFlat, kDictionary, kRunLength };

ExpressionPtr call(std::string_view name, std::vector<ExpressionPtr> arguments) {
    return plan::call(name, std::move(arguments), {});
}
ExpressionPtr number(int64_t value) { return plan::make_constant(make_value<int64_t>(int64_type(), value)); }
ExpressionPtr text(std::string_view value) { return plan::make_constant(make_string_value(string_type(), value)); }

VectorPtr in_form(const VectorPtr& base, int64_t form) {
    const VectorPtr vector = form == kRunLength ? runs(base, kBatch, 64) : coded(base, kBatch);
    return form == kFlat ? flatten(vector) : vector;
}

void select(benchmark::State& state, const ExpressionPtr& condition, const VectorPtr& column) {
    exec::Filter filter({condition});
    const Batch batch{{column}, column->size()};
    for (auto _ : state) benchmark::DoNotOptimize(filter.select(batch));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * batch.rows));
}

void filter_number(benchmark::State& state) {
    select(state, call("less", {plan::make_column(0, int64_type()), number(100)}),
           in_form(number_column(1000, 1000), state.range(0)));
}
BENCHMARK(filter_number)->ArgName("form")->DenseRange(kFlat, kRunLength);

void filter_text(benchmark::State& state) {
    const VectorPtr urls = url_column(1000, 1000);
    const std::string_view wanted = urls->values<StringRef>()[7].view();
    select(state, call("equals", {plan::make_column(0, string_type()), text(wanted)}), in_form(urls, state.range(0)));
}
BENCHMARK(filter_text)->ArgName("form")->DenseRange(kFlat, kRunLength);

void filter_in(benchmark::State& state) {
    std::vector<ExpressionPtr> elements;
    for (int64_t i = 0; i < 20; ++i) elements.push_back(number(i * 31));
    const auto set = call("array", std::move(elements));
    select(state, call("in", {plan::make_column(0, int64_type()), set}),
           in_form(number_column(1000, 1000), state.range(0)));
}
BENCHMARK(filter_in)->ArgName("form")->DenseRange(kFlat, kRunLength);

void like(benchmark::State& state) {
    select(state, call("like", {plan::make_column(0, string_type()), text("%google%")}),
           in_form(url_column(4096, 4096), state.range(0)));
}
BENCHMARK(like)->ArgName("form")->Arg(kFlat)->Arg(kDictionary);

void like_two_pieces(benchmark::State& state) {
    select(state, call("like", {plan::make_column(0, string_type()), text("%google%session=1%")}),
           in_form(url_column(4096, 4096), kFlat));
}
BENCHMARK(like_two_pieces);

/// The search alone, over bytes that lie one after another.
void find_substring(benchmark::State& state) {
    const VectorPtr urls = url_column(kBatch, kBatch);
    std::string bytes;
    for (size_t i = 0; i < kBatch; ++i) bytes += urls->values<StringRef>()[i].view();
    for (auto _ : state) {
        size_t found = 0;
        for (size_t at = 0; (at = functions::find_substring(bytes, "google", at)) != std::string::npos; ++at) ++found;
        benchmark::DoNotOptimize(found);
    }
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(find_substring);

void evaluate(benchmark::State& state, const ExpressionPtr& expression, const Batch& batch) {
    exec::Evaluator evaluator({expression});
    for (auto _ : state) benchmark::DoNotOptimize(evaluator.evaluate_one(batch));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * batch.rows));
}

void substring(benchmark::State& state) {
    evaluate(state, call("substring", {plan::make_column(0, string_type()), number(9), number(20)}),
             Batch{{in_form(url_column(4096, 4096), kFlat)}, kBatch});
}
BENCHMARK(substring);

/// l_extendedprice * (1 - l_discount), decimals of 15 digits.
void decimal_product(benchmark::State& state) {
    const TypePtr price = make_decimal(15, 2);
    const auto left = make_vector<int64_t>(price, numbers(kBatch, 10000000)),
               right = make_vector<int64_t>(price, numbers(kBatch, 11));
    const auto one = plan::make_constant(make_value<uint8_t>(make_type(TypeId::UInt8), 1));
    evaluate(state, call("multiply", {plan::make_column(0, price), call("minus", {one, plan::make_column(1, price)})}),
             Batch{{left, right}, kBatch});
}
BENCHMARK(decimal_product);

/// sum of a column into one state; precision says the width: 9 digits lie in 32 bits, 15 in 64, 30 in 128.
template <typename T>
void decimal_sum(benchmark::State& state, int precision, bool grouped) {
    const TypePtr type = make_decimal(precision, 2);
    std::vector<T> values;
    for (const int64_t number : numbers(kBatch, 1000000)) values.push_back(static_cast<T>(number));
    const std::vector<VectorPtr> arguments{make_vector<T>(type, values)};
    const auto sum = functions::AggregateRegistry::instance().bind("sum", std::vector<TypePtr>{type}, {});
    constexpr size_t kGroups = 16;
    std::vector<std::max_align_t> memory(kGroups * ((sum->state_size() + 15) / 16 + 1));
    const size_t stride = (sum->state_size() + 15) / 16 * 16;
    auto* states = reinterpret_cast<char*>(memory.data());
    for (size_t i = 0; i < kGroups; ++i) sum->create(states + i * stride);
    std::vector<char*> rows;
    for (const int64_t group : numbers(kBatch, kGroups)) rows.push_back(states + static_cast<size_t>(group) * stride);
    Arena arena;
    for (auto _ : state) {
        if (grouped)
            sum->add(arguments, kBatch, rows.data(), 0, arena);
        else
            sum->add_all(arguments, kBatch, states, arena);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}
void decimal_sum_9_digits(benchmark::State& state) { decimal_sum<int32_t>(state, 9, false); }
void decimal_sum_15_digits(benchmark::State& state) { decimal_sum<int64_t>(state, 15, false); }
void decimal_sum_30_digits(benchmark::State& state) { decimal_sum<Int128>(state, 30, false); }
void decimal_sum_16_groups(benchmark::State& state) { decimal_sum<int64_t>(state, 15, true); }
BENCHMARK(decimal_sum_9_digits);
BENCHMARK(decimal_sum_15_digits);
BENCHMARK(decimal_sum_30_digits);
BENCHMARK(decimal_sum_16_groups);

}  // namespace
}  // namespace firn::micro
