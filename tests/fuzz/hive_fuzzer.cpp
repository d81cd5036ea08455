// What a Hive metastore answers to each call.
#include <cstring>

#include "firn/base/error.h"
#include "firn/catalog/hive_replies.h"
#include "refusing.h"

namespace {

template <typename Read>
void refusing_read(const uint8_t* data, size_t size, Read&& read) {
    const uint8_t* at = data;
    firn::catalog::ThriftReader in([&](uint8_t* to, uint32_t wanted) {
        if (wanted > static_cast<size_t>(data + size - at)) firn::fail(firn::ErrorCode::NETWORK_ERROR, "cut");
        std::memcpy(to, at, wanted);
        at += wanted;
    });
    refusing([&] { read(in); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn::catalog;
    constexpr size_t most = 300;
    refusing_read(data, size, [](ThriftReader& in) {
        std::vector<std::string> names;
        read_names(in, names);
    });
    refusing_read(data, size, [](ThriftReader& in) {
        std::vector<HiveTable> tables;
        read_tables(in, most, tables);
    });
    refusing_read(data, size, [](ThriftReader& in) {
        HiveTable table;
        read_table(in, table);
    });
    return 0;
}
