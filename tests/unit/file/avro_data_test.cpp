#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <sstream>

#include "firn/base/error.h"
#include "firn/vector/builder.h"
#include "tests/unit/file/file_rows.h"

namespace firn::file {
namespace {

const std::string kTypes = "tests/unit/file/data/types.avro";

std::vector<std::string> expected_rows() {
    std::istringstream text(read_test_file("tests/unit/file/data/types_avro.tsv"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

std::shared_ptr<const DataFile> fixture(const std::string& table, size_t which = 0) {
    return open_avro(open_test_file(test_files("tests/fixtures/" + table + "/data", ".avro").at(which)));
}

void expect_error(ErrorCode code, const std::string& words, const std::function<void()>& call) {
    try {
        call();
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.message();
        EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
    }
}

// Avro's binary encoding, by hand.
std::string number(int64_t value) {
    uint64_t raw = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
    std::string out;
    for (; raw >= 0x80; raw >>= 7) out += static_cast<char>(raw | 0x80);
    return out + static_cast<char>(raw);
}
std::string text(const std::string& bytes) { return number(static_cast<int64_t>(bytes.size())) + bytes; }

/// A file of blocks (how many values, their bytes), without compression.
std::string avro_file(const std::string& schema, const std::vector<std::pair<int64_t, std::string>>& blocks) {
    const std::string sync(16, 's');
    std::string out = std::string("Obj\x01", 4) + number(1) + text("avro.schema") + text(schema) + number(0) + sync;
    for (const auto& [count, bytes] : blocks) out += number(count) + text(bytes) + sync;
    return out;
}

TEST(AvroData, EveryType) {
    const auto file = open_avro(open_test_file(kTypes));
    EXPECT_EQ(
        fields_of(*file),
        "i Int32, l Nullable(Int64), f Nullable(Float32), d Float64, b Nullable(Bool), s Nullable(String), by String, "
        "fx Nullable(FixedString(5)), e Nullable(String), dec Nullable(Decimal(20, 3)), dt Nullable(Date32), tm "
        "Nullable(Int64), "
        "ts Nullable(DateTime64(6, 'UTC')), tsm Nullable(DateTime64(3)), lts Nullable(DateTime64(6)), u "
        "Nullable(UUID), "
        "arr Array(Nullable(Int32)), m Map(String, Nullable(Int64)), lm Map(Int32, Nullable(String)), "
        "st Tuple(a Nullable(Int32), in Tuple(x String, y Array(Float64))), n Nullable(Nothing)");
    EXPECT_EQ(file->rows(), 400u);
    EXPECT_EQ(rows_of(*file), expected_rows());
    EXPECT_EQ(rows_of(*file, 7), expected_rows());
    EXPECT_EQ(rows_of(*open_avro(open_bytes(read_test_file(kTypes), "unmapped.avro"))), expected_rows());
}

TEST(AvroData, ColumnsMayLagBehindEachOther) {
    const auto file = open_avro(open_test_file(kTypes));
    const auto expected = expected_rows();
    std::vector<ReadField> columns;
    for (const auto& field : file->fields()) columns.push_back(read_whole(field));
    const auto reader = file->read_unit(0, columns);
    std::vector<std::string> rows(400);
    // Each column in pieces of another size, and the last begins when the first has ended.
    for (size_t i = 0; i < columns.size(); ++i) {
        for (uint64_t begin = 0; begin < 400; begin += 13 + i) {
            const size_t count = std::min<uint64_t>(13 + i, 400 - begin);
            const auto vector = reader->read(i, begin, count, nullptr);
            ASSERT_EQ(vector->size(), count);
        }
    }
    const auto again = file->read_unit(0, columns);
    Selection selection = {0, 5, 6, 99};
    EXPECT_EQ(read_rows(*again, columns.size(), 100, 100, &selection),
              (std::vector<std::string>{expected[100], expected[105], expected[106], expected[199]}));
    EXPECT_EQ(read_rows(*again, columns.size(), 350, 2, nullptr),
              (std::vector<std::string>{expected[350], expected[351]}));
}

TEST(AvroData, OneColumnSkipsRowsAndBlocks) {
    const auto file = open_avro(open_test_file(kTypes));
    const FileField& i = field_of(*file, "i");
    std::mt19937 random(3);
    for (int round = 0; round < 20; ++round) {
        const auto reader = file->read_unit(0, {read_whole(i)});
        for (uint64_t row = random() % 200; row < 390; row += 10 + random() % 150)
            EXPECT_EQ(read_rows(*reader, 1, row, 1, nullptr)[0], std::to_string(row));
    }
}

TEST(AvroData, IcebergTypesAndIds) {
    const auto file = fixture("types_v1_avro");
    EXPECT_EQ(
        fields_of(*file),
        "id Int32, b Nullable(Bool), i Nullable(Int32), l Nullable(Int64), f Nullable(Float32), d Nullable(Float64), "
        "dec9 Nullable(Decimal(9, 2)), dec18 Nullable(Decimal(18, 4)), dec38 Nullable(Decimal(38, 10)), dt "
        "Nullable(Date32), "
        "ts Nullable(DateTime64(6, 'UTC')), tn Nullable(DateTime64(6)), s Nullable(String), bin Nullable(String)");
    EXPECT_EQ(field_of(*file, "dec38").field_id, 9);
    EXPECT_TRUE(field_of(*file, "ts").utc);
    EXPECT_FALSE(field_of(*file, "tn").utc);
    EXPECT_EQ(fields_of(*fixture("types_uuid_fixed_avro")),
              "id Int32, u Nullable(UUID), fx Nullable(FixedString(5)), fx16 Nullable(FixedString(16)), bin "
              "Nullable(String)");
    EXPECT_EQ(fields_of(*fixture("types_nanos_v3")),
              "id Int64, ns Nullable(DateTime64(9)), nz Nullable(DateTime64(9, 'UTC'))");
    EXPECT_EQ(rows_of(*fixture("types_nanos_v3"))[3],
              "24\t'2262-04-11 23:47:16.854775807'\t'1677-09-21 00:12:43.145224193'");
    EXPECT_EQ(rows_of(*fixture("types_time_v2"))[1],
              "22\t86399999999\t'1969-12-31 23:59:59.999999'\t'1969-12-31 23:59:59.999999'");
}

TEST(AvroData, EveryFixtureIsRead) {
    size_t files = 0;
    for (const auto& folder : {"tests/fixtures", "tests/cases"})
        for (const auto& path : test_files(folder, ".avro")) {
            if (path.find("/metadata/") != std::string::npos) continue;
            const auto file = open_avro(open_test_file(path));
            EXPECT_EQ(rows_of(*file, 3).size(), file->rows()) << path;
            ++files;
        }
    EXPECT_GE(files, 20u);
}

TEST(AvroData, WantedElementsDefaultsAndPromotions) {
    const auto file = open_avro(open_test_file(kTypes));
    const FileField& st = field_of(*file, "st");
    ReadField a = read_whole(st.children[0]);
    a.type = make_nullable(make_type(TypeId::Int64));
    ReadField absent;
    absent.type = make_nullable(make_type(TypeId::Int32));
    absent.missing = make_value<int32_t>(absent.type, 34);
    ReadField wanted;
    wanted.type = make_tuple_type({absent.type, a.type}, {"new", "a"});
    wanted.source = st.index;
    wanted.children = {absent, a};
    ReadField day = read_whole(field_of(*file, "i"));
    day.type = make_type(TypeId::Int64);
    ReadField missing;
    missing.type = make_type(TypeId::Float64);
    const auto rows = rows_of(*file, {day, wanted, missing, day});
    const auto expected = expected_rows();
    size_t nothing = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        const bool there = rows[i].find("(34,") != std::string::npos;
        nothing += there ? 0 : 1;
        EXPECT_EQ(rows[i].substr(0, rows[i].find('\t')), std::to_string(i));
        if (!there) {
            EXPECT_EQ(rows[i], std::to_string(i) + "\t(NULL,NULL)\t0\t" + std::to_string(i));
        }
    }
    EXPECT_GT(nothing, 30u);  // null structs, of which the default is no part
    EXPECT_LT(nothing, 100u);
    ReadField never_null = read_whole(field_of(*file, "s"));
    never_null.type = make_type(TypeId::String);
    expect_error(ErrorCode::INCORRECT_DATA, "column s", [&] { rows_of(*file, {never_null}); });
    ReadField narrow = read_whole(field_of(*file, "l"));
    narrow.type = make_nullable(make_type(TypeId::Int32));
    expect_error(ErrorCode::INCORRECT_DATA, "types.avro: column l", [&] { rows_of(*file, {narrow}); });
}

TEST(AvroData, UnitsAreRunsOfBlocks) {
    std::vector<std::pair<int64_t, std::string>> blocks;
    int64_t next = 0;
    for (int b = 0; b < 5; ++b) {
        std::string bytes;
        for (int i = 0; i < 10000; ++i) bytes += number(next++);
        blocks.emplace_back(10000, bytes);
    }
    const auto file = open_avro(open_bytes(
        avro_file(R"({"type":"record","name":"r","fields":[{"name":"x","type":"long"}]})", blocks), "units.avro"));
    ASSERT_EQ(file->units(), 3u);
    EXPECT_EQ(file->unit_rows(0), 20000u);
    EXPECT_EQ(file->unit_first_row(1), 20000u);
    EXPECT_EQ(file->unit_rows(2), 10000u);
    const auto reader = file->read_unit(1, {read_whole(file->fields()[0])});
    EXPECT_EQ(read_rows(*reader, 1, 15000, 1, nullptr)[0], "35000");
}

TEST(AvroData, VariantsAreJson) {
    const std::string schema =
        R"({"type":"record","name":"r","fields":[{"name":"v","field-id":1,"type":["null",{"type":"record","name":"v1","logicalType":"variant",)"
        R"("fields":[{"name":"metadata","type":"bytes"},{"name":"value","type":"bytes"}]}]}]})";
    // {"a": 1}: one name of one byte; an object of one field, an int8.
    const std::string metadata("\x01\x01\x00\x01\x61", 5), object("\x02\x01\x00\x00\x02\x0c\x01", 7);
    const auto read = [&](const std::string& value) {
        const std::string row = number(1) + text(metadata) + text(value);
        return open_avro(open_bytes(avro_file(schema, {{2, row + number(0)}}), "variant.avro"));
    };
    const auto file = read(object);
    EXPECT_EQ(fields_of(*file), "v Nullable(String)");
    EXPECT_EQ(rows_of(*file), (std::vector<std::string>{R"('{"a":1}')", "NULL"}));
    expect_error(ErrorCode::INCORRECT_DATA, "variant.avro", [&] { rows_of(*read(object.substr(0, 5))); });
}

TEST(AvroData, DamageIsAnErrorThatNamesTheFile) {
    const std::string schema = R"({"type":"record","name":"r","fields":[{"name":"s","type":["null","string"]}]})";
    const auto read = [&](int64_t count, const std::string& bytes) {
        rows_of(*open_avro(open_bytes(avro_file(schema, {{count, bytes}}), "bad.avro")));
    };
    read(2, number(0) + number(1) + text("x"));
    expect_error(ErrorCode::INCORRECT_DATA, "bad.avro", [&] { read(3, number(0) + number(1) + text("x")); });
    expect_error(ErrorCode::INCORRECT_DATA, "bad.avro", [&] { read(1, number(0) + number(1) + text("x")); });
    expect_error(ErrorCode::INCORRECT_DATA, "bad.avro", [&] { read(1, number(2)); });
    expect_error(ErrorCode::INCORRECT_DATA, "bad.avro", [&] { read(1, number(1) + number(100) + "x"); });
    expect_error(ErrorCode::INCORRECT_DATA, "bad.avro", [&] { open_avro(open_bytes("Obj", "bad.avro")); });
    expect_error(ErrorCode::NOT_IMPLEMENTED, "column u", [] {
        open_avro(
            open_bytes(avro_file(R"({"type":"record","name":"r","fields":[{"name":"u","type":["int","string"]}]})", {}),
                       "u.avro"));
    });
}

TEST(AvroData, EndlessTypesAndEmptyElementsAreRefused) {
    const std::string endless =
        R"({"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]},{"name":"b","type":["null","r"]}]})";
    EXPECT_THROW(open_avro(open_bytes(avro_file(endless, {}), "endless.avro")), Error);
    const std::string nulls =
        R"({"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":"null"}}]})";
    const auto file =
        open_avro(open_bytes(avro_file(nulls, {{1, number(int64_t{1} << 40) + number(0)}}), "nulls.avro"));
    expect_error(ErrorCode::INCORRECT_DATA, "nulls.avro", [&] { rows_of(*file); });
}

}  // namespace
}  // namespace firn::file
