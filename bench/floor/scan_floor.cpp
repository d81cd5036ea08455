// The floor under a scan: CPU time of decompressing all pages of some columns of Parquet files, and of nothing else.
//
// usage: firn_scan_floor COLUMN[,COLUMN…] FILE…     prints milliseconds, the least of ten rounds, and bytes
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "firn/base/error.h"
#include "firn/file/parquet/file.h"
#include "firn/file/parquet/pages.h"
#include "firn/storage/local_store.h"

namespace {

using namespace firn;

double cpu_milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Bytes that all pages of the chunks of the leaves `names` hold.
uint64_t decompress(const file::pq::ParquetFile& file, const std::vector<std::string>& names) {
    uint64_t bytes = 0;
    for (size_t unit = 0; unit < file.units(); ++unit)
        for (const file::pq::Node* node : file.schema().by_field) {
            if (!node || node->kind != file::pq::Node::Kind::Leaf) continue;
            if (std::find(names.begin(), names.end(), node->leaf.path) == names.end()) continue;
            file::pq::PageWalker walker(file.file(), file.group(unit).columns[static_cast<size_t>(node->leaf.column)]);
            while (walker.next()) bytes += walker.content(walker.page()).bytes.size();
        }
    return bytes;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == ',')
            parts.emplace_back();
        else
            parts.back().push_back(c);
    return parts;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs("usage: firn_scan_floor COLUMN[,COLUMN...] FILE...\n", stderr);
        return 2;
    }
    try {
        file::pq::PageCache::instance().begin_statement(false);
        const auto names = split(argv[1]);
        storage::LocalStore store;
        std::vector<std::unique_ptr<file::pq::ParquetFile>> files;
        for (int i = 2; i < argc; ++i)
            files.push_back(
                std::make_unique<file::pq::ParquetFile>(store.open(std::filesystem::absolute(argv[i]).string())));
        double least = 1e300;
        uint64_t bytes = 0;
        for (int round = 0; round < 10; ++round) {
            const double begin = cpu_milliseconds();
            bytes = 0;
            for (const auto& file : files) bytes += decompress(*file, names);
            least = std::min(least, cpu_milliseconds() - begin);
        }
        std::printf("%.2f %llu\n", least, static_cast<unsigned long long>(bytes));
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
