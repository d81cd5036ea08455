#include "firn/catalog/thrift_reader.h"

#include <algorithm>

#include "firn/base/error.h"

namespace firn::catalog {
namespace {

constexpr uint64_t kMaxMessageBytes = uint64_t{1} << 30;
constexpr uint32_t kMaxTextBytes = 64U << 20;
constexpr uint32_t kStepBytes = 1U << 20;
constexpr int kMaxDepth = 64;
constexpr uint32_t kVersionMask = 0xffff0000;
constexpr uint32_t kVersion = 0x80010000;
constexpr uint32_t kKindMask = 0xff;

template <typename... Args>
[[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) {
    fail(ErrorCode::INCORRECT_DATA, "the answer is no Thrift message: {}",
         fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace

void ThriftReader::take(uint8_t* to, uint32_t size) {
    taken_ += size;
    if (taken_ > kMaxMessageBytes) bad("it is larger than {} bytes", kMaxMessageBytes);
    read_(to, size);
}

/// Big-endian.
uint64_t ThriftReader::number(uint32_t bytes) {
    uint8_t buffer[8];
    take(buffer, bytes);
    uint64_t out = 0;
    for (uint32_t i = 0; i < bytes; ++i) out = out << 8 | buffer[i];
    return out;
}

ThriftType ThriftReader::type() {
    const auto byte = static_cast<uint8_t>(number(1));
    switch (byte) {
        case 0:
        case 2:
        case 3:
        case 4:
        case 6:
        case 8:
        case 10:
        case 11:
        case 12:
        case 13:
        case 14:
        case 15:
            return static_cast<ThriftType>(byte);
        default:
            bad("{} is no type", byte);
    }
}

uint32_t ThriftReader::size() {
    const uint64_t size = number(4);
    if (size > INT32_MAX) bad("a size is negative");
    return static_cast<uint32_t>(size);
}

ThriftMessage ThriftReader::message() {
    const auto head = static_cast<uint32_t>(number(4));
    if ((head & kVersionMask) != kVersion) bad("it begins with {:08x}", head);
    const uint32_t kind = head & kKindMask;
    if (kind < 1 || kind > 4) bad("{} is no kind of message", kind);
    text();
    number(4);
    return static_cast<ThriftMessage>(kind);
}

ThriftReader::Field ThriftReader::field() {
    Field field;
    field.type = type();
    if (field.type != ThriftType::Stop) field.id = static_cast<int16_t>(static_cast<uint16_t>(number(2)));
    return field;
}

ThriftReader::Items ThriftReader::list() {
    Items items;
    items.type = type();
    items.size = size();
    if (items.size > 0 && items.type == ThriftType::Stop) bad("a list has items of no type");
    return items;
}

ThriftReader::Items ThriftReader::map() {
    Items items;
    items.key = type();
    items.type = type();
    items.size = size();
    if (items.size > 0 && (items.type == ThriftType::Stop || items.key == ThriftType::Stop))
        bad("a map has entries of no type");
    return items;
}

std::string ThriftReader::text() {
    const uint32_t size = this->size();
    if (size > kMaxTextBytes) bad("a text has {} bytes", size);
    std::string out;
    while (out.size() < size) {  // grows with what really comes
        const size_t begin = out.size();
        const uint32_t step = std::min(kStepBytes, size - static_cast<uint32_t>(begin));
        out.resize(begin + step);
        take(reinterpret_cast<uint8_t*>(out.data()) + begin, step);
    }
    return out;
}

void ThriftReader::skip_bytes(uint32_t size) {
    uint8_t buffer[4096];
    while (size > 0) {
        const uint32_t step = std::min<uint32_t>(sizeof buffer, size);
        take(buffer, step);
        size -= step;
    }
}

void ThriftReader::skip(ThriftType type, int depth) {
    if (depth > kMaxDepth) bad("it is nested deeper than {} levels", kMaxDepth);
    switch (type) {
        case ThriftType::Stop:
            return;
        case ThriftType::Bool:
        case ThriftType::Byte:
            return skip_bytes(1);
        case ThriftType::I16:
            return skip_bytes(2);
        case ThriftType::I32:
            return skip_bytes(4);
        case ThriftType::Double:
        case ThriftType::I64:
            return skip_bytes(8);
        case ThriftType::String:
            return skip_bytes(size());
        case ThriftType::Struct:
            for (Field field = this->field(); field.type != ThriftType::Stop; field = this->field())
                skip(field.type, depth + 1);
            return;
        case ThriftType::List:
        case ThriftType::Set: {
            const Items items = list();
            for (uint32_t i = 0; i < items.size; ++i) skip(items.type, depth + 1);
            return;
        }
        case ThriftType::Map: {
            const Items items = map();
            for (uint32_t i = 0; i < items.size; ++i) {
                skip(items.key, depth + 1);
                skip(items.type, depth + 1);
            }
            return;
        }
    }
}

}  // namespace firn::catalog
