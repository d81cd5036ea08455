// Decompression of pages, against which the readers' own work is to be seen.
#include <benchmark/benchmark.h>

#include <arrow/util/compression.h>

#include "bench/micro/columns.h"
#include "firn/file/parquet/codec.h"

namespace firn::micro {
namespace {

enum Content : int64_t { kNumbers, kUrls };

/// About 1 MiB as a page of plain values has it.
std::string page_of(int64_t content) {
    std::string page;
    if (content == kNumbers) {
        const auto values = numbers(131072, 100000);
        page.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
        return page;
    }
    const VectorPtr urls = url_column(14000, 10000);
    for (size_t i = 0; i < urls->size(); ++i) {
        const std::string_view url = urls->values<StringRef>()[i].view();
        const auto size = static_cast<uint32_t>(url.size());
        page.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(url);
    }
    return page;
}

std::vector<uint8_t> compressed(const std::string& page, arrow::Compression::type type) {
    const auto codec = arrow::util::Codec::Create(type).ValueOrDie();
    const auto* bytes = reinterpret_cast<const uint8_t*>(page.data());
    const auto size = static_cast<int64_t>(page.size());
    std::vector<uint8_t> out(static_cast<size_t>(codec->MaxCompressedLen(size, bytes)));
    out.resize(
        static_cast<size_t>(codec->Compress(size, bytes, static_cast<int64_t>(out.size()), out.data()).ValueOrDie()));
    return out;
}

template <file::pq::Compression kOurs, arrow::Compression::type kArrows>
void decompress(benchmark::State& state) {
    const std::string page = page_of(state.range(0));
    const auto in = compressed(page, kArrows);
    std::vector<uint8_t> out(page.size());
    file::pq::Decompressor decompressor(kOurs);
    for (auto _ : state) {
        decompressor.decompress(in, out);
        benchmark::DoNotOptimize(out.data());
    }
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * page.size()));
    state.counters["ratio"] = static_cast<double>(page.size()) / static_cast<double>(in.size());
}
BENCHMARK(decompress<file::pq::Compression::Zstd, arrow::Compression::ZSTD>)
    ->Name("decompress_zstd")
    ->ArgName("urls")
    ->Arg(kNumbers)
    ->Arg(kUrls);
BENCHMARK(decompress<file::pq::Compression::Snappy, arrow::Compression::SNAPPY>)
    ->Name("decompress_snappy")
    ->ArgName("urls")
    ->Arg(kNumbers)
    ->Arg(kUrls);
BENCHMARK(decompress<file::pq::Compression::Lz4Raw, arrow::Compression::LZ4>)
    ->Name("decompress_lz4")
    ->ArgName("urls")
    ->Arg(kNumbers)
    ->Arg(kUrls);
BENCHMARK(decompress<file::pq::Compression::Gzip, arrow::Compression::GZIP>)
    ->Name("decompress_gzip")
    ->ArgName("urls")
    ->Arg(kNumbers)
    ->Arg(kUrls);

}  // namespace
}  // namespace firn::micro
