#include "firn/file/parquet/variant.h"
#include "firn/base/escape.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "firn/base/error.h"
#include "firn/types/value_text.h"

namespace firn::file::pq {
namespace {

constexpr int kMaxDepth = 300;

[[noreturn]] void damaged(const char* what) { fail(ErrorCode::INCORRECT_DATA, "a variant is damaged: {}", what); }

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) damaged("it is cut off");
    return bytes.substr(offset, size);
}

uint64_t number(std::string_view bytes, uint64_t offset, size_t size) {
    const std::string_view at = part(bytes, offset, size);
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(static_cast<uint8_t>(at[i])) << (8 * i);
    return value;
}

template <typename T>
T fixed(std::string_view bytes, uint64_t offset) {
    T value;
    std::memcpy(&value, part(bytes, offset, sizeof value).data(), sizeof value);
    return value;
}

/// The head of an array or object: where its parts lie.
struct Container {
    std::string_view bytes;
    uint64_t count = 0;
    size_t id_size = 0, offset_size = 0;
    uint64_t ids_at = 0, offsets_at = 0, values_at = 0;

    Container(std::string_view value, bool is_object) : bytes(value) {
        const auto header = static_cast<uint8_t>(static_cast<uint8_t>(value[0]) >> 2);
        offset_size = (header & 3u) + 1u;
        if (is_object) id_size = (header >> 2 & 3u) + 1u;
        const size_t count_size = (is_object ? header >> 4 & 1 : header >> 2 & 1) ? 4 : 1;
        count = number(value, 1, count_size);
        if (count > value.size()) damaged("it is cut off");
        ids_at = 1 + count_size;
        offsets_at = ids_at + count * id_size;
        values_at = offsets_at + (count + 1) * offset_size;
        part(value, 0, values_at);
    }
    uint64_t id(uint64_t i) const { return number(bytes, ids_at + i * id_size, id_size); }
    uint64_t offset(uint64_t i) const { return number(bytes, offsets_at + i * offset_size, offset_size); }
    std::string_view element(uint64_t i) const {
        const uint64_t from = offset(i), to = offset(i + 1);
        if (to < from) damaged("an array's offsets do not ascend");
        return part(bytes, values_at + from, to - from);
    }
    /// A field's value and whatever lies behind it: fields may be stored in any order.
    std::string_view field(uint64_t i) const {
        const uint64_t from = offset(i), end = offset(count);
        if (from > end) damaged("a field lies outside of its object");
        return part(bytes, values_at + from, end - from);
    }
};

class Writer {
public:
    Writer(std::string& out, const VariantMetadata& metadata, size_t bytes)
        : out_(out), metadata_(metadata), left_(bytes) {}

    void write(std::string_view value, int depth) {
        if (value.empty()) damaged("a value is missing");
        if (depth > kMaxDepth) damaged("it is nested too deep");
        // Each value takes a byte of its own; more of them than bytes means that they overlap.
        if (left_-- == 0) damaged("its values overlap");
        const auto head = static_cast<uint8_t>(value[0]);
        switch (head & 3) {
            case 0:
                return write_primitive(value, head >> 2);
            case 1:
                return append_json_string(out_, part(value, 1, head >> 2));
            case 2:
                return write_object(value, depth);
            default:
                return write_array(value, depth);
        }
    }

private:
    void write_array(std::string_view value, int depth) {
        const Container array(value, false);
        out_ += '[';
        for (uint64_t i = 0; i < array.count; ++i) {
            if (i) out_ += ',';
            write(array.element(i), depth + 1);
        }
        out_ += ']';
    }
    void write_object(std::string_view value, int depth) {
        const Container object(value, true);
        out_ += '{';
        for (uint64_t i = 0; i < object.count; ++i) {
            if (i) out_ += ',';
            append_json_string(out_, metadata_.name(object.id(i)));
            out_ += ':';
            write(object.field(i), depth + 1);
        }
        out_ += '}';
    }
    template <typename T>
    void write_decimal(std::string_view value) {
        const auto scale = fixed<uint8_t>(value, 1);
        if (scale > 38) damaged("a decimal's scale is out of range");
        append_decimal(out_, Int128{fixed<T>(value, 2)}, scale);
    }
    std::string_view sized(std::string_view value) const { return part(value, 5, number(value, 1, 4)); }

