#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "firn/base/error.h"
#include "firn/file/parquet/variant.h"
#include "firn/storage/local_store.h"
#include "firn/vector/vector_text.h"
#include "tests/unit/file/file_rows.h"

namespace firn::file::pq {
namespace {

using namespace std::string_literals;

const std::string kNames = "\x01\x02\x00\x01\x03"s + "abc";  // a, bc

std::string json(const std::string& value, const std::string& metadata = kNames) {
    std::string out;
    append_variant(out, VariantMetadata(metadata), value);
    return out;
}

template <typename T>
std::string text(T value) {
    std::string out;
    append_json_float(out, value);
    return out;
}

TEST(Variant, Primitives) {
    EXPECT_EQ(json("\x00"s), "null");
    EXPECT_EQ(json("\x04"s), "true");
    EXPECT_EQ(json("\x08"s), "false");
    EXPECT_EQ(json("\x0C\xFF"s), "-1");
    EXPECT_EQ(json("\x10\x01\x02"s), "513");
    EXPECT_EQ(json("\x14\xFE\xFF\xFF\xFF"s), "-2");
    EXPECT_EQ(json("\x18\x00\x00\x00\x00\x01\x00\x00\x00"s), "4294967296");
    EXPECT_EQ(json("\x20\x02\xE8\x03\x00\x00"s), "10");  // 10.00
    EXPECT_EQ(json("\x20\x03\xE9\x03\x00\x00"s), "1.001");
    EXPECT_EQ(json("\x2C\xFF\xFF\xFF\xFF"s), "\"1969-12-31\"");
    EXPECT_EQ(json("\x30\x40\x42\x0F\x00\x00\x00\x00\x00"s), "\"1970-01-01 00:00:01+00:00\"");
    EXPECT_EQ(json("\x34\x20\xA1\x07\x00\x00\x00\x00\x00"s), "\"1970-01-01 00:00:00.5\"");
    EXPECT_EQ(json("\x3C\x02\x00\x00\x00\x01\x02"s), "\"AQI=\"");
    EXPECT_EQ(json("\x40\x02\x00\x00\x00hi"s), "\"hi\"");
    EXPECT_EQ(json("\x0D"s + "a\"\n"), "\"a\\\"\\n\"");  // a short string
}

TEST(Variant, ArraysAndObjects) {
    EXPECT_EQ(json("\x03\x02\x00\x01\x03\x00\x0C\x05"s), "[null,5]");
    EXPECT_EQ(json("\x03\x00\x00"s), "[]");
    EXPECT_EQ(json("\x02\x00\x00"s), "{}");
    // Values need not be in the order of the fields.
    EXPECT_EQ(json("\x02\x02\x00\x01\x02\x00\x04\x0C\x05\x0C\x06"s), "{\"a\":6,\"bc\":5}");
}

TEST(Variant, FloatsAreWrittenAsJavaDoes) {
    EXPECT_EQ(text(1.5), "1.5");
    EXPECT_EQ(text(1.0), "1.0");
    EXPECT_EQ(text(100.0), "100.0");
    EXPECT_EQ(text(0.001), "0.001");
    EXPECT_EQ(text(0.00012), "1.2E-4");
    EXPECT_EQ(text(9999999.0), "9999999.0");
    EXPECT_EQ(text(1e7), "1.0E7");
    EXPECT_EQ(text(-1.5e300), "-1.5E300");
    EXPECT_EQ(text(-0.0), "-0.0");
    EXPECT_EQ(text(10.11f), "10.11");
    EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "\"NaN\"");
}

TEST(Variant, DamageIsAnError) {
    const auto refused = [](const std::string& value, const std::string& metadata = kNames) {
        try {
            json(value, metadata);
            ADD_FAILURE() << "let through";
        } catch (const Error& error) {
            EXPECT_TRUE(error.code() == ErrorCode::INCORRECT_DATA || error.code() == ErrorCode::NOT_IMPLEMENTED);
        }
    };
    refused("");
    refused("\x18\x00"s);                          // cut off
    refused("\x40\xFF\xFF\xFF\xFFhi"s);            // a string longer than what is there
    refused("\x03\x05\x00"s);                      // offsets missing
    refused("\x03\x02\x02\x01\x03\x00\x0C\x05"s);  // offsets that do not ascend
    refused("\x02\x01\x07\x00\x01\x00"s);          // a name that is not there
    refused("\xFC"s);                              // a type that is not known
    refused("\x00"s, "");
    refused("\x00"s, "\x02\x00\x00"s);  // another version
    refused("\x00"s, "\x01\x05\x00"s);
    // Objects whose fields are all the same bytes, over and over, would double with each level.
    std::string nested = "\x00"s;
    for (int level = 0; level < 60; ++level) {
        const auto size = static_cast<char>(nested.size());
        if (nested.size() > 100) break;
        nested = "\x02\x02\x00\x01\x00\x00"s + size + nested;
    }
    refused(nested);
    std::string deep = "\x00"s;
    for (int level = 0; level < 2000; ++level) {
        std::string size(4, '\0');
        for (size_t i = 0; i < 4; ++i) size[i] = static_cast<char>(deep.size() >> (8 * i));
        deep = "\x0F\x01"s + std::string(4, '\0') + size + deep;
    }
    refused(deep);
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ParquetTesting, ShreddedVariantsAreTheUnshreddedOnes) {
    const char* named = std::getenv("FIRN_PARQUET_TESTING");
    const std::string folder =
        (named ? named : std::string(FIRN_SOURCE_DIR) + "/../shared/parquet-testing") + "/shredded_variant/";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no folder " << folder;
    int compared = 0;
    for (int number = 1; number <= 138; ++number) {
        const std::string name = fmt::format("case-{:03}", number);
        if (!std::filesystem::exists(folder + name + ".parquet")) continue;
        SCOPED_TRACE(name);
        std::shared_ptr<const DataFile> file;
        std::vector<std::string> rows;
        try {
            file = open_parquet(storage::local_store().open(folder + name + ".parquet"));
            const ReadField variant = read_whole(field_of(*file, "var"));
            for (size_t unit = 0; unit < file->units(); ++unit) {
                const VectorPtr values = file->read_unit(unit, {variant})->read(0, 0, file->unit_rows(unit), nullptr);
                for (size_t row = 0; row < values->size(); ++row) append_text(rows.emplace_back(), *values, row);
            }
        } catch (const Error&) {
            EXPECT_FALSE(std::filesystem::exists(folder + name + "_row-0.variant.bin"));
            continue;
        }
        for (size_t row = 0; row < rows.size(); ++row) {
            const std::string expected = bytes_of(folder + name + fmt::format("_row-{}.variant.bin", row));
            if (expected.empty()) {
                EXPECT_EQ(rows[row], "NULL");
                continue;
            }
            const size_t metadata = VariantMetadata(expected).size();
            EXPECT_EQ(rows[row], json(expected.substr(metadata), expected.substr(0, metadata)));
            ++compared;
        }
    }
    EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace firn::file::pq
