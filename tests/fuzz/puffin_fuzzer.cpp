// Puffin files, their blobs, and deletion vectors: both those of a file and the whole input as one.
#include "firn/file/puffin/puffin.h"
#include "firn/iceberg/deletion_vector.h"
#include "memory_file.h"

namespace {

void read_vector(std::string_view blob) {
    auto vector = firn::iceberg::DeletionVector::parse(blob, "input");
    std::vector<uint32_t> some;
    vector->positions(0, 100000, some);
    if (some.size() != vector->count(0, 100000)) std::abort();
    for (uint32_t position : some) {
        if (!vector->contains(position)) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn;
    try {
        read_vector({reinterpret_cast<const char*>(data), size});
    } catch (const Error&) {
    }
    try {
        fuzz::MemoryFile file(data, size);
        for (const auto& blob : file::puffin::read_footer(file).blobs) {
            try {
                read_vector(file::puffin::read_blob(file, blob));
            } catch (const Error&) {
            }
        }
    } catch (const Error&) {
    }
    return 0;
}
