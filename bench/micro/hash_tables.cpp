// The tables of aggregation and joins, by width of the key and by how many keys there are.
#include <benchmark/benchmark.h>

#include "bench/micro/columns.h"
#include "firn/exec/group_map.h"
#include "firn/exec/join_table.h"
#include "firn/exec/pipeline.h"

namespace firn::micro {
namespace {

/// Columns of 8 bytes each; together they have `different` values.
std::vector<VectorPtr> keys_of(size_t columns, size_t rows, uint64_t different) {
    const auto values = numbers(rows, different);
    std::vector<VectorPtr> keys;
    for (size_t column = 0; column < columns; ++column) {
        std::vector<int64_t> spread(rows);
        for (size_t i = 0; i < rows; ++i) spread[i] = values[i] * 1000003 + static_cast<int64_t>(column);
        keys.push_back(make_vector<int64_t>(int64_type(), spread));
    }
    return keys;
}

std::vector<TypePtr> types_of(const std::vector<VectorPtr>& keys) {
    std::vector<TypePtr> types;
    for (const auto& key : keys) types.push_back(key->type());
    return types;
}

constexpr size_t kRows = size_t{1} << 20;

void group(benchmark::State& state, const std::vector<VectorPtr>& keys) {
    const exec::KeyLayout layout(types_of(keys));
    const exec::GroupPayload payload{16, std::vector<char>(16), {}};
    std::vector<Batch> batches;
    for (size_t at = 0; at < kRows; at += kBatch) batches.push_back(Batch{keys, kRows}.cut(at, kBatch));
    std::vector<char*> rows(kBatch);
    size_t groups = 0;
    for (auto _ : state) {
        exec::GroupMap map(layout, payload);
        for (const Batch& batch : batches) map.find_or_insert(batch.columns, batch.rows, rows.data());
        groups = map.size();
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
    state.counters["groups"] = static_cast<double>(groups);
}

void group_numbers(benchmark::State& state) {
    group(state, keys_of(static_cast<size_t>(state.range(0)) / 8, kRows, static_cast<uint64_t>(state.range(1))));
}
BENCHMARK(group_numbers)
    ->ArgNames({"key_bytes", "keys"})
    ->ArgsProduct({{8, 16, 32, 64}, {100, 10000, 1000000}})
    ->Unit(benchmark::kMillisecond);

void group_texts(benchmark::State& state) { group(state, {url_column(kRows, static_cast<uint64_t>(state.range(0)))}); }
BENCHMARK(group_texts)->ArgName("keys")->Arg(100)->Arg(10000)->Arg(1000000)->Unit(benchmark::kMillisecond);

void group_dictionary(benchmark::State& state) { group(state, {coded(url_column(1000, 1000), kRows)}); }
BENCHMARK(group_dictionary)->Unit(benchmark::kMillisecond);

/// close: keys that lie so close together that they index an array.
std::vector<VectorPtr> build_keys(bool close, size_t columns, size_t rows) {
    if (!close) return keys_of(columns, rows, rows);
    return {number_column(rows, rows)};
}

void join_build(benchmark::State& state) {
    const auto rows = static_cast<size_t>(state.range(2));
    const auto keys = build_keys(state.range(0) != 0, static_cast<size_t>(state.range(1)) / 8, rows);
    exec::Run run(exec::ExecutionOptions{});
    for (auto _ : state) {
        exec::JoinTable table(types_of(keys), std::vector<bool>(keys.size()), false);
        table.build(run, keys, rows);
        benchmark::DoNotOptimize(table.rows());
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * rows));
}
void join_shapes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"close", "key_bytes", "rows"})->Unit(benchmark::kMillisecond);
    for (const int64_t rows : {10000, 1000000}) {
        benchmark->Args({1, 8, rows});
        for (const int64_t bytes : {8, 16, 32}) benchmark->Args({0, bytes, rows});
    }
}
BENCHMARK(join_build)->Apply(join_shapes);

void join_probe(benchmark::State& state) {
    const auto rows = static_cast<size_t>(state.range(2));
    const size_t columns = static_cast<size_t>(state.range(1)) / 8;
    const auto keys = build_keys(state.range(0) != 0, columns, rows);
    exec::Run run(exec::ExecutionOptions{});
    exec::JoinTable table(types_of(keys), std::vector<bool>(keys.size()), false);
    table.build(run, keys, rows);
    // half of the probing keys are there
    const auto wanted =
        state.range(0) ? std::vector<VectorPtr>{number_column(kRows, 2 * rows)} : keys_of(columns, kRows, 2 * rows);
    std::vector<Batch> batches;
    for (size_t at = 0; at < kRows; at += kBatch) batches.push_back(Batch{wanted, kRows}.cut(at, kBatch));
    exec::JoinTable::Probe probe(table);
    std::vector<uint32_t> first(kBatch);
    for (auto _ : state) {
        for (const Batch& batch : batches) probe.find(batch.columns, batch.rows, first.data());
        benchmark::DoNotOptimize(first.data());
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
}
BENCHMARK(join_probe)->Apply(join_shapes);

}  // namespace
}  // namespace firn::micro
