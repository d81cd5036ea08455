// Avro containers: header, schema, every block decompressed, every value of it walked.
#include <algorithm>
#include <string>
#include <string_view>

#include "firn/base/error.h"
#include "firn/file/avro/container.h"
#include "firn/file/avro/cursor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn;
    using namespace firn::file::avro;
    constexpr uint64_t kLimit = 1 << 24;
    try {
        Container container({reinterpret_cast<const char*>(data), size}, "fuzz.avro");
        for (const RawBlock& block : container.blocks()) {
            std::string bytes;
            container.decompress(block, bytes, kLimit);
            Cursor cursor(bytes);
            int64_t objects = std::min<int64_t>(block.objects, 100'000);
            for (int64_t i = 0; i < objects; ++i) skip_value(container.schema(), container.schema().root_id(), cursor);
        }
    } catch (const Error&) {
    }
    return 0;
}
