// Deletion vectors' bitmaps: the input in a right frame, since a wrong checksum would stop nearly every mutation.
#include <zlib.h>

#include <cstdlib>
#include <string>

#include "firn/base/error.h"
#include "firn/iceberg/deletion_vector.h"

namespace {

std::string big_endian(uint32_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string body("\xd1\xd3\x39\x64", 4);
    body.append(reinterpret_cast<const char*>(data), size);
    auto sum = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()));
    std::string blob = big_endian(static_cast<uint32_t>(body.size())) + body + big_endian(sum);
    try {
        auto vector = firn::iceberg::DeletionVector::parse(blob, "input");
        constexpr uint64_t kRows = 200'000;
        std::vector<uint32_t> some;
        vector->positions(0, kRows, some);
        if (some.size() != vector->count(0, kRows)) std::abort();
        for (size_t i = 0; i < some.size(); ++i) {
            if (!vector->contains(some[i]) || (i > 0 && some[i] <= some[i - 1])) std::abort();
        }
        if (vector->cardinality() < kRows && vector->all().size() != vector->cardinality()) std::abort();
    } catch (const firn::Error&) {
    }
    return 0;
}
