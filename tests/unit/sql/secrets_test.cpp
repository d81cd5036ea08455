#include "firn/sql/secrets.h"

#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/sql/parser.h"
#include "firn/sql/printer.h"

namespace firn::sql {
namespace {

std::string shown(const std::string& text) { return format_statement(*parse_statement(text), {.hide_secrets = true}); }

void expect_hidden(const std::string& text, const std::string& kept = "") {
    const std::string out = shown(text);
    EXPECT_EQ(out.find("SECRET"), std::string::npos) << out;
    EXPECT_NE(out.find("[HIDDEN]"), std::string::npos) << out;
    EXPECT_NE(out.find(kept), std::string::npos) << out;
}

TEST(Secrets, S3) {
    expect_hidden("SELECT * FROM icebergS3('s3://b/t', 'key', 'SECRET')", "'key'");
    expect_hidden("SELECT * FROM iceberg('s3://b/t', 'key', 'SECRET', 'SECRET2', 'Parquet')", "'Parquet'");
    expect_hidden("SELECT * FROM s3('s3://b/t', 'key', 'SECRET', 'ORC', 'a Int32', 'gzip')", "'a Int32'");
    expect_hidden("SELECT * FROM icebergS3(collection, secret_access_key = 'SECRET')", "collection");
    expect_hidden("CREATE TABLE t ENGINE = IcebergS3('s3://b/t', 'key', 'SECRET')", "IcebergS3");
    expect_hidden("SELECT * FROM icebergS3Cluster('c', 's3://b/t', 'key', 'SECRET')", "'s3://b/t'");
    expect_hidden("SELECT * FROM s3('https://b.s3.amazonaws.com/k?X-Amz-Signature=SECRET')",
                  "https://b.s3.amazonaws.com/k");
    expect_hidden("INSERT INTO FUNCTION s3('s3://b/t', 'key', 'SECRET') SELECT 1");
    expect_hidden("CREATE VIEW v AS SELECT 1 IN (SELECT x FROM icebergS3('s3://b/t', 'key', 'SECRET'))");
}

TEST(Secrets, Azure) {
    expect_hidden("SELECT * FROM icebergAzure('AccountName=me;AccountKey=SECRET==;X=1', 'c', 'p')", "AccountName=me");
    expect_hidden("SELECT * FROM icebergAzure('https://me.blob.core.windows.net?sig=SECRET', 'c', 'p')", "me.blob");
    expect_hidden("SELECT * FROM icebergAzure('https://me.blob.core.windows.net', 'c', 'p', 'me', 'SECRET', 'Parquet')",
                  "'Parquet'");
}

TEST(Secrets, NothingElseIsTouched) {
    for (const std::string text :
         {"SELECT * FROM icebergS3('s3://b/t', NOSIGN, 'Parquet')",
          "SELECT * FROM s3('s3://b/t', 'Parquet', 'a Int32')", "SELECT * FROM icebergLocal('/a', 'b', 'c')",
          "SELECT f(a, 'b', 'c') FROM icebergAzure('https://h', 'c', 'p', 'Parquet')",
          "SELECT * FROM icebergHDFS('hdfs://n:1/t')"})
        EXPECT_EQ(shown(text), format_statement(*parse_statement(text))) << text;
}

std::string syntax_error_of(const std::string& text) {
    try {
        parse_statement(text);
    } catch (const Error& error) {
        return std::string(error.message());
    }
    return "no error";
}

TEST(Secrets, WhatCannotBeParsed) {
    const std::string filler = "SELECT * FRM icebergS3('s3://b/" + std::string(150, 'x') + "', 'key', 'SECRET')";
    for (const std::string& text :
         {std::string("SELECT * FRM icebergS3('s3://b/t', 'key', 'SECRET')"),
          std::string("SELECT * FROM icebergS3('s3://b/t', 'key' 'SECRET')"),
          std::string("SELECT * FROM icebergS3('s3://b/t', 'key', 'SECRET"),
          std::string("SELECT * FROM icebergS3('s3://b/t', 'key' $a$SECRET$a$)"), filler,
          std::string("SELECT * FROM icebergS3('s3://b/t' 'key', $$SECRET"),
          std::string("SELECT * FROM icebergS3('s3://b/t' 'key', $a$SECRET"),
          std::string("SELECT * FROM icebergS3('s3://b/t', 'key' \"SECRET\")"),
          std::string("CREATE NAMED COLLECTION c AS a b = 'SECRET'"),
          std::string("CREATE DATABASE d ENGINE = DataLakeCatalog('http://h') SETTINGS a = 1 catalog_credential = "
                      "'SECRET'")}) {
        const std::string error = syntax_error_of(text);
        EXPECT_NE(error.find("Syntax error: failed at position"), std::string::npos) << error;
        EXPECT_EQ(error.find("SECRET"), std::string::npos) << error;
        EXPECT_NE(error.find("[HIDDEN]"), std::string::npos) << error;
    }
    for (const std::string comment : {"-- 'k2', 'SECRET'", "/* 'k2', 'SECRET' */ bar", "/* 'k2', 'SECRET'"}) {
        const std::string error = syntax_error_of("SELECT * FROM icebergS3('s3://b/t', 'key') ) foo " + comment);
        EXPECT_NE(error.find("foo"), std::string::npos) << error;
        EXPECT_EQ(error.find("SECRET"), std::string::npos) << error;
    }
    EXPECT_NE(syntax_error_of("SELECT 1 FRM 'seen' , f('seen too')").find("f('seen too')"), std::string::npos);
}

}  // namespace
}  // namespace firn::sql
