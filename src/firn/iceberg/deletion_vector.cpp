#include "firn/iceberg/deletion_vector.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <roaring/roaring.h>

#include "firn/base/error.h"

namespace firn::iceberg {

namespace {

constexpr uint32_t kMagic = 0x6439d3d1;  // bytes D1 D3 39 64, read little-endian
constexpr uint32_t kCookieWithRuns = 12347;
constexpr uint32_t kCookie = 12346;
constexpr uint32_t kMaxArrayCardinality = 4096;
constexpr uint32_t kBitsetBytes = 8192;
constexpr uint32_t kMinContainersWithOffsets = 4;
constexpr uint64_t kMaxAll = uint64_t{1} << 30;

/// Little-endian numbers from the front of a view.
class ByteReader {
public:
    ByteReader(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

    size_t left() const { return bytes_.size(); }
    std::string_view rest() const { return bytes_; }

    template <typename Int>
    Int read() {
        std::string_view raw = take(sizeof(Int));
        Int value;
        std::memcpy(&value, raw.data(), sizeof value);
        return value;
    }

    std::string_view take(size_t size) {
        if (size > bytes_.size()) bad("the bitmap ends too early");
        std::string_view taken = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return taken;
    }

    [[noreturn]] void bad(std::string_view what) const {
        fail(ErrorCode::INCORRECT_DATA, "{}: damaged deletion vector: {}", file_, what);
    }

private:
    std::string_view bytes_;
    std::string_view file_;
};

uint32_t big_endian_32(std::string_view bytes) {
    uint32_t value = 0;
    for (char byte : bytes.substr(0, 4)) value = value << 8 | static_cast<uint8_t>(byte);
    return value;
}

void check_array(ByteReader& reader, uint32_t cardinality) {
    ByteReader values(reader.take(size_t{cardinality} * 2), "");
    int32_t before = -1;
    for (uint32_t i = 0; i < cardinality; ++i) {
        int32_t value = values.read<uint16_t>();
        if (value <= before) reader.bad("an array container is not sorted");
        before = value;
    }
}

void check_bitset(ByteReader& reader, uint32_t cardinality) {
    ByteReader words(reader.take(kBitsetBytes), "");
    uint32_t bits = 0;
    while (words.left() > 0) bits += static_cast<uint32_t>(__builtin_popcountll(words.read<uint64_t>()));
    if (bits != cardinality) reader.bad("a bitset container has another cardinality than its header says");
}

void check_runs(ByteReader& reader, uint32_t cardinality) {
    uint32_t runs = reader.read<uint16_t>();
    int32_t end = -1;
    uint32_t values = 0;
    for (uint32_t i = 0; i < runs; ++i) {
        int32_t start = reader.read<uint16_t>();
        int32_t last = start + reader.read<uint16_t>();
        if (start <= end || last > UINT16_MAX) reader.bad("a run container is not sorted");
        end = last;
        values += static_cast<uint32_t>(last - start) + 1;
    }
    if (values != cardinality) reader.bad("a run container has another cardinality than its header says");
}

/// Walks one 32-bit bitmap of the portable format and checks it whole, since the library trusts what is inside
/// containers. Leaves the reader behind it.
void check_bitmap(ByteReader& reader) {
    uint32_t cookie = reader.read<uint32_t>();
    bool has_runs = (cookie & 0xffff) == kCookieWithRuns;
    if (!has_runs && cookie != kCookie) reader.bad("no bitmap begins here");
    uint32_t containers = has_runs ? (cookie >> 16) + 1 : reader.read<uint32_t>();
    if (containers > 65536) reader.bad("too many containers");
    std::string_view run_bits;
    if (has_runs) run_bits = reader.take((containers + 7) / 8);
    ByteReader headers(reader.take(size_t{containers} * 4), "");
    if (!has_runs || containers >= kMinContainersWithOffsets) reader.take(size_t{containers} * 4);
    int32_t key_before = -1;
    for (uint32_t i = 0; i < containers; ++i) {
        int32_t key = headers.read<uint16_t>();
        uint32_t cardinality = uint32_t{headers.read<uint16_t>()} + 1;
        if (key <= key_before) reader.bad("the containers are not sorted");
        key_before = key;
        if (has_runs && (static_cast<uint8_t>(run_bits[i / 8]) >> (i % 8) & 1) != 0) {
            check_runs(reader, cardinality);
        } else if (cardinality > kMaxArrayCardinality) {
            check_bitset(reader, cardinality);
        } else {
            check_array(reader, cardinality);
        }
    }
}

/// The bitmaps' bytes out of the blob's frame.
std::string_view unwrap(std::string_view blob, std::string_view file) {
    auto bad = [&](std::string_view what) {
        fail(ErrorCode::INCORRECT_DATA, "{}: damaged deletion vector: {}", file, what);
    };
    constexpr size_t kFrame = 4 + 4 + 4;  // length, magic, checksum
    if (blob.size() < kFrame) bad("too short");
    // The length counts the magic and the bitmaps.
    if (uint64_t{big_endian_32(blob)} + 8 != blob.size()) bad("its length is not that of the blob");
    std::string_view summed = blob.substr(4, blob.size() - 8);
    uint32_t magic;
    std::memcpy(&magic, summed.data(), sizeof magic);
    if (magic != kMagic) bad("it begins with other magic bytes");
    auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(summed.data()), summed.size());
    if (static_cast<uint32_t>(sum) != big_endian_32(blob.substr(blob.size() - 4))) bad("its checksum is wrong");
    return summed.substr(4);
}

}  // namespace

struct DeletionVector::Bitmaps {
    struct Part {
        uint32_t key;  ///< the upper 32 bits
        roaring_bitmap_t* bitmap;
    };
    std::vector<Part> parts;
    uint64_t cardinality = 0;

