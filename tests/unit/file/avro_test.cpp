#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "firn/file/avro/container.h"
#include "firn/file/avro/cursor.h"
#include "tests/unit/avro_bytes.h"
#include "tests/unit/error_of.h"

using namespace firn;
using namespace firn::file::avro;
using firn::testing_avro::Bytes;
using firn::testing_avro::container;

namespace {

constexpr std::string_view kSchema =
    R"({"type":"record","name":"r","fields":[{"name":"a","type":"long","field-id":1}]})";

std::string deflated(std::string_view text) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(text.size() + 100, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string zstd(std::string_view text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
    return out;
}

/// Snappy by hand: the length, then one literal; and the checksum of Avro.
std::string snappy(std::string_view text) {
    std::string out(1, static_cast<char>(text.size()));
    out += static_cast<char>((text.size() - 1) << 2);
    out += text;
    auto sum = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(sum >> shift & 0xff);
    return out;
}

std::string all_bytes(const std::string& file, uint64_t limit = Container::kMaxBlockBytes) {
    Container opened(file, "f.avro");
    std::string out;
    for (const RawBlock& block : opened.blocks()) opened.decompress(block, out, limit);
    return out;
}

std::optional<ErrorCode> code_of(const std::string& file, uint64_t limit = Container::kMaxBlockBytes) {
    return failure_of([&] { all_bytes(file, limit); }).code;
}

}  // namespace

TEST(AvroCursor, Numbers) {
    for (int64_t value :
         {int64_t{0}, int64_t{-1}, int64_t{63}, int64_t{64}, int64_t{-65}, int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
        std::string bytes = Bytes().number(value).str();
        Cursor cursor(bytes);
        EXPECT_EQ(cursor.read_long(), value);
        EXPECT_EQ(cursor.left(), 0u);
        Cursor cut(std::string_view(bytes).substr(0, bytes.size() - 1));
        EXPECT_EQ(failure_of([&] { cut.read_long(); }).code, ErrorCode::INCORRECT_DATA);
    }
    std::string endless(20, '\xff');
    Cursor cursor(endless);
    EXPECT_EQ(failure_of([&] { cursor.read_long(); }).code, ErrorCode::INCORRECT_DATA);
}

TEST(AvroCursor, LengthsAreChecked) {
    for (int64_t length : {int64_t{-1}, int64_t{5}, INT64_MAX, INT64_MIN}) {
        std::string bytes = Bytes().number(length).raw("abcd").str();
        Cursor cursor(bytes);
        EXPECT_EQ(failure_of([&] { cursor.read_bytes(); }).code, ErrorCode::INCORRECT_DATA);
    }
    Cursor short_real("abc");
    EXPECT_EQ(failure_of([&] { short_real.read_double(); }).code, ErrorCode::INCORRECT_DATA);
}

TEST(AvroCursor, SkipsManyNumbersAtOnce) {
    Bytes bytes;
    for (int64_t i = 0; i < 100; ++i) bytes.number(i * i * i * 1000);
    bytes.number(77);
    std::string text = bytes.str();
    Cursor at(text);
    at.skip_longs(100);
    EXPECT_EQ(at.read_long(), 77);
    Cursor beyond(text);
    EXPECT_EQ(failure_of([&] { beyond.skip_longs(102); }).code, ErrorCode::INCORRECT_DATA);
}

TEST(AvroCursor, SkipsValuesOfEveryKind) {
    Schema schema = Schema::parse(R"({"type":"record","name":"r","fields":[
        {"name":"a","type":["null","string"]}, {"name":"b","type":{"type":"fixed","name":"f","size":3}},
        {"name":"c","type":{"type":"map","values":"double"}}, {"name":"d","type":{"type":"array","items":["null","r"]}},
        {"name":"e","type":{"type":"enum","name":"e","symbols":["x","y"]}}, {"name":"g","type":"boolean"},
        {"name":"h","type":"f"}, {"name":"i","type":{"type":"array","items":"null"}}]})",
                                  "s");
    Bytes leaf;
    leaf.number(0).raw("abc").number(0).number(0).number(1).raw("\1").raw("def").number(0);
    Bytes value;
    value.number(1).text("text").raw("abc");
    value.number(1).text("k").real(1).number(0);
    value.number(2).number(0).number(1).raw(leaf.str()).number(0);
    value.number(0).raw(std::string_view("\0", 1)).raw("def");
    value.number(INT64_MAX).number(0);  // 2^63 - 1 nulls take no bytes and no time
    std::string bytes = value.str();
    Cursor cursor(bytes);
    skip_value(schema, schema.root_id(), cursor);
    EXPECT_EQ(cursor.left(), 0u);
}

TEST(AvroCursor, DepthIsLimited) {
    Schema schema =
        Schema::parse(R"({"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]}]})", "s");
    std::string deep(1000, '\2');
    Cursor cursor(deep);
    EXPECT_EQ(failure_of([&] { skip_value(schema, schema.root_id(), cursor); }).code, ErrorCode::TOO_DEEP_RECURSION);
}

