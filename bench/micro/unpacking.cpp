// From packed bits and codes to values.
#include <benchmark/benchmark.h>

#include "bench/micro/columns.h"
#include "firn/file/parquet/bit_unpack.h"
#include "firn/file/parquet/hybrid.h"

namespace firn::micro {
namespace {

std::vector<uint8_t> random_bytes(size_t n) {
    std::vector<uint8_t> bytes(n + 64);
    std::mt19937_64 random(n);
    for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
}

template <auto unpack>
void unpack_width(benchmark::State& state) {
    const int width = static_cast<int>(state.range(0));
    const auto bytes = random_bytes(kBatch * static_cast<size_t>(width) / 8);
    std::vector<uint32_t> out(kBatch);
    for (auto _ : state) {
        unpack(bytes.data(), bytes.data() + bytes.size(), 0, kBatch, width, out.data());
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}
BENCHMARK(unpack_width<file::pq::unpack_bits>)
    ->Name("unpack_bits")
    ->DenseRange(1, 12)
    ->Arg(16)
    ->Arg(20)
    ->Arg(24)
    ->Arg(32);
BENCHMARK(unpack_width<file::pq::unpack_bits_portable>)->Name("unpack_bits_portable")->Arg(1)->Arg(7)->Arg(20);

/// A page's codes: all packed (run of 0 rows), or every other run one repeated code.
void read_codes(benchmark::State& state) {
    constexpr int kWidth = 10;
    const auto run = static_cast<uint8_t>(state.range(0));
    std::vector<uint8_t> page;
    const auto bytes = random_bytes(kBatch * kWidth / 8);
    for (size_t values = 0, at = 0; values < kBatch;) {
        constexpr uint8_t kGroups = 8;  // of 8 values
        page.push_back(kGroups << 1 | 1);
        page.insert(page.end(), bytes.begin() + static_cast<long>(at),
                    bytes.begin() + static_cast<long>(at + kGroups * kWidth));
        at += kGroups * kWidth;
        values += kGroups * 8;
        if (run) {
            page.insert(page.end(), {static_cast<uint8_t>(run << 1), 3, 0});
            values += run;
        }
    }
    page.resize(page.size() + 64);
    std::vector<uint32_t> out(kBatch);
    for (auto _ : state) {
        file::pq::HybridReader reader(page.data(), page.data() + page.size(), kWidth);
        reader.read(kBatch, out.data());
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}
BENCHMARK(read_codes)->ArgName("run")->Arg(0)->Arg(60);

/// What an operator without an encoded form pays: codes to values.
void flatten_dictionary(benchmark::State& state) {
    const auto entries = static_cast<size_t>(state.range(1));
    const VectorPtr base = state.range(0) ? url_column(entries, entries) : number_column(entries, entries);
    const VectorPtr vector = coded(base, kBatch);
    for (auto _ : state) benchmark::DoNotOptimize(flatten(vector));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}
BENCHMARK(flatten_dictionary)->ArgNames({"texts", "entries"})->ArgsProduct({{0, 1}, {16, 4096, 262144}});

/// Dense values to their places among NULLs; percent of them NULL.
void spread_among_nulls(benchmark::State& state) {
    const auto values = random_bytes(kBatch * sizeof(uint64_t));
    std::vector<uint8_t> valid(kBatch);
    const auto percent = numbers(kBatch, 100);
    for (size_t i = 0; i < kBatch; ++i) valid[i] = percent[i] >= state.range(0);
    std::vector<uint64_t> out(kBatch);
    for (auto _ : state) {
        file::pq::spread_values(reinterpret_cast<const uint64_t*>(values.data()), valid.data(), kBatch, uint64_t{0},
                                out.data());
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}
BENCHMARK(spread_among_nulls)->ArgName("null_percent")->Arg(2)->Arg(50);

}  // namespace
}  // namespace firn::micro
