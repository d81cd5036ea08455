#include "firn/file/data_file.h"

#include <cstring>

#include "firn/base/error.h"

namespace firn::file {

std::shared_ptr<const DataFile> open_data_file(std::shared_ptr<const storage::OpenFile> file, Format format) {
    switch (format) {
        case Format::Parquet:
            return open_parquet(std::move(file));
        case Format::ORC:
            return open_orc(std::move(file));
        case Format::Avro:
            return open_avro(std::move(file));
    }
    fail(ErrorCode::LOGICAL_ERROR, "No format of data files has number {}", static_cast<int>(format));
}

std::optional<Format> detect_format(const storage::OpenFile& file) {
    constexpr size_t kMagic = 4;
    if (file.size() < kMagic) return std::nullopt;
    uint8_t first[kMagic], last[kMagic];
    file.read_at(0, first);
    file.read_at(file.size() - kMagic, last);
    if (std::memcmp(first, "Obj\1", kMagic) == 0) return Format::Avro;
    if (std::memcmp(first, "ORC", 3) == 0 || std::memcmp(last, "ORC", 3) == 0) return Format::ORC;
    if (std::memcmp(last, "PAR1", kMagic) == 0 || std::memcmp(last, "PARE", kMagic) == 0) return Format::Parquet;
    return std::nullopt;
}

}  // namespace firn::file