TEST(AvroSchema, AttributesOfIceberg) {
    Schema schema = Schema::parse(R"({"type":"record","name":"n.r","fields":[
        {"name":"a","field-id":5,"type":["null",{"type":"array","element-id":6,"items":"int"}],"default":null,"aliases":["old"]},
        {"name":"b","type":{"type":"array","logicalType":"map","items":{"type":"record","name":"kv","fields":[
            {"name":"key","type":"int","field-id":7},{"name":"value","type":"string","field-id":8}]}}},
        {"name":"c","type":{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}},
        {"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
        {"name":"e","type":{"type":"map","key-id":9,"value-id":10,"values":"kv"}},
        {"name":"f","type":{"type":"string","logicalType":"unheard-of"}}]})",
                                  "s");
    const Node& root = schema.root();
    EXPECT_EQ(root.name, "n.r");
    EXPECT_EQ(root.fields[0].field_id, 5);
    EXPECT_TRUE(root.fields[0].has_default);
    EXPECT_EQ(root.fields[0].aliases, std::vector<std::string>{"old"});
    auto optional = schema.nullable(root.fields[0].type);
    EXPECT_EQ(optional->null_branch, 0);
    EXPECT_EQ(schema.node(optional->type).element_id, 6);
    EXPECT_EQ(schema.node(root.fields[1].type).logical, Logical::Map);
    EXPECT_EQ(schema.node(root.fields[2].type).adjust_to_utc, true);
    EXPECT_EQ(schema.node(root.fields[3].type).scale, 2);
    EXPECT_EQ(schema.node(root.fields[4].type).value_id, 10);
    EXPECT_EQ(schema.node(schema.node(root.fields[4].type).children[0]).name, "n.kv");
    EXPECT_EQ(schema.node(root.fields[5].type).logical, Logical::None);
}

TEST(AvroSchema, WrongSchemas) {
    for (std::string_view wrong :
         {"", "{", "12", R"("nothing")", R"({"name":"x"})", R"({"type":"record","name":"r"})", R"([])",
          R"({"type":"fixed","name":"f"})", R"({"type":"fixed","name":"f","size":-1})", R"({"type":"array"})",
          R"({"type":"record","name":"r","fields":[{"name":"a"}]})", R"({"type":"enum","name":"e"})",
          R"({"type":"bytes","logicalType":"decimal","precision":2,"scale":3})"}) {
        EXPECT_EQ(failure_of([&] { Schema::parse(wrong, "f.avro"); }).code, ErrorCode::INCORRECT_DATA) << wrong;
    }
    std::string deep = "\"int\"";
    for (int i = 0; i < 100; ++i) deep = R"({"type":"array","items":)" + deep + "}";
    EXPECT_EQ(failure_of([&] { Schema::parse(deep, "f.avro"); }).code, ErrorCode::TOO_DEEP_RECURSION);
}

TEST(AvroContainer, EveryCodec) {
    std::string value = Bytes().number(1234567).str();
    EXPECT_EQ(all_bytes(container(kSchema, {{1, value}, {1, value}})), value + value);
    EXPECT_EQ(all_bytes(container(kSchema, {{1, deflated(value)}}, "deflate")), value);
    EXPECT_EQ(all_bytes(container(kSchema, {{1, zstd(value)}}, "zstandard")), value);
    EXPECT_EQ(all_bytes(container(kSchema, {{1, snappy(value)}}, "snappy")), value);
    EXPECT_EQ(code_of(container(kSchema, {{1, value}}, "bzip2")), ErrorCode::NOT_IMPLEMENTED);
    EXPECT_EQ(code_of(container(kSchema, {{1, value}}, "xz")), ErrorCode::NOT_IMPLEMENTED);
    EXPECT_EQ(code_of(container(kSchema, {{1, value}}, "lzma")), ErrorCode::INCORRECT_DATA);
    std::string large(1 << 20, 'x');
    EXPECT_EQ(all_bytes(container(kSchema, {{1, deflated(large)}}, "deflate")), large);
    EXPECT_EQ(all_bytes(container(kSchema, {{1, zstd(large)}}, "zstandard")), large);
    EXPECT_EQ(code_of(container(kSchema, {{1, deflated(large)}}, "deflate"), 1000), ErrorCode::LIMIT_EXCEEDED);
    EXPECT_EQ(code_of(container(kSchema, {{1, zstd(large)}}, "zstandard"), 1000), ErrorCode::LIMIT_EXCEEDED);
    EXPECT_EQ(code_of(container(kSchema, {{1, large}}), 1000), ErrorCode::LIMIT_EXCEEDED);
}

TEST(AvroContainer, DamagedBlocks) {
    std::string value(60, 'v');
    for (std::string codec : {"deflate", "zstandard", "snappy"}) {
        std::string stored = codec == "deflate" ? deflated(value) : codec == "snappy" ? snappy(value) : zstd(value);
        for (size_t size = 0; size < stored.size(); ++size) {
            EXPECT_NE(code_of(container(kSchema, {{1, stored.substr(0, size)}}, codec)), std::nullopt) << codec << size;
        }
    }
    std::string wrong_sum = snappy(value);
    wrong_sum.back() = static_cast<char>(wrong_sum.back() ^ 1);
    EXPECT_EQ(code_of(container(kSchema, {{1, wrong_sum}}, "snappy")), ErrorCode::INCORRECT_DATA);
    std::string good = container(kSchema, {{1, "\2"}});
    std::string bad_sync = good;
    bad_sync.back() = 'X';
    EXPECT_EQ(code_of(bad_sync), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code_of(good.substr(0, good.size() - 20)), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code_of(container(kSchema, {{-3, "\2"}})), ErrorCode::INCORRECT_DATA);
    for (size_t size = 0; size < good.size() - 19; ++size)
        EXPECT_EQ(code_of(good.substr(0, size)), ErrorCode::INCORRECT_DATA) << size;
    Failure failure = failure_of([&] { all_bytes(bad_sync); });
    EXPECT_NE(failure.message.find("f.avro"), std::string::npos);
}

TEST(AvroContainer, Metadata) {
    std::string file = container(kSchema, {}, "null", {{"format-version", "2"}});
    Container opened(file, "f.avro");
    EXPECT_EQ(opened.metadata("format-version"), "2");
    EXPECT_FALSE(opened.metadata("content").has_value());
    EXPECT_TRUE(opened.blocks().empty());
}
