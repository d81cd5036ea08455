#include "firn/format/output.h"

#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/vector/builder.h"

using namespace firn;
using namespace firn::format;

namespace {

/// A result of nasty values: strings with escapes, NULLs, nested types, numbers that JSON has no word for.
struct Sample {
    std::vector<Column> columns;
    Batch batch;

    Sample() {
        const auto text = make_type(TypeId::String);
        add("s", make_string_vector(text, {"it's\t/x", "a\"b,c\n"}));
        VectorBuilder numbers(make_nullable(make_type(TypeId::Int64)));
        numbers.append<int64_t>(-7);
        numbers.append_null();
        add("n", numbers.finish());
        VectorBuilder arrays(make_array(text));
        arrays.element().append_string("q'");
        arrays.element().append_string("");
        arrays.end_array();
        arrays.end_array();
        add("a", arrays.finish());
        add("f", make_vector<double>(make_type(TypeId::Float64), {1.5, std::numeric_limits<double>::quiet_NaN()}));
    }

    void add(std::string name, VectorPtr vector) {
        columns.push_back({std::move(name), vector->type()});
        batch.rows = vector->size();
        batch.columns.push_back(std::move(vector));
    }

    std::string print(std::string_view format, std::vector<std::pair<std::string, std::string>> changes = {}) const {
        Settings settings;
        for (const auto& [name, value] : changes) settings.set(name, value);
        OutputContext context;
        context.settings = &settings;
        std::string out;
        auto output = make_output(format, columns, context, [&](std::string_view bytes) { out += bytes; });
        output->begin();
        output->write(batch);
        output->end({});
        return out;
    }
};

}  // namespace

TEST(Output, TabSeparated) {
    EXPECT_EQ(Sample().print("TSVWithNamesAndTypes"),
              "s\tn\ta\tf\nString\tNullable(Int64)\tArray(String)\tFloat64\n"
              "it\\'s\\t/x\t-7\t['q\\'','']\t1.5\na\"b,c\\n\t\\N\t[]\tnan\n");
}

TEST(Output, Csv) {
    EXPECT_EQ(Sample().print("CSVWithNames"),
              "\"s\",\"n\",\"a\",\"f\"\n\"it's\t/x\",-7,\"['q\\'','']\",1.5\n\"a\"\"b,c\n\",\\N,\"[]\",nan\n");
}

TEST(Output, JsonEachRow) {
    EXPECT_EQ(Sample().print("JSONEachRow"),
              "{\"s\":\"it's\\t\\/x\",\"n\":-7,\"a\":[\"q'\",\"\"],\"f\":1.5}\n"
              "{\"s\":\"a\\\"b,c\\n\",\"n\":null,\"a\":[],\"f\":null}\n");
    EXPECT_EQ(Sample().print("JSONCompactEachRow", {{"output_format_json_quote_denormals", "1"},
                                                    {"output_format_json_quote_64bit_integers", "1"}}),
              "[\"it's\\t\\/x\", \"-7\", [\"q'\",\"\"], 1.5]\n[\"a\\\"b,c\\n\", null, [], \"nan\"]\n");
}

TEST(Output, PrettyCompactDrawsATable) {
    Sample sample;
    sample.columns.resize(2);
    sample.batch.columns.resize(2);
    sample.batch = sample.batch.cut(0, 1);
    EXPECT_EQ(sample.print("PrettyCompact"), "   ┌─s───────┬──n─┐\n1. │ it's\t/x │ -7 │\n   └─────────┴────┘\n");
}

TEST(Output, UnknownFormat) { EXPECT_THROW(Sample().print("Nope"), Error); }
