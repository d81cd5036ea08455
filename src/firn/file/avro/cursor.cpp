#include "firn/file/avro/cursor.h"

#include <bit>

#include "firn/base/error.h"

namespace firn::file::avro {

void fail_truncated() { fail(ErrorCode::INCORRECT_DATA, "Avro data end in the middle of a value"); }

void fail_varint() { fail(ErrorCode::INCORRECT_DATA, "Avro number of more than 64 bits"); }

void fail_length(int64_t length) {
    fail(ErrorCode::INCORRECT_DATA, "Avro length {} is below zero or beyond the end of the data", length);
}

int64_t Cursor::read_long_slow() {
    uint64_t raw = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (at_ == end_) fail_truncated();
        auto byte = static_cast<uint8_t>(*at_++);
        // The tenth byte has room for one bit.
        if (shift == 63 && byte > 1) fail_varint();
        raw |= uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) return unzigzag(raw);
    }
    fail_varint();
}

int64_t Cursor::read_sized_block(int64_t count, int64_t& block_bytes) {
    block_bytes = read_long();
    if (block_bytes < 0 || static_cast<uint64_t>(block_bytes) > left()) fail_length(block_bytes);
    if (count == INT64_MIN) fail_length(count);
    return -count;
}

void Cursor::skip_longs(uint64_t count) {
    // A number ends at the first byte without its high bit: count those eight bytes at a time.
    constexpr uint64_t kHigh = 0x8080808080808080;
    while (count >= 8 && left() >= 8) {
        uint64_t word;
        std::memcpy(&word, at_, sizeof word);
        count -= static_cast<uint64_t>(std::popcount(~word & kHigh));
        at_ += 8;
    }
    while (count > 0) {
        if (at_ == end_) fail_truncated();
        if (static_cast<uint8_t>(*at_++) < 0x80) --count;
    }
}

namespace {

void skip_blocks(const Schema& schema, NodeId item, bool keyed, Cursor& cursor, int depth) {
    bool no_bytes = !keyed && schema.node(item).takes_no_bytes;
    for (;;) {
        int64_t block_bytes;
        int64_t count = cursor.read_block_count(block_bytes);
        if (count == 0) return;
        if (block_bytes >= 0) {
            cursor.seek(cursor.at() + block_bytes);
            continue;
        }
        if (no_bytes) continue;
        Kind kind = schema.node(item).kind;
        if (!keyed && (kind == Kind::Int || kind == Kind::Long)) {
            cursor.skip_longs(static_cast<uint64_t>(count));
            continue;
        }
        for (int64_t i = 0; i < count; ++i) {
            if (keyed) cursor.read_bytes();
            skip_value(schema, item, cursor, depth + 1);
        }
    }
}

}  // namespace

void skip_value(const Schema& schema, NodeId id, Cursor& cursor, int depth) {
    if (depth > kMaxDepth) fail(ErrorCode::TOO_DEEP_RECURSION, "Avro value nested over {} levels", kMaxDepth);
    const Node& node = schema.node(id);
    switch (node.kind) {
        case Kind::Null:
            return;
        case Kind::Boolean:
            cursor.read_fixed(1);
            return;
        case Kind::Int:
        case Kind::Long:
        case Kind::Enum:
            cursor.read_long();
            return;
        case Kind::Float:
            cursor.read_fixed(4);
            return;
        case Kind::Double:
            cursor.read_fixed(8);
            return;
        case Kind::Bytes:
        case Kind::String:
            cursor.read_bytes();
            return;
        case Kind::Fixed:
            cursor.read_fixed(node.size);
            return;
        case Kind::Array:
            skip_blocks(schema, node.children[0], false, cursor, depth);
            return;
        case Kind::Map:
            skip_blocks(schema, node.children[0], true, cursor, depth);
            return;
        case Kind::Record:
            for (const Field& field : node.fields) skip_value(schema, field.type, cursor, depth + 1);
            return;
        case Kind::Union: {
            int64_t branch = cursor.read_long();
            if (branch < 0 || static_cast<uint64_t>(branch) >= node.children.size()) {
                fail(ErrorCode::INCORRECT_DATA, "Avro union has no branch {}", branch);
            }
            skip_value(schema, node.children[static_cast<size_t>(branch)], cursor, depth + 1);
            return;
        }
    }
}

}  // namespace firn::file::avro
