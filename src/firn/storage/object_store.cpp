#include "firn/storage/object_store.h"

#include "firn/base/error.h"

namespace firn::storage {

BufferPtr OpenFile::read_buffer(uint64_t offset, uint64_t length) const {
    auto buffer = Buffer::allocate(length);
    read_at(offset, {buffer->mutable_as<uint8_t>(), length});
    return buffer;
}

void ObjectStore::remove_all(std::span<const std::string> paths) {
    for (const std::string& path : paths) remove(path);
}

void ObjectStore::read(std::string_view path, uint64_t offset, std::span<uint8_t> out) const {
    open(path)->read_at(offset, out);
}

std::string ObjectStore::read_all(std::string_view path, uint64_t limit) const {
    auto file = open(path);
    if (file->size() > limit) {
        fail(ErrorCode::LIMIT_EXCEEDED, "File {} has {} bytes, more than the {} that may be read at once", path,
             file->size(), limit);
    }
    std::string bytes(file->size(), '\0');
    file->read_at(0, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
    return bytes;
}

}  // namespace firn::storage
