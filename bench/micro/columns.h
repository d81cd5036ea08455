// Columns for the micro-benchmarks. Same values on every run.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "firn/vector/builder.h"
#include "firn/vector/vector.h"

namespace firn::micro {

constexpr size_t kBatch = 8192;  // rows of a batch, as execution has them

inline TypePtr int64_type() { return make_type(TypeId::Int64); }
inline TypePtr string_type() { return make_type(TypeId::String); }

/// n numbers of 0 … below - 1.
inline std::vector<int64_t> numbers(size_t n, uint64_t below) {
    std::mt19937_64 random(n + below);
    std::vector<int64_t> out(n);
    for (auto& number : out) number = static_cast<int64_t>(random() % below);
    return out;
}

inline VectorPtr number_column(size_t n, uint64_t below) {
    return make_vector<int64_t>(int64_type(), numbers(n, below));
}

/// Texts like addresses of web pages, `different` of them; about one in ten holds "google".
inline VectorPtr url_column(size_t n, uint64_t different) {
    std::vector<std::string> urls;
    for (const int64_t number : numbers(n, different))
        urls.push_back("https://www." + std::string(number % 10 ? "example" : "google") + ".com/articles/" +
                       std::to_string(number * 7919) + "/page?session=" + std::to_string(number * 104729));
    return make_string_vector(string_type(), urls);
}

/// n codes into base.
inline VectorPtr coded(const VectorPtr& base, size_t n) {
    auto codes = Buffer::allocate(n * sizeof(uint32_t));
    const auto chosen = numbers(n, base->size());
    for (size_t i = 0; i < n; ++i) codes->mutable_as<uint32_t>()[i] = static_cast<uint32_t>(chosen[i]);
    return Vector::dictionary(base, n, std::move(codes));
}

/// n rows in runs of `length` rows, each of the next row of base.
inline VectorPtr runs(const VectorPtr& base, size_t n, size_t length) {
    const size_t count = (n + length - 1) / length;
    std::vector<uint32_t> rows(count);
    auto ends = Buffer::allocate(count * sizeof(uint32_t));
    for (size_t i = 0; i < count; ++i) {
        rows[i] = static_cast<uint32_t>(i % base->size());
        ends->mutable_as<uint32_t>()[i] = static_cast<uint32_t>(std::min(n, (i + 1) * length));
    }
    return Vector::run_length(flatten(gather(base, rows)), n, std::move(ends));
}

}  // namespace firn::micro
