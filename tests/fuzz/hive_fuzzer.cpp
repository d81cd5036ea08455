// What a Hive metastore answers to each call.
#include <cstring>

#include "firn/base/error.h"
#include "firn/catalog/hive_replies.h"

namespace {

template <typename Read>
void refusing(const uint8_t* data, size_t size, Read&& read) {
    const uint8_t* at = data;
    firn::catalog::ThriftReader in([&](uint8_t* to, uint32_t wanted) {
        if (wanted > static_cast<size_t>(data + size - at)) firn::fail(firn::ErrorCode::NETWORK_ERROR, "cut");
        std::memcpy(to, at, wanted);
        at += wanted;
    });
    try {
        read(in);
    } catch (const firn::Error&) {
        // refused with a code: as it should be
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn::catalog;
    constexpr size_t most = 300;
    refusing(data, size, [](ThriftReader& in) {
        std::vector<std::string> names;
        read_names(in, names);
    });
    refusing(data, size, [](ThriftReader& in) {
        std::vector<HiveTable> tables;
        read_tables(in, most, tables);
    });
    refusing(data, size, [](ThriftReader& in) {
        HiveTable table;
        read_table(in, table);
    });
    return 0;
}
