// A file whose bytes are the fuzzer's input, and the reading of everything in a data file.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "firn/base/error.h"
#include "firn/file/data_file.h"
#include "firn/storage/object_store.h"

namespace firn::fuzz {

class MemoryFile final : public storage::OpenFile {
public:
    MemoryFile(const uint8_t* data, size_t size) : bytes_(data, data + size) {
        info_.path = "input";
        info_.size = size;
    }

    const storage::ObjectInfo& info() const noexcept override { return info_; }
    void read_at(uint64_t offset, std::span<uint8_t> out) const override {
        if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
            fail(ErrorCode::CANNOT_READ_ALL_DATA, "input ends before byte {}", offset + out.size());
        }
        if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    }
    std::span<const uint8_t> map() const override { return bytes_; }

private:
    std::vector<uint8_t> bytes_;
    storage::ObjectInfo info_;
};

/// Statistics, dictionaries and rows of every column, as far as the limits below go: an input of a few bytes may claim
/// any number of rows.
inline void read_everything(const file::DataFile& data) {
    constexpr size_t kUnits = 8;
    constexpr uint64_t kRows = 20000;
    constexpr size_t kChunk = 1000;
    for (size_t unit = 0; unit < std::min(data.units(), kUnits); ++unit) {
        (void)data.unit_first_row(unit);
        std::vector<file::ReadField> columns;
        for (const file::FileField& field : data.fields()) {
            columns.push_back(file::read_whole(field));
            if (field.children.empty()) {
                (void)data.unit_statistics(unit, field.index);
                (void)data.page_statistics(unit, field.index);
                (void)data.has_bloom_filter(unit, field.index);
                (void)data.unit_dictionary(unit, field.index);
            }
        }
        size_t count = columns.size();
        auto reader = data.read_unit(unit, std::move(columns));
        uint64_t rows = std::min(data.unit_rows(unit), kRows);
        for (size_t column = 0; column < count; ++column) {
            for (uint64_t begin = 0; begin < rows; begin += 2 * kChunk) {  // every other chunk is left out
                size_t n = static_cast<size_t>(std::min<uint64_t>(kChunk, rows - begin));
                VectorPtr values = reader->read(column, begin, n, nullptr);
                if (values->size() != n) std::abort();
            }
        }
    }
}

using Opener = std::shared_ptr<const file::DataFile> (*)(std::shared_ptr<const storage::OpenFile>);

/// One input as a data file of a format. Damage is an Error; whatever else happens is a finding.
inline int read_data_file(const uint8_t* data, size_t size, Opener open) {
    try {
        read_everything(*open(std::make_shared<MemoryFile>(data, size)));
    } catch (const Error&) {
    }
    return 0;
}

}  // namespace firn::fuzz
