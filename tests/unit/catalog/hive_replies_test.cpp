#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "firn/catalog/hive_replies.h"

#include "tests/unit/error_of.h"

namespace firn::catalog {
namespace {

// Bytes of Thrift's binary protocol.
std::string number(uint64_t value, int bytes) {
    std::string out;
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
    return out;
}
std::string text(const std::string& value) { return number(value.size(), 4) + value; }
std::string field(ThriftType type, int16_t id, const std::string& value) {
    return number(static_cast<uint8_t>(type), 1) + number(static_cast<uint16_t>(id), 2) + value;
}
std::string message(ThriftMessage kind, const std::string& body) {
    return number(0x80010000U | static_cast<uint8_t>(kind), 4) + text("method") + number(1, 4) + body;
}
std::string list(ThriftType type, uint32_t size, const std::string& items) {
    return number(static_cast<uint8_t>(type), 1) + number(size, 4) + items;
}
const std::string kStop(1, '\0');

/// Reads what a text holds; past its end it is as if the connection were cut.
ThriftReader reader_of(const std::string& bytes) {
    auto left = std::make_shared<std::string>(bytes);
    return ThriftReader([left](uint8_t* to, uint32_t size) {
        if (size > left->size()) fail(ErrorCode::NETWORK_ERROR, "cut");
        std::memcpy(to, left->data(), size);
        left->erase(0, size);
    });
}

HiveReply names_of(const std::string& bytes, std::vector<std::string>& names) {
    ThriftReader in = reader_of(bytes);
    return read_names(in, names);
}

std::optional<ErrorCode> failure(const std::string& bytes) {
    std::vector<std::string> names;
    return failure_of([&] { names_of(bytes, names); }).code;
}

std::string parameters(const std::string& key, const std::string& value) {
    return number(static_cast<uint8_t>(ThriftType::String), 1) + number(static_cast<uint8_t>(ThriftType::String), 1) +
           number(1, 4) + text(key) + text(value);
}

std::string table(const std::string& name) {
    const std::string descriptor = field(ThriftType::String, 2, text("s3://b/t")) +
                                   field(ThriftType::Bool, 5, number(1, 1)) +
                                   field(ThriftType::List, 8, list(ThriftType::I64, 2, number(1, 8) + number(2, 8)));
    return field(ThriftType::String, 1, text(name)) + field(ThriftType::I32, 4, number(7, 4)) +
           field(ThriftType::Struct, 7, descriptor + kStop) +
           field(ThriftType::Map, 9, parameters("table_type", "ICEBERG")) + kStop;
}

TEST(HiveReplies, NamesAndExceptions) {
    std::vector<std::string> names;
    const std::string two = list(ThriftType::String, 2, text("a") + text(""));
    EXPECT_TRUE(names_of(message(ThriftMessage::Reply, field(ThriftType::List, 0, two) + kStop), names).has_result);
    EXPECT_EQ(names, (std::vector<std::string>{"a", ""}));
    const std::string exception = field(ThriftType::String, 1, text("no database")) + kStop;
    const HiveReply refused =
        names_of(message(ThriftMessage::Reply, field(ThriftType::Struct, 2, exception) + kStop), names);
    EXPECT_FALSE(refused.has_result);
    EXPECT_FALSE(refused.no_such_object);
    EXPECT_EQ(refused.exception, "no database");
    EXPECT_EQ(names_of(message(ThriftMessage::Exception, exception), names).exception, "no database");
}

TEST(HiveReplies, Tables) {
    const std::string result = field(ThriftType::Struct, 1, table("t")) + kStop;
    HiveTable found;
    ThriftReader one = reader_of(message(ThriftMessage::Reply, field(ThriftType::Struct, 0, result) + kStop));
    EXPECT_TRUE(read_table(one, found).has_result);
    EXPECT_EQ(found.name, "t");
    EXPECT_EQ(found.location, "s3://b/t");
    EXPECT_EQ(found.parameters, (std::map<std::string, std::string>{{"table_type", "ICEBERG"}}));

    ThriftReader none = reader_of(message(ThriftMessage::Reply, field(ThriftType::Struct, 2, kStop) + kStop));
    EXPECT_TRUE(read_table(none, found).no_such_object);

    const std::string several =
        field(ThriftType::List, 1, list(ThriftType::Struct, 2, table("a") + table("b"))) + kStop;
    const std::string reply = message(ThriftMessage::Reply, field(ThriftType::Struct, 0, several) + kStop);
    std::vector<HiveTable> tables;
    ThriftReader both = reader_of(reply);
    EXPECT_TRUE(read_tables(both, 2, tables).has_result);
    ASSERT_EQ(tables.size(), 2U);
    EXPECT_EQ(tables[1].name, "b");
    ThriftReader more = reader_of(reply);
    EXPECT_EQ(failure_of([&] { read_tables(more, 1, tables); }).code, ErrorCode::INCORRECT_DATA);
}

TEST(HiveReplies, BytesThatAreNoMessage) {
    EXPECT_EQ(failure(""), ErrorCode::NETWORK_ERROR);
    EXPECT_EQ(failure("HTTP/1.1 400 Bad Request"), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(failure(message(ThriftMessage::Call, kStop)), ErrorCode::INCORRECT_DATA);
    for (const int type : {1, 5, 7, 9, 16, 127, 255}) {
        const std::string unknown = number(static_cast<uint64_t>(type), 1) + number(3, 2);
        EXPECT_EQ(failure(message(ThriftMessage::Reply, unknown)), ErrorCode::INCORRECT_DATA) << type;
    }
    EXPECT_EQ(failure(message(ThriftMessage::Reply, field(ThriftType::String, 3, number(UINT32_MAX, 4)))),
              ErrorCode::INCORRECT_DATA);
    // Sizes that nothing stands behind cost neither memory nor time.
    EXPECT_EQ(
        failure(message(ThriftMessage::Reply, field(ThriftType::List, 0, list(ThriftType::String, INT32_MAX, "")))),
        ErrorCode::NETWORK_ERROR);
    EXPECT_EQ(failure(message(ThriftMessage::Reply, field(ThriftType::List, 0, list(ThriftType::Stop, INT32_MAX, "")))),
              ErrorCode::INCORRECT_DATA);
    std::string deep;
    for (int i = 0; i < 1000; ++i) deep += field(ThriftType::Struct, 1, "");
    EXPECT_EQ(failure(message(ThriftMessage::Reply, deep)), ErrorCode::INCORRECT_DATA);
}

}  // namespace
}  // namespace firn::catalog
