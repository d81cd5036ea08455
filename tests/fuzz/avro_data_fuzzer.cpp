// Avro data files: schema, blocks, every column as vectors.
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    return firn::fuzz::read_data_file(data, size, firn::file::open_avro);
}
