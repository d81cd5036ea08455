// Parquet files: footer, indexes, pages of every encoding, every column.
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    return firn::fuzz::read_data_file(data, size, firn::file::open_parquet);
}
