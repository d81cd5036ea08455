// Runs each line of standard input as a query, all at once: a thread and an Engine for each, in one process.
//
// usage: many_queries MAX_MEMORY_BYTES
// Prints a line for each query, in order: its answer with tabs and line breaks as blanks, or "error: " and what it says;
// then "peak_rss " and the process's largest resident size in bytes.
#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "firn/engine.h"

namespace {

std::string answer_of(const std::string& query, const std::string& max_memory) {
    try {
        firn::Engine engine;
        engine.set("max_memory_usage", max_memory);
        std::string answer = engine.query(query);
        std::replace_if(
            answer.begin(), answer.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
        return answer;
    } catch (const firn::QueryError& error) {
        return std::string("error: ") + error.what();
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: many_queries MAX_MEMORY_BYTES < QUERIES\n";
        return 2;
    }
    std::vector<std::string> queries;
    for (std::string line; std::getline(std::cin, line);) queries.push_back(line);
    std::vector<std::string> answers(queries.size());
    std::latch begin(static_cast<std::ptrdiff_t>(queries.size()) + 1);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < queries.size(); ++i) {
        threads.emplace_back([&, i] {
            begin.arrive_and_wait();
            answers[i] = answer_of(queries[i], argv[1]);
        });
    }
    begin.arrive_and_wait();
    for (auto& thread : threads) thread.join();
    for (const auto& answer : answers) std::cout << answer << '\n';
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "peak_rss " << int64_t{usage.ru_maxrss} * 1024 << '\n';
}
