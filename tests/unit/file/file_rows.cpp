#include "tests/unit/file/file_rows.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "firn/storage/local_store.h"
#include "firn/vector/vector_text.h"

namespace firn::file {
namespace {

class MemoryFile final : public storage::OpenFile {
public:
    MemoryFile(std::string bytes, const std::string& name) : bytes_(std::move(bytes)) {
        info_.path = name;
        info_.size = bytes_.size();
    }
    const storage::ObjectInfo& info() const noexcept override { return info_; }
    void read_at(uint64_t offset, std::span<uint8_t> out) const override {
        if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
            throw std::out_of_range("a read beyond the file");
        if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    }

private:
    std::string bytes_;
    storage::ObjectInfo info_;
};

}  // namespace

std::shared_ptr<const storage::OpenFile> open_test_file(const std::string& path) {
    return storage::local_store().open(std::string(FIRN_SOURCE_DIR) + "/" + path);
}

std::shared_ptr<const storage::OpenFile> open_bytes(std::string bytes, const std::string& name) {
    return std::make_shared<MemoryFile>(std::move(bytes), name);
}

std::string read_test_file(const std::string& path) {
    return storage::local_store().read_all(std::string(FIRN_SOURCE_DIR) + "/" + path, uint64_t{1} << 30);
}

std::vector<std::string> test_files(const std::string& folder, const std::string& part) {
    std::vector<std::string> files;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(FIRN_SOURCE_DIR) + "/" + folder)) {
        const std::string path = entry.path().string().substr(std::strlen(FIRN_SOURCE_DIR) + 1);
        if (entry.is_regular_file() && path.find(part) != std::string::npos) files.push_back(path);
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> read_rows(UnitReader& reader, size_t columns, uint64_t begin, size_t count,
                                   const Selection* selection) {
    std::vector<std::string> rows(selection ? selection->size() : count);
    for (size_t i = 0; i < columns; ++i) {
        const VectorPtr vector = reader.read(i, begin, count, selection);
        if (vector->size() != rows.size()) throw std::runtime_error("a vector of the wrong size");
        for (size_t row = 0; row < rows.size(); ++row) {
            if (i) rows[row] += '\t';
            append_quoted_text(rows[row], *vector, row);
        }
    }
    return rows;
}

std::vector<std::string> rows_of(const DataFile& file, const std::vector<ReadField>& columns, size_t rows_at_once) {
    std::vector<std::string> rows;
    for (size_t unit = 0; unit < file.units(); ++unit) {
        const auto reader = file.read_unit(unit, columns);
        for (uint64_t begin = 0; begin < file.unit_rows(unit); begin += rows_at_once) {
            const size_t count = std::min<uint64_t>(rows_at_once, file.unit_rows(unit) - begin);
            for (auto& row : read_rows(*reader, columns.size(), begin, count, nullptr)) rows.push_back(std::move(row));
        }
    }
    return rows;
}

std::vector<std::string> rows_of(const DataFile& file, size_t rows_at_once) {
    std::vector<ReadField> columns;
    for (const auto& field : file.fields()) columns.push_back(read_whole(field));
    return rows_of(file, columns, rows_at_once);
}

std::string fields_of(const DataFile& file) {
    std::string out;
    for (const auto& field : file.fields()) out += (out.empty() ? "" : ", ") + field.name + " " + field.type->name();
    return out;
}

const FileField& field_of(const DataFile& file, const std::string& name) {
    for (const auto& field : file.fields())
        if (field.name == name) return field;
    throw std::out_of_range("no field " + name);
}

}  // namespace firn::file
