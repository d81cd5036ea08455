// Table metadata JSON, plain or compressed, and what hangs on it: schemas, specs, name mappings.
#include <string_view>

#include "firn/base/error.h"
#include "firn/iceberg/metadata.h"
#include "firn/iceberg/metadata_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn;
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    std::string storage;
    try {
        bytes = iceberg::metadata_text(bytes, "v1.metadata.json", storage);
    } catch (const Error&) {
        return 0;
    }
    try {
        (void)iceberg::parse_metadata_stamp(bytes, "v1.metadata.json");
    } catch (const Error&) {
    }
    try {
        (void)iceberg::parse_name_mapping(bytes, "name mapping");
    } catch (const Error&) {
    }
    try {
        (void)iceberg::parse_table_metadata(bytes, "v1.metadata.json");
    } catch (const Error&) {
    }
    return 0;
}
