#include "firn/table/data_files.h"

#include <algorithm>

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

constexpr uint64_t kFooterAhead = 64 << 10;  // as readers of columnar files begin with

std::string footer_key(const iceberg::TableFiles& table, const storage::ObjectInfo& info) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\nfooter", table.store().identity(), info.path, info.size,
                       info.modified_us, info.etag, info.table);
}

/// A manifest may be wrong about a file's size; what is read by it is then no file of its format.
std::shared_ptr<const file::DataFile> open_remote(const iceberg::TableFiles& table,
                                                  const std::shared_ptr<const storage::OpenFile>& opened,
                                                  file::Format format) {
    try {
        return file::open_data_file(opened, format);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::INCORRECT_DATA && error.code() != ErrorCode::CANNOT_READ_ALL_DATA &&
            error.code() != ErrorCode::S3_ERROR && error.code() != ErrorCode::AZURE_BLOB_STORAGE_ERROR &&
            error.code() != ErrorCode::HDFS_ERROR)
            throw;
        const auto actual = table.store().try_stat(opened->info().path);
        if (!actual || actual->size == opened->size()) throw;
        return file::open_data_file(table.store().open(opened->info().path, *actual), format);
    }
}

}  // namespace

storage::ObjectInfo known_of(const iceberg::TableFiles& table, const iceberg::FileRef& file) {
    storage::ObjectInfo known;
    known.path = table.paths().resolve(file.path());
    known.table = table.metadata().table_uuid;
    known.size = static_cast<uint64_t>(std::max<int64_t>(0, file.manifest->file_size(file.entry)));
    return known;
}

FileAhead begin_opening(const iceberg::TableFiles& table, const iceberg::FileRef& file) {
    if (!table.store().is_remote()) return {};
    const storage::ObjectInfo known = known_of(table, file);
    if (table.cache() && table.cache()->has(footer_key(table, known))) return {};
    FileAhead ahead;
    ahead.file = table.store().open(known.path, known);
    const uint64_t tail = std::min(known.size, kFooterAhead);
    ahead.bytes = ahead.file->read_ahead({{known.size - tail, tail}});
    return ahead;
}

std::shared_ptr<const file::DataFile> open_file(const iceberg::TableFiles& table, const iceberg::FileRef& file,
                                                std::shared_ptr<const storage::OpenFile> ahead) {
    if (const auto key = file.manifest->key_metadata(file.entry); key && !key->empty())
        fail(ErrorCode::NOT_IMPLEMENTED, "File {} is encrypted (key_metadata); firn cannot read such files yet",
             file.path());
    const file::Format format = format_of(file);
    const storage::ObjectInfo known = known_of(table, file);
    auto opened = ahead ? std::move(ahead) : table.store().open(known.path, known);
    const auto open = [&] {
        return table.store().is_remote() ? open_remote(table, opened, format) : file::open_data_file(opened, format);
    };
    if (!table.cache()) return open();
    const auto load = [&] {
        const size_t kept = table.store().is_remote() ? kFooterBytes + kFooterAhead : kFooterBytes;
        return std::pair(open(), kept);
    };
    return table.cache()->get<file::DataFile>(footer_key(table, opened->info()), load,
                                              iceberg::MetadataCache::Kind::Footer);
}

}  // namespace firn::table