    void write_primitive(std::string_view value, int kind) {
        switch (kind) {
            case 0:
                out_ += "null";
                return;
            case 1:
                out_ += "true";
                return;
            case 2:
                out_ += "false";
                return;
            case 3:
                return append_int(out_, fixed<int8_t>(value, 1));
            case 4:
                return append_int(out_, fixed<int16_t>(value, 1));
            case 5:
                return append_int(out_, fixed<int32_t>(value, 1));
            case 6:
                return append_int(out_, fixed<int64_t>(value, 1));
            case 7:
                return append_json_float(out_, fixed<double>(value, 1));
            case 8:
                return write_decimal<int32_t>(value);
            case 9:
                return write_decimal<int64_t>(value);
            case 10:
                return write_decimal<Int128>(value);
            case 11:
                return append_json_date(out_, fixed<int32_t>(value, 1));
            case 12:
                return append_json_timestamp(out_, fixed<int64_t>(value, 1), 6, true);
            case 13:
                return append_json_timestamp(out_, fixed<int64_t>(value, 1), 6, false);
            case 14:
                return append_json_float(out_, fixed<float>(value, 1));
            case 15:
                return append_json_base64(out_, sized(value));
            case 16:
                return append_json_string(out_, sized(value));
            case 17:
                return append_json_time(out_, fixed<int64_t>(value, 1), 6);
            case 18:
                return append_json_timestamp(out_, fixed<int64_t>(value, 1), 9, true);
            case 19:
                return append_json_timestamp(out_, fixed<int64_t>(value, 1), 9, false);
            case 20: {
                UInt128 uuid = 0;
                for (char byte : part(value, 1, 16)) uuid = uuid << 8 | static_cast<uint8_t>(byte);
                return append_json_uuid(out_, uuid);
            }
            default:
                fail(ErrorCode::NOT_IMPLEMENTED, "a variant holds a value of type {}, which is not known", kind);
        }
    }

    std::string& out_;
    const VariantMetadata& metadata_;
    size_t left_;
};

}  // namespace

VariantMetadata::VariantMetadata(std::string_view bytes) : bytes_(bytes) {
    if (bytes.empty()) damaged("its metadata are empty");
    const auto header = static_cast<uint8_t>(bytes[0]);
    if ((header & 15) != 1)
        fail(ErrorCode::NOT_IMPLEMENTED, "a variant is of version {}, which is not known", header & 15);
    offset_size_ = (header >> 6) + 1u;
    size_ = number(bytes, 1, offset_size_);
    if (size_ > bytes.size()) damaged("its metadata are cut off");
    part(bytes, 0, 1 + (size_ + 2) * offset_size_);
}

std::string_view VariantMetadata::name(uint64_t id) const {
    if (id >= size_) damaged("a field's name is not in its metadata");
    const uint64_t offsets = 1 + offset_size_;
    const uint64_t from = number(bytes_, offsets + id * offset_size_, offset_size_);
    const uint64_t to = number(bytes_, offsets + (id + 1) * offset_size_, offset_size_);
    if (to < from) damaged("its metadata contradict themselves");
    return part(bytes_, offsets + (size_ + 1) * offset_size_ + from, to - from);
}

size_t VariantMetadata::size() const {
    const uint64_t names = 1 + (size_ + 2) * offset_size_;
    const uint64_t length = number(bytes_, 1 + (size_ + 1) * offset_size_, offset_size_);
    part(bytes_, names, length);
    return names + length;
}

void append_variant(std::string& out, const VariantMetadata& metadata, std::string_view value) {
    Writer(out, metadata, value.size()).write(value, 0);
}

bool variant_fields(const VariantMetadata& metadata, std::string_view value, VariantFields& out) {
    if (value.empty()) damaged("a value is missing");
    if ((value[0] & 3) != 2) return false;
    const Container object(value, true);
    for (uint64_t i = 0; i < object.count; ++i) out.emplace_back(metadata.name(object.id(i)), object.field(i));
    return true;
}

}  // namespace firn::file::pq
