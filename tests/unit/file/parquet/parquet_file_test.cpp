#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/local_store.h"
#include "firn/vector/builder.h"
#include "firn/vector/vector_text.h"
#include "tests/unit/file/file_rows.h"

namespace firn::file {
namespace {

const std::string kData = "tests/unit/file/data/parquet_";

std::vector<std::string> expected_rows() {
    std::istringstream text(read_test_file(kData + "types.tsv"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

std::shared_ptr<const DataFile> open_named(const std::string& name) {
    return open_parquet(open_test_file(kData + name + ".parquet"));
}

std::vector<ReadField> all_columns(const DataFile& file) {
    std::vector<ReadField> columns;
    for (const auto& field : file.fields()) columns.push_back(read_whole(field));
    return columns;
}

class ParquetTypes : public testing::TestWithParam<const char*> {};

TEST_P(ParquetTypes, EveryTypeInEveryEncoding) {
    const auto file = open_named(GetParam());
    const auto expected = expected_rows();
    ASSERT_EQ(expected.size(), file->rows());
    EXPECT_EQ(rows_of(*file), expected);
    EXPECT_EQ(rows_of(*file, 7), expected);
    const auto unmapped = open_parquet(open_bytes(read_test_file(kData + GetParam() + ".parquet"), "unmapped.parquet"));
    EXPECT_EQ(rows_of(*unmapped, 100), expected);
}

TEST_P(ParquetTypes, RowsThatAreSkippedChangeNothing) {
    const auto file = open_named(GetParam());
    const auto expected = expected_rows();
    const auto columns = all_columns(*file);
    std::mt19937 random(7);
    for (int round = 0; round < 6; ++round) {
        for (size_t unit = 0; unit < file->units(); ++unit) {
            const auto reader = file->read_unit(unit, columns);
            const uint64_t rows = file->unit_rows(unit);
            for (uint64_t row = 0; row < rows;) {
                const uint64_t begin = std::min<uint64_t>(rows, row + random() % 150);
                const size_t count = std::min<uint64_t>(rows - begin, random() % 150);
                const unsigned every = 1 + random() % 40;
                Selection selection;
                for (uint32_t i = 0; i < count; ++i)
                    if (random() % every == 0) selection.push_back(i);
                std::vector<std::string> wanted;
                for (uint32_t i : selection) wanted.push_back(expected[file->unit_first_row(unit) + begin + i]);
                ASSERT_EQ(read_rows(*reader, columns.size(), begin, count, &selection), wanted);
                row = begin + count;
            }
        }
    }
}

TEST_P(ParquetTypes, DamageIsAnErrorOrAnotherAnswer) {
    const std::string whole = read_test_file(kData + GetParam() + ".parquet");
    std::mt19937 random(9);
    int errors = 0;
    for (int round = 0; round < 60; ++round) {
        std::string bytes = whole;
        for (unsigned i = 0; i < 1 + random() % 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
        try {
            QueryContext context(int64_t{64} << 20);
            const QueryContext::Scope scope(&context);
            const auto file = open_parquet(open_bytes(bytes, "damaged.parquet"));
            const auto columns = all_columns(*file);
            for (size_t unit = 0; unit < file->units(); ++unit) {
                const auto reader = file->read_unit(unit, columns);
                const size_t rows = std::min<uint64_t>(file->unit_rows(unit), 1000);
                for (size_t column = 0; column < columns.size(); ++column) reader->read(column, 0, rows, nullptr);
            }
        } catch (const Error& error) {
            ++errors;
            EXPECT_NE(error.code(), ErrorCode::LOGICAL_ERROR) << error.what();
        }
    }
    EXPECT_GT(errors, 5);
    for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 50)
        EXPECT_THROW(open_parquet(open_bytes(whole.substr(0, size), "short.parquet")), Error);
}

INSTANTIATE_TEST_SUITE_P(Files, ParquetTypes,
                         testing::Values("dictionary_v1", "dictionary_v2", "plain", "fallback", "encodings"));

VectorPtr read_column(const DataFile& file, const std::string& name, size_t unit, const TypePtr& type = nullptr) {
    ReadField column = read_whole(field_of(file, name));
    if (type) column.type = type;
    return file.read_unit(unit, {column})->read(0, 0, file.unit_rows(unit), nullptr);
}

TEST(ParquetFile, DictionariesStayDictionariesOfOneBase) {
    const auto file = open_named("dictionary_v1");
    for (const char* name : {"words", "few"}) {
        const ReadField column = read_whole(field_of(*file, name));
        const auto reader = file->read_unit(0, {column});
        const VectorPtr first = reader->read(0, 0, 100, nullptr), second = reader->read(0, 100, 150, nullptr);
        EXPECT_EQ(first->encoding(), Encoding::Dictionary) << name;
        EXPECT_EQ(second->encoding(), Encoding::Dictionary) << name;
        EXPECT_EQ(first->base(), second->base()) << name;
    }
    EXPECT_TRUE(read_column(*file, "same", 0)->is_constant());
    EXPECT_TRUE(read_column(*file, "nothing", 0)->is_constant());
}

TEST(ParquetFile, PromotionsKeepTheDictionary) {
    const auto file = open_named("dictionary_v1");
    const TypePtr wanted = make_nullable(make_type(TypeId::Int64));
    ReadField column = read_whole(field_of(*file, "clumps"));
    column.type = wanted;
    const auto reader = file->read_unit(0, {column});
    const VectorPtr first = reader->read(0, 0, 150, nullptr), second = reader->read(0, 150, 150, nullptr);
    EXPECT_EQ(first->base(), second->base());
    EXPECT_TRUE(same_type(first->type(), wanted));
    std::string text;
    append_text(text, *first, 125);
    EXPECT_EQ(text, "6");
    EXPECT_TRUE(first->is_null(0));
}

TEST(ParquetFile, NullsThatComeLate) {
    const auto file = open_named("late_nulls");
    std::vector<ReadField> columns = all_columns(*file);
    columns[0].type = make_nullable(make_type(TypeId::Int64));  // a promotion
    for (const size_t step : {600u, 333u, 100u, 37u}) {
        const auto reader = file->read_unit(0, columns);
        std::vector<std::string> wanted, got;
        for (size_t begin = 0; begin < 600; begin += step) {
            const size_t count = std::min<size_t>(step, 600 - begin);
            for (size_t i = begin; i < begin + count; ++i) {
                const bool absent = i >= 350 && i % 3 == 0;
                const std::string number = absent ? "NULL" : std::to_string(i % 7);
                const std::string word = absent ? "NULL" : "'w" + number + "'";
                wanted.push_back(number + "\t" + word + "\t(" + word + ")\t[" + word + "]");
            }
            for (auto& row : read_rows(*reader, columns.size(), begin, count, nullptr)) got.push_back(std::move(row));
        }
        EXPECT_EQ(got, wanted) << step;
    }
    // Until then there is no NULL to look for, and no entry that no row has.
    const auto reader = file->read_unit(0, columns);
    for (size_t column = 0; column < 2; ++column) {
        const VectorPtr before = reader->read(column, 0, 300, nullptr), after = reader->read(column, 300, 300, nullptr);
        ASSERT_EQ(before->encoding(), Encoding::Dictionary);
        EXPECT_EQ(before->base()->size(), 7U);
        EXPECT_EQ(before->base()->nulls(), nullptr);
        EXPECT_FALSE(after->is_null(0));
        EXPECT_TRUE(after->is_null(51));
    }
}

TEST(ParquetFile, NullWhereNoneIsAllowedIsAnError) {
    for (const char* name : {"dictionary_v1", "plain"}) {
        const auto file = open_named(name);
        EXPECT_THROW(read_column(*file, "clumps", 0, make_type(TypeId::Int32)), Error);
        EXPECT_TRUE(same_type(read_column(*file, "up", 0, make_type(TypeId::Int32))->type(), make_type(TypeId::Int32)));
    }
}

TEST(ParquetFile, PagesOfRowsThatAreLeftOutAreNotDecoded) {
    const auto file = open_named("dictionary_v1");
    QueryContext context;
    const QueryContext::Scope scope(&context);
    const auto reader = file->read_unit(0, {read_whole(field_of(*file, "text"))});
    const Selection one{250};
    EXPECT_EQ(reader->read(0, 0, 300, &one)->size(), 1u);
    EXPECT_EQ(context.count(ProfileEvent::ParquetDecodedPages), 1u);
    EXPECT_GT(context.count(ProfileEvent::ParquetSkippedPages), 0u);
}

TEST(ParquetFile, StatisticsOfUnitsAndPages) {
    const auto file = open_named("dictionary_v1");
    const FileField& up = field_of(*file, "up");
    const ValueStatistics unit = file->unit_statistics(1, up.index);
    ASSERT_TRUE(unit.min && unit.max);
    EXPECT_EQ(unit.min->values<int32_t>()[0], 900);
    EXPECT_EQ(unit.max->values<int32_t>()[0], 1497);
    EXPECT_TRUE(unit.min_exact && unit.max_exact);
    EXPECT_EQ(unit.null_count, 0u);
    const auto pages = file->page_statistics(1, up.index);
    ASSERT_GT(pages.size(), 1u);
    uint64_t row = 0;
    for (const PageRange& page : pages) {
        EXPECT_EQ(page.first_row, row);
        EXPECT_EQ(page.statistics.min->values<int32_t>()[0], static_cast<int32_t>(900 + row * 3));
        row += page.rows;
        EXPECT_EQ(page.statistics.max->values<int32_t>()[0], static_cast<int32_t>(900 + (row - 1) * 3));
    }
    EXPECT_EQ(row, 200u);
    const ValueStatistics nothing = file->unit_statistics(0, field_of(*file, "nothing").index);
    EXPECT_EQ(nothing.null_count, 300u);
    EXPECT_FALSE(nothing.min || nothing.max);
    EXPECT_FALSE(file->unit_statistics(0, field_of(*file, "f64").index).min_exact);  // NaN may have been left out
    EXPECT_TRUE(open_named("plain")->page_statistics(0, up.index).empty());
}

TEST(ParquetFile, DictionaryOfAUnit) {
    const auto file = open_named("dictionary_v1");
    const VectorPtr few = file->unit_dictionary(0, field_of(*file, "few").index);
    ASSERT_TRUE(few);
    EXPECT_EQ(few->size(), 6u);
    EXPECT_EQ(file->unit_dictionary(0, field_of(*file, "words").index)->size(), 21u);
    EXPECT_FALSE(open_named("plain")->unit_dictionary(0, field_of(*file, "few").index));
    EXPECT_FALSE(open_named("fallback")->unit_dictionary(0, field_of(*file, "up").index));
}

std::string text_of(const DataFile& file, const ReadField& column) {
    std::string out;
    for (const auto& row : rows_of(file, {column})) out += row + "\n";
    return out;
}

TEST(ParquetFile, StructsReadInPartReorderedAndWithFieldsMissing) {
    const auto file = open_named("dictionary_v1");
    const FileField& field = field_of(*file, "struct");
    const TypePtr number = make_nullable(make_type(TypeId::Int64));
    ReadField column;
    column.source = field.index;
    ReadField missing;
    missing.type = number;
    missing.missing = make_value<int64_t>(number, 5);
    const ReadField present = read_whole(field.children[0]);
    column.type = make_tuple_type({number, number}, {"added", "renamed"});
    column.children = {missing, present};
    const auto rows = rows_of(*file, {column});
    const auto only = [&](ReadField wanted) {
        ReadField one;
        one.source = field.index;
        one.type = make_tuple_type({wanted.type}, {"x"});
        one.children = {std::move(wanted)};
        return rows_of(*file, {one}, 77);
    };
    const auto added = only(missing), renamed = only(present);
    size_t absent = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        // The struct is there wherever its p is: then the default stands for what the file has not.
        EXPECT_EQ(renamed[i] == "(NULL)", added[i] == "(NULL)");
        EXPECT_EQ(rows[i], "(" + added[i].substr(1, added[i].size() - 2) + "," + renamed[i].substr(1));
        absent += added[i] == "(NULL)";
    }
    EXPECT_GT(absent, 10u);
    EXPECT_LT(absent, 200u);
}

TEST(ParquetFile, ListsOfStructsWhoseFieldsAreAllMissingKeepTheirLengths) {
    const auto file = open_named("dictionary_v1");
    const FileField& field = field_of(*file, "pairs");
    const TypePtr number = make_nullable(make_type(TypeId::Int64));
    const auto wanted = [&](ReadField child) {
        ReadField element;
        element.source = field.children[0].index;
        element.type = make_tuple_type({number}, {"a"});
        element.children = {std::move(child)};
        ReadField column;
        column.source = field.index;
        column.type = make_array(element.type);
        column.children = {std::move(element)};
        return column;
    };
    ReadField missing;
    missing.type = number;
    std::string without = text_of(*file, wanted(missing)),
                with = text_of(*file, wanted(read_whole(field.children[0].children[0])));
    for (char& c : with)
        if (c >= '0' && c <= '9') c = 'N';
    for (size_t at; (at = without.find("NULL")) != std::string::npos;) without.replace(at, 4, "N");
    EXPECT_EQ(without, with);
}

TEST(ParquetFile, WhatIsNoParquetFile) {
    const auto code = [](const std::string& bytes) {
        try {
            open_parquet(open_bytes(bytes, "x.parquet"));
        } catch (const Error& error) {
            EXPECT_NE(error.message().find("x.parquet"), std::string::npos);
            return error.code();
        }
        return ErrorCode{};
    };
    EXPECT_EQ(code(""), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code("PAR1PAR1PAR1"), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code(std::string("PAR1") + std::string("\xFF\xFF\xFF\x7F", 4) + "PAR1"), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code(std::string("PAR1") + std::string(4, '\0') + "PARE"), ErrorCode::NOT_IMPLEMENTED);
}

// ---- The files that other implementations wrote, where they lie beside the repository.

std::string other_files() {
    const char* named = std::getenv("FIRN_PARQUET_TESTING");
    return named ? named : std::string(FIRN_SOURCE_DIR) + "/../shared/parquet-testing";
}

TEST(ParquetTesting, EveryFileReadsTheSameWholeAndInParts) {
    if (!std::filesystem::exists(other_files() + "/data")) GTEST_SKIP() << "no files in " << other_files();
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(other_files() + "/data")) {
        const std::string path = entry.path().string(), name = entry.path().filename().string();
        if (entry.path().extension() != ".parquet" || name.find("large_string_map") == 0) continue;
        SCOPED_TRACE(name);
        try {
            const auto file = open_parquet(storage::local_store().open(path));
            const auto rows = rows_of(*file);
            EXPECT_EQ(rows.size(), file->rows());
            EXPECT_EQ(rows_of(*file, 61), rows);
            ++files;
        } catch (const Error& error) {
            EXPECT_NE(name.find("corrupt-checksum"), std::string::npos) << error.what();
        }
    }
    EXPECT_GT(files, 50u);
}

TEST(ParquetTesting, BadFilesAreErrors) {
    if (!std::filesystem::exists(other_files() + "/bad_data")) GTEST_SKIP() << "no files in " << other_files();
    for (const auto& entry : std::filesystem::directory_iterator(other_files() + "/bad_data")) {
        const std::string path = entry.path().string();
        if (path.find("GH-43605") != std::string::npos) continue;  // others read it by now, and so does firn
        EXPECT_THROW(rows_of(*open_parquet(storage::local_store().open(path))), Error) << path;
    }
}

TEST(ParquetTesting, EncryptedFilesAreRefused) {
    if (!std::filesystem::exists(other_files() + "/data")) GTEST_SKIP() << "no files in " << other_files();
    for (const auto& entry : std::filesystem::directory_iterator(other_files() + "/data")) {
        if (entry.path().extension() != ".encrypted") continue;
        try {
            const auto file = open_parquet(storage::local_store().open(entry.path().string()));
            rows_of(*file);
            ADD_FAILURE() << entry.path();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::NOT_IMPLEMENTED) << error.what();
        }
    }
}

TEST(ParquetTesting, BloomFilter) {
    const std::string path = other_files() + "/data/data_index_bloom_encoding_stats.parquet";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no file " << path;
    const auto file = open_parquet(storage::local_store().open(path));
    ASSERT_TRUE(file->has_bloom_filter(0, 0));
    const TypePtr string = make_type(TypeId::String);
    for (const auto& row : rows_of(*file))
        EXPECT_TRUE(file->might_contain(0, 0, make_string_value(string, row.substr(1, row.size() - 2))));
    int found = 0;
    for (int i = 0; i < 200; ++i)
        found += file->might_contain(0, 0, make_string_value(string, "absent" + std::to_string(i)));
    EXPECT_LT(found, 40);
}

}  // namespace
}  // namespace firn::file
