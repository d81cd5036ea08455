#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <sstream>

#include "firn/base/error.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"
#include "tests/unit/file/file_rows.h"

namespace firn::file {
namespace {

const std::string kData = "tests/unit/file/data/";

std::vector<std::string> lines_of(const std::string& path) {
    std::istringstream text(read_test_file(path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

std::shared_ptr<const DataFile> only_file(const std::string& folder, size_t which = 0) {
    return open_orc(open_test_file(test_files("tests/fixtures/" + folder, ".orc").at(which)));
}

class OrcTypes : public testing::TestWithParam<std::string> {};

TEST_P(OrcTypes, EveryTypeAndEncoding) {
    const auto file = open_orc(open_test_file(kData + GetParam()));
    const auto expected = lines_of(kData + "types_orc.tsv");
    EXPECT_EQ(rows_of(*file), expected);
    EXPECT_EQ(rows_of(*file, 7), expected);
    const auto unmapped = open_orc(open_bytes(read_test_file(kData + GetParam()), "unmapped.orc"));
    EXPECT_EQ(rows_of(*unmapped, 100), expected);
}

TEST_P(OrcTypes, RowsThatAreSkippedChangeNothing) {
    const auto file = open_orc(open_test_file(kData + GetParam()));
    const auto expected = lines_of(kData + "types_orc.tsv");
    std::vector<ReadField> columns;
    for (const auto& field : file->fields()) columns.push_back(read_whole(field));
    std::mt19937 random(7);
    for (int round = 0; round < 30; ++round) {
        const auto reader = file->read_unit(0, columns);
        for (uint64_t row = 0; row < file->unit_rows(0);) {
            const uint64_t begin = std::min<uint64_t>(file->unit_rows(0), row + random() % 250);
            const size_t count = std::min<uint64_t>(file->unit_rows(0) - begin, random() % 150);
            Selection selection;
            for (uint32_t i = 0; i < count; ++i)
                if (random() % 10 < 2) selection.push_back(i);
            std::vector<std::string> wanted;
            for (uint32_t i : selection) wanted.push_back(expected[begin + i]);
            EXPECT_EQ(read_rows(*reader, columns.size(), begin, count, &selection), wanted);
            row = begin + count;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Codecs, OrcTypes,
                         testing::Values("types_uncompressed.orc", "types_zlib.orc", "types_zstd.orc",
                                         "types_rle1.orc"));

TEST(OrcFile, DictionaryColumnsComeAsDictionariesWithOneBase) {
    const auto file = open_orc(open_test_file(kData + "types_zlib.orc"));
    const auto reader = file->read_unit(0, {read_whole(field_of(*file, "words"))});
    const auto first = reader->read(0, 0, 100, nullptr);
    const auto second = reader->read(0, 200, 100, nullptr);
    ASSERT_EQ(first->encoding(), Encoding::Dictionary);
    EXPECT_EQ(first->base(), second->base());
    EXPECT_EQ(first->type()->name(), "Nullable(String)");
}

TEST(OrcFile, IcebergTypes) {
    EXPECT_EQ(
        fields_of(*only_file("types_v2_orc")),
        "id Nullable(Int32), b Nullable(Bool), i Nullable(Int32), l Nullable(Int64), f Nullable(Float32), d "
        "Nullable(Float64), "
        "dec9 Nullable(Decimal(9, 2)), dec18 Nullable(Decimal(18, 4)), dec38 Nullable(Decimal(38, 10)), dt "
        "Nullable(Date32), "
        "ts Nullable(DateTime64(6, 'UTC')), tn Nullable(DateTime64(6)), s Nullable(String), bin Nullable(String)");
    EXPECT_EQ(fields_of(*only_file("types_uuid_fixed_orc")),
              "id Nullable(Int32), u Nullable(UUID), fx Nullable(FixedString(5)), fx16 Nullable(FixedString(16)), bin "
              "Nullable(String)");
    EXPECT_EQ(fields_of(*only_file("types_nanos_v3")),
              "id Nullable(Int64), ns Nullable(DateTime64(9)), nz Nullable(DateTime64(9, 'UTC'))");
    EXPECT_EQ(field_of(*only_file("types_v2_orc"), "dec9").field_id, 7);
    EXPECT_TRUE(field_of(*only_file("types_v2_orc"), "ts").utc);
    EXPECT_FALSE(field_of(*only_file("types_v2_orc"), "tn").utc);
}

TEST(OrcFile, ExtremeValues) {
    const auto rows = rows_of(*only_file("types_v2_orc", 1));
    ASSERT_EQ(rows.size(), 4u);
    // Written a microsecond before 1970: the format cannot tell it from one a second later, and Iceberg reads it so.
    EXPECT_EQ(rows[0],
              "6\ttrue\t1\t1\tinf\tinf\t0.01\t0.0001\t0.0000000001\t'1969-12-31'\t'1970-01-01 00:00:00.999999'\t"
              "'1970-01-01 00:00:00.999999'\t'ünï 日本語 😀'\t'ü'");
    EXPECT_EQ(rows[1],
              "7\ttrue\t-1\t-1\t-inf\t-inf\t-0.01\t-0.0001\t-0.0000000001\t'1582-10-10'\t'1582-10-10 01:02:03.000004'\t"
              "'1582-10-10 01:02:03.000004'\t' lead and trail '\t' '");
    const auto first = rows_of(*only_file("types_v2_orc", 0));
    EXPECT_NE(first[3].find("'0001-01-01 00:00:00.000000'"), std::string::npos);
    EXPECT_EQ(
        first[1], "2" + [] {
            std::string nulls;
            for (int i = 0; i < 13; ++i) nulls += "\tNULL";
            return nulls;
        }());
}

TEST(OrcFile, NestedValues) {
    const auto rows = rows_of(*only_file("nested_orc"));
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(rows[0],
              "1\t(1,'one',(1.5,[1,2,3]))\t['a','b']\t[[1],[2,3]]\t[(1,'p'),(2,'q')]\t{'k1':1,'k2':2}\t{1:['u'],2:['v',"
              "'w']}\t"
              "{'o':{'i':5}}\t{'z':('2024-01-01',1.125)}");
    EXPECT_EQ(rows[1], "2\t(NULL,NULL,(NULL,[]))\t[]\t[]\t[]\t{}\t{}\t{}\t{}");
    EXPECT_EQ(rows[3],
              "4\t(4,'',(nan,[]))\t[NULL,'',NULL]\t[[],[],[NULL,7]]\t[(NULL,NULL),(NULL,NULL)]\t{'n':NULL}\t{9:[],10:[]"
              ",11:[NULL]}\t"
              "{'a':{},'b':{},'c':{'d':NULL}}\t{'e':(NULL,NULL),'f':(NULL,NULL)}");
}

TEST(OrcFile, StructsGiveTheWantedElements) {
    const auto file = only_file("nested_orc");
    const FileField& st = field_of(*file, "st");
    ReadField b = read_whole(st.children[1]);
    ReadField a = read_whole(st.children[0]);
    a.type = make_nullable(make_type(TypeId::Int64));
    ReadField absent;
    absent.type = make_nullable(make_type(TypeId::Int32));
    absent.missing = make_value<int32_t>(absent.type, 34);
    ReadField wanted;
    wanted.type = make_tuple_type({b.type, absent.type, a.type}, {"b", "new", "a"});
    wanted.source = st.index;
    wanted.children = {b, absent, a};
    // The default stands where there is a struct; below a null struct there is nothing.
    EXPECT_EQ(rows_of(*file, {wanted}, 3), (std::vector<std::string>{"('one',34,1)", "(NULL,NULL,NULL)",
                                                                     "(NULL,34,NULL)", "('',34,4)", "('five',34,5)"}));
}

TEST(OrcFile, MissingColumnsAndPromotions) {
    const auto file = only_file("types_v2_orc", 1);
    ReadField missing;
    missing.type = make_nullable(make_type(TypeId::String));
    ReadField with_default;
    with_default.type = make_type(TypeId::Int64);
    with_default.missing = make_value<int64_t>(with_default.type, -5);
    ReadField longer = read_whole(field_of(*file, "i"));
    longer.type = make_type(TypeId::Int64);
    ReadField wider = read_whole(field_of(*file, "f"));
    wider.type = make_nullable(make_type(TypeId::Float64));
    ReadField decimal = read_whole(field_of(*file, "dec9"));
    decimal.type = make_nullable(make_decimal(30, 2));
    ReadField day = read_whole(field_of(*file, "dt"));
    day.type = make_nullable(make_datetime64(6));
    ReadField nanos = read_whole(field_of(*file, "tn"));
    nanos.type = make_nullable(make_datetime64(3));
    const auto rows = rows_of(*file, {missing, with_default, longer, wider, decimal, day, nanos});
    EXPECT_EQ(rows[0], "NULL\t-5\t1\tinf\t0.01\t'1969-12-31 00:00:00.000000'\t'1970-01-01 00:00:00.999'");
    EXPECT_EQ(rows[2], "NULL\t-5\t42\t-0\t100\t'1500-03-01 00:00:00.000000'\t'1900-01-01 00:00:00.000'");
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

TEST(OrcFile, VariantsAreJson) {
    const auto file = open_orc(open_test_file(kData + "variant.orc"));
    EXPECT_EQ(fields_of(*file), "id Nullable(Int32), v Nullable(String)");
    EXPECT_EQ(field_of(*file, "v").field_id, 2);
    EXPECT_EQ(rows_of(*file, 2), (std::vector<std::string>{"0\tNULL", "1\t'{\"a\":1}'", "2\t'{\"a\":2}'", "3\tNULL",
                                                           "4\t'{\"a\":4}'", "5\t'{\"a\":5}'", "6\tNULL"}));
    EXPECT_FALSE(file->unit_statistics(0, 1).min);
    EXPECT_FALSE(file->unit_dictionary(0, 1));
}

TEST(OrcFile, WhatIsNoPromotionIsAnError) {
    const auto file = only_file("types_v2_orc", 0);
    ReadField narrow = read_whole(field_of(*file, "l"));
    narrow.type = make_nullable(make_type(TypeId::Int32));
    expect_error(ErrorCode::INCORRECT_DATA, "column l", [&] { rows_of(*file, {narrow}); });
    ReadField never_null = read_whole(field_of(*file, "s"));
    never_null.type = make_type(TypeId::String);
    expect_error(ErrorCode::INCORRECT_DATA, "column s", [&] { rows_of(*file, {never_null}); });
    ReadField list = read_whole(field_of(*file, "i"));
    list.type = make_array(make_type(TypeId::Int32));
    expect_error(ErrorCode::INCORRECT_DATA, "column i", [&] { rows_of(*file, {list}); });
}

TEST(OrcFile, EveryFixtureIsRead) {
    size_t files = 0;
    for (const auto& folder : {"tests/fixtures", "tests/cases"})
        for (const auto& path : test_files(folder, ".orc")) {
            const auto file = open_orc(open_test_file(path));
            EXPECT_EQ(rows_of(*file, 3).size(), file->rows()) << path;
            ++files;
        }
    EXPECT_GE(files, 30u);
}

TEST(OrcFile, StatisticsBoundTheValues) {
    for (const auto& name : {"types_zlib.orc", "types_rle1.orc"}) {
        const auto file = open_orc(open_test_file(kData + name));
        size_t bounded = 0;
        for (const auto& field : file->fields()) {
            if (!field.children.empty()) continue;
            const auto reader = file->read_unit(0, {read_whole(field)});
            const auto pages = file->page_statistics(0, field.index);
            ASSERT_EQ(pages.size(), 4u) << field.name;
            const auto whole = file->unit_statistics(0, field.index);
            EXPECT_EQ(whole.values, 400u);
            uint64_t nulls = 0;
            for (const auto& page : pages) {
                const auto values = flatten(reader->read(0, page.first_row, page.rows, nullptr));
                uint64_t nulls_here = 0;
                for (size_t i = 0; i < values->size(); ++i) {
                    if (values->is_null(i)) {
                        ++nulls_here;
                        continue;
                    }
                    const auto value = slice(values, i, 1)->with_type(unwrap(values->type()));
                    for (const auto* statistics : {&page.statistics, &whole}) {
                        if (statistics->min) {
                            EXPECT_LE(compare_values(*statistics->min, 0, *value, 0), 0) << field.name;
                        }
                        if (statistics->max) {
                            EXPECT_GE(compare_values(*statistics->max, 0, *value, 0), 0) << field.name;
                        }
                    }
                }
                if (page.statistics.min && page.statistics.max) ++bounded;
                EXPECT_EQ(page.statistics.null_count.value_or(nulls_here), nulls_here) << field.name;
                nulls += nulls_here;
            }
            EXPECT_EQ(whole.null_count, nulls) << field.name;
        }
        EXPECT_GE(bounded, 60u);
    }
}

TEST(OrcFile, DictionaryOfAUnitHoldsItsValues) {
    const auto file = open_orc(open_test_file(kData + "types_zlib.orc"));
    const auto dictionary = file->unit_dictionary(0, field_of(*file, "words").index);
    ASSERT_TRUE(dictionary);
    EXPECT_EQ(dictionary->size(), 21u);
    EXPECT_EQ(dictionary->type()->name(), "String");
    EXPECT_EQ(dictionary->values<StringRef>()[0].view(), "s0");
    EXPECT_FALSE(file->unit_dictionary(0, field_of(*file, "text").index));
    EXPECT_FALSE(file->unit_dictionary(0, field_of(*file, "i32").index));
}

TEST(OrcFile, BloomFiltersHoldEveryValueAndFewOthers) {
    const auto file = open_orc(open_test_file(kData + "bloom.orc"));
    std::mt19937_64 random(3);
    for (const auto& name : {"i16", "i32", "patched", "f32", "f64", "words", "text", "bin", "dt"}) {
        const FileField& field = field_of(*file, name);
        ASSERT_TRUE(file->has_bloom_filter(0, field.index)) << name;
        const auto values = flatten(file->read_unit(0, {read_whole(field)})->read(0, 0, file->unit_rows(0), nullptr));
        for (size_t i = 0; i < values->size(); ++i) {
            if (values->is_null(i)) continue;
            EXPECT_TRUE(file->might_contain(0, field.index, slice(values, i, 1)->with_type(unwrap(field.type))))
                << name << " " << i;
        }
    }
    size_t believed = 0;
    constexpr size_t kTries = 500;
    for (size_t i = 0; i < kTries; ++i) {
        const auto strange = make_value<int32_t>(make_type(TypeId::Int32), static_cast<int32_t>(random()));
        believed += file->might_contain(0, field_of(*file, "i32").index, strange) ? 1 : 0;
        const auto word = make_string_value(make_type(TypeId::String), "no such word " + std::to_string(i));
        believed += file->might_contain(0, field_of(*file, "text").index, word) ? 1 : 0;
    }
    EXPECT_LT(believed, 2 * kTries / 5);
    EXPECT_FALSE(open_orc(open_test_file(kData + "types_zlib.orc"))->has_bloom_filter(0, 0));
}

TEST(OrcFile, DamagedFilesAreErrorsThatNameThem) {
    const std::string whole = read_test_file(kData + "types_zlib.orc");
    expect_error(ErrorCode::INCORRECT_DATA, "short.orc", [&] { open_orc(open_bytes("ORC", "short.orc")); });
    expect_error(ErrorCode::INCORRECT_DATA, "cut.orc",
                 [&] { open_orc(open_bytes(whole.substr(0, 20000), "cut.orc")); });
    std::string no_data = whole;
    std::fill(no_data.begin() + 3, no_data.begin() + 8000, '\xff');
    const auto file = open_orc(open_bytes(no_data, "filled.orc"));
    expect_error(ErrorCode::INCORRECT_DATA, "filled.orc", [&] { rows_of(*file); });
}

TEST(OrcFile, EveryFlippedByteIsAnErrorOrAnAnswer) {
    const std::string whole = read_test_file(kData + "types_rle1.orc");
    std::mt19937 random(11);
    size_t errors = 0;
    for (int i = 0; i < 300; ++i) {
        std::string bytes = whole;
        bytes[random() % bytes.size()] = static_cast<char>(random());
        if (i % 2) bytes[bytes.size() - 1 - random() % 3000] = static_cast<char>(random());
        try {
            const auto file = open_orc(open_bytes(bytes, "flipped.orc"));
            if (file->rows() <= 100000) rows_of(*file);
        } catch (const Error& error) {
            ++errors;
            EXPECT_NE(error.message().find("flipped.orc"), std::string::npos) << error.message();
        }
    }
    EXPECT_GT(errors, 50u);
}

}  // namespace
}  // namespace firn::file
