#include "firn/table/data_files.h"

#include <fmt/format.h>

#include "firn/base/error.h"

namespace firn::table {
namespace {

/// What an open file's footer takes in memory, about: so many bytes for each of its own up to the limit.
constexpr size_t kFooterBytes = 16 << 10;

file::Format format_of(const iceberg::FileRef& file) {
    switch (file.manifest->format(file.entry)) {
        case iceberg::FileFormat::Parquet:
            return file::Format::Parquet;
        case iceberg::FileFormat::Orc:
            return file::Format::ORC;
        case iceberg::FileFormat::Avro:
            return file::Format::Avro;
        default:
            fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION,
                 "Manifest {}: file {} has a format that is none of Parquet, ORC, Avro", file.manifest->file(),
                 file.path());
    }
}

}  // namespace

std::shared_ptr<const file::DataFile> open_file(const iceberg::TableFiles& table, const iceberg::FileRef& file) {
    if (const auto key = file.manifest->key_metadata(file.entry); key && !key->empty())
        fail(ErrorCode::NOT_IMPLEMENTED, "File {} is encrypted (key_metadata); firn cannot read such files yet",
             file.path());
    const file::Format format = format_of(file);
    const std::string path = table.paths().resolve(file.path());
    auto opened = table.store().open(path);
    if (!table.cache()) return file::open_data_file(std::move(opened), format);
    const auto& info = opened->info();
    const std::string key = fmt::format("{}\n{}\n{}\n{}\nfooter", info.path, info.size, info.modified_us, info.etag);
    return table.cache()->get<file::DataFile>(
        key, [&] { return std::pair(file::open_data_file(opened, format), kFooterBytes); });
}

}  // namespace firn::table