    ~Bitmaps() {
        for (Part& part : parts) roaring_bitmap_free(part.bitmap);
    }
};

DeletionVector::DeletionVector() : bitmaps_(std::make_unique<Bitmaps>()) {}
DeletionVector::~DeletionVector() = default;

std::shared_ptr<const DeletionVector> DeletionVector::parse(std::string_view blob, std::string_view file,
                                                            std::optional<int64_t> cardinality) {
    ByteReader reader(unwrap(blob, file), file);
    auto count = reader.read<uint64_t>();
    if (count > reader.left() / 12) reader.bad("too many bitmaps");
    std::shared_ptr<DeletionVector> vector(new DeletionVector);
    Bitmaps& out = *vector->bitmaps_;
    int64_t key_before = -1;
    for (uint64_t i = 0; i < count; ++i) {
        int64_t key = reader.read<uint32_t>();
        if (key <= key_before || key > INT32_MAX) reader.bad("the bitmaps' keys are not sorted positive numbers");
        key_before = key;
        std::string_view bytes = reader.rest();
        check_bitmap(reader);
        bytes = bytes.substr(0, bytes.size() - reader.left());
        roaring_bitmap_t* bitmap = roaring_bitmap_portable_deserialize_safe(bytes.data(), bytes.size());
        if (!bitmap) reader.bad("a bitmap cannot be read");
        out.parts.push_back({static_cast<uint32_t>(key), bitmap});
        out.cardinality += roaring_bitmap_get_cardinality(bitmap);
    }
    if (reader.left() != 0) reader.bad("bytes follow the last bitmap");
    if (cardinality && out.cardinality != static_cast<uint64_t>(*cardinality)) {
        reader.bad(fmt::format("it holds {} positions, the manifest says {}", out.cardinality, *cardinality));
    }
    return vector;
}

uint64_t DeletionVector::cardinality() const { return bitmaps_->cardinality; }

size_t DeletionVector::memory_bytes() const {
    size_t bytes = sizeof(Bitmaps);
    for (const Bitmaps::Part& part : bitmaps_->parts)
        bytes += sizeof(part) + sizeof(*part.bitmap) + roaring_bitmap_size_in_bytes(part.bitmap);
    return bytes;
}

bool DeletionVector::contains(uint64_t position) const {
    for (const Bitmaps::Part& part : bitmaps_->parts) {
        if (part.key == position >> 32) return roaring_bitmap_contains(part.bitmap, static_cast<uint32_t>(position));
    }
    return false;
}

namespace {

/// Calls visit(position) for each position in [begin, end) of one bitmap.
template <typename Visit>
void visit_part(const roaring_bitmap_t* bitmap, uint32_t key, uint64_t begin, uint64_t end, const Visit& visit) {
    uint64_t base = uint64_t{key} << 32;
    if (end <= base || begin > (base | UINT32_MAX)) return;
    roaring_uint32_iterator_t at;
    roaring_init_iterator(bitmap, &at);
    if (begin > base && !roaring_move_uint32_iterator_equalorlarger(&at, static_cast<uint32_t>(begin - base))) return;
    std::array<uint32_t, 256> block;
    while (const uint32_t read = roaring_read_uint32_iterator(&at, block.data(), block.size())) {
        for (uint32_t i = 0; i < read; ++i) {
            if ((base | block[i]) >= end) return;
            visit(base | block[i]);
        }
    }
}

}  // namespace

uint64_t DeletionVector::count(uint64_t begin, uint64_t end) const {
    uint64_t total = 0;
    for (const Bitmaps::Part& part : bitmaps_->parts) {
        uint64_t base = uint64_t{part.key} << 32;
        uint64_t from = std::max(begin, base);
        uint64_t to = std::min(end, base + (uint64_t{1} << 32));
        if (from < to) total += roaring_bitmap_range_cardinality(part.bitmap, from - base, to - base);
    }
    return total;
}

void DeletionVector::positions(uint64_t begin, uint64_t end, std::vector<uint32_t>& out) const {
    if (end > begin && end - begin > uint64_t{UINT32_MAX} + 1) {
        fail(ErrorCode::LOGICAL_ERROR, "positions of a deletion vector asked for over more than 2^32 rows");
    }
    for (const Bitmaps::Part& part : bitmaps_->parts) {
        visit_part(part.bitmap, part.key, begin, end,
                   [&](uint64_t position) { out.push_back(static_cast<uint32_t>(position - begin)); });
    }
}

std::vector<uint64_t> DeletionVector::all() const {
    // A few bytes of runs can stand for billions of positions.
    if (bitmaps_->cardinality > kMaxAll) {
        fail(ErrorCode::LIMIT_EXCEEDED, "A deletion vector of {} positions, more than {}", bitmaps_->cardinality,
             kMaxAll);
    }
    std::vector<uint64_t> out;
    out.reserve(bitmaps_->cardinality);
    for (const Bitmaps::Part& part : bitmaps_->parts) {
        visit_part(part.bitmap, part.key, 0, UINT64_MAX, [&](uint64_t position) { out.push_back(position); });
    }
    return out;
}

}  // namespace firn::iceberg
