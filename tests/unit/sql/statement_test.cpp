// Statements as they are printed, which shows what was understood. Most answers are those of ClickHouse's formatQuery.
#include <gtest/gtest.h>

#include "tests/unit/sql/tables.h"

namespace firn::sql {
namespace {

void check(std::initializer_list<Row> rows) {
    for (const Row& row : rows) {
        EXPECT_EQ(printed(row.text), row.wanted) << row.text;
        if (row.wanted[0] < 'A') continue;  // an error's code
        EXPECT_EQ(printed(row.wanted), row.wanted) << "printed text reads back";
    }
}

TEST(Statement, Select) {
    check({
        {"select a b, 'x' from t where (a) = 1 and not b", "SELECT a AS b, 'x' FROM t WHERE ((a) = 1) AND (NOT b)"},
        {"select distinct a from t prewhere x where y limit 3 by a, b limit 5 offset 6",
         "SELECT DISTINCT a FROM t PREWHERE x WHERE y LIMIT 3 BY a, b LIMIT 6, 5"},
        {"select distinct on (a, b) c from t", "SELECT c FROM t LIMIT 1 BY a, b"},
        {"select top 3 with ties a from t order by a", "SELECT a FROM t ORDER BY a ASC LIMIT 3 WITH TIES"},
        {"from t select a", "SELECT a FROM t"},
        {"select a, from t", "SELECT a FROM t"},
        {"select 1 settings a = 1, b, c = 'x', d = {'k': 'v'}, e = default",
         "SELECT 1 SETTINGS a = 1, b, c = 'x', d = {'k': 'v'}, e = DEFAULT"},
        {"select 1 into outfile 'x' truncate and stdout compression 'gzip' level 3 format CSV settings a = 1",
         "SELECT 1 INTO OUTFILE 'x' TRUNCATE AND STDOUT COMPRESSION 'gzip' LEVEL 3 FORMAT CSV SETTINGS a = 1"},
        {"select a group by rollup(a, b) with totals having c",
         "SELECT a GROUP BY a, b WITH ROLLUP WITH TOTALS HAVING c"},
        {"select a group by grouping sets ((a, b), c, ())", "SELECT a GROUP BY GROUPING SETS ((a, b), (c), ())"},
        {"select a group by all order by all desc nulls first", "SELECT a GROUP BY ALL ORDER BY ALL DESC NULLS FIRST"},
        {"select a order by a collate 'en' with fill from 1 to 2 step 3 staleness 4 interpolate (x as y, z)",
         "SELECT a ORDER BY a ASC COLLATE 'en' WITH FILL FROM 1 TO 2 STEP 3 STALENESS 4 INTERPOLATE (x AS y, z AS z)"},
        {"select a from t order by a offset 5 rows fetch next 3 rows only",
         "SELECT a FROM t ORDER BY a ASC LIMIT 5, 3"},
        {"select a from t limit 5 offset 2 by a", "SELECT a FROM t LIMIT 2, 5 BY a"},
        {"select a from t window w as (partition by a), v as (w order by b) qualify c",
         "SELECT a FROM t WINDOW w AS (PARTITION BY a), v AS (w ORDER BY b ASC) QUALIFY c"},
        {"with x as (select 1), 2 as y, t(a, b) as materialized (select 3, 4) select 5",
         "WITH x AS (SELECT 1), 2 AS y, t(a, b) AS MATERIALIZED (SELECT 3, 4) SELECT 5"},
        {"with recursive r as (select 1) select * from r", "WITH RECURSIVE r AS (SELECT 1) SELECT * FROM r"},
        {"select {x:Array( UInt8 )}", "SELECT {x:Array(UInt8)}"},
    });
}

TEST(Statement, From) {
    check({
        {"select 1 from a, b.c cross join d left array join e as f, g",
         "SELECT 1 FROM a, b.c CROSS JOIN d LEFT ARRAY JOIN e AS f, g"},
        {"select 1 from a t final sample 1/10 offset 0.5", "SELECT 1 FROM a AS t FINAL SAMPLE 1 / 10 OFFSET 0.5"},
        {"select 1 from a inner any join b on 1 global asof left outer join c using x full join d using (y, z)",
         "SELECT 1 FROM a ANY INNER JOIN b ON 1 GLOBAL ASOF LEFT JOIN c USING (x) FULL OUTER JOIN d USING (y, z)"},
        {"select 1 from a semi join b on 1 anti right join c on 2 paste join d",
         "SELECT 1 FROM a SEMI LEFT JOIN b ON 1 ANTI RIGHT JOIN c ON 2 PASTE JOIN d"},
        {"select 1 from (select 2) as t(a, b)", "SELECT 1 FROM (SELECT 2) AS t(a, b)"},
        {"select 1 from a join (b join c on 1) on 2",
         "SELECT 1 FROM a INNER JOIN (SELECT * FROM b INNER JOIN c ON 1) ON 2"},
        {"select 1 from (values (1, 2), (3, 4)) as v",
         "SELECT 1 FROM (SELECT * FROM SQLStandardValues((1, 2), (3, 4))) AS v"},
        {"select 1 from f(1, x = 2, settings a = 1) as t", "SELECT 1 FROM f(1, x = 2, SETTINGS a = 1) AS t"},
        {"select 1 from view(select 2)", "SELECT 1 FROM view(SELECT 2)"},
        {"select 1 from a semi inner join b on 1", "62 SYNTAX_ERROR"},
        {"select 1 from 'x.csv'", "SELECT 1 FROM `x.csv`"},
        {"select 1 from ''", "62 SYNTAX_ERROR"},
        {"select 1 from a join b", "62 SYNTAX_ERROR"},
        {"select 1 from a cross join b on 1", "62 SYNTAX_ERROR"},
    });
}

TEST(Statement, SetOperations) {
    check({
        {"select 1 union all select 2 union all select 3", "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"},
        {"(select 1) union distinct (select 2 intersect select 3)",
         "SELECT 1 UNION DISTINCT (SELECT 2 INTERSECT SELECT 3)"},
        {"select * from ((select 1) union all (select 2)) x", "SELECT * FROM (SELECT 1 UNION ALL SELECT 2) AS x"},
        {"select * except select 1", "SELECT * EXCEPT SELECT 1"},
        {"(select 1) union all (select 2) order by 1", "62 SYNTAX_ERROR"},
    });
    const QueryPtr query = parse_query("select 1 union all select 2 except select 3 intersect select 4");
    EXPECT_EQ(query->op, SetOperator::ExceptDefault);
    EXPECT_EQ(query->operands[0]->op, SetOperator::UnionAll);
    EXPECT_EQ(query->operands[1]->op, SetOperator::IntersectDefault);
    EXPECT_EQ(parse_query("select 1 union all select 2 union all select 3")->operands.size(), 3u);
}

TEST(Statement, Definitions) {
    check({
        {"create table db.t (a Int8 not null, b Nullable(String) default 'x' comment 'c' codec(ZSTD(1)), constraint q "
         "check a > 0) "
         "engine MergeTree(a) order by (a, b) partition by c settings x = 1 comment 'cc'",
         "CREATE TABLE db.t (`a` Int8 NOT NULL, `b` Nullable(String) DEFAULT 'x' COMMENT 'c' CODEC(ZSTD(1)), "
         "CONSTRAINT q CHECK a > 0) ENGINE = MergeTree(a) PARTITION BY c ORDER BY (a, b) SETTINGS x = 1 COMMENT 'cc'"},
        {"create or replace table t (a Int8) engine = X order by (a desc, b nulls first)",
         "CREATE OR REPLACE TABLE t (`a` Int8) ENGINE = X ORDER BY (a DESC, b ASC NULLS FIRST)"},
        {"create table if not exists t engine = Memory as select 1 as x",
         "CREATE TABLE IF NOT EXISTS t ENGINE = Memory AS SELECT 1 AS x"},
        {"create table t (a Int8) engine = X order by b desc",
         "CREATE TABLE t (`a` Int8) ENGINE = X ORDER BY (b DESC)"},
        {"create table t as u engine = Memory", "CREATE TABLE t AS u ENGINE = Memory"},
        {"create or replace view v as select 1 union all select 2",
         "CREATE OR REPLACE VIEW v AS SELECT 1 UNION ALL SELECT 2"},
        {"create database if not exists db engine = C('x') settings w = 'y' comment 'z'",
         "CREATE DATABASE IF NOT EXISTS db ENGINE = C('x') SETTINGS w = 'y' COMMENT 'z'"},
        {"drop table if exists db.t, u sync", "DROP TABLE IF EXISTS db.t, u SYNC"},
        {"detach table t permanently", "DETACH TABLE t PERMANENTLY"},
        {"truncate t", "TRUNCATE TABLE t"},
        {"drop database db", "DROP DATABASE db"},
        {"rename table a to b, c.d to e.f", "RENAME TABLE a TO b, c.d TO e.f"},
        {"create function f as x -> x", "48 NOT_IMPLEMENTED"},
        {"create table t (a Int8, b null)", "62 SYNTAX_ERROR"},
    });
}

TEST(Statement, Changes) {
    check({
        {"alter table t add column if not exists a Nullable(Int8) default 1 first, add column b String after a, drop "
         "column c, "
         "modify column d String, rename column e.f to e.g, comment column h 'x'",
         "ALTER TABLE t (ADD COLUMN IF NOT EXISTS `a` Nullable(Int8) DEFAULT 1 FIRST), (ADD COLUMN `b` String AFTER "
         "a), "
         "(DROP COLUMN c), (MODIFY COLUMN `d` String), (RENAME COLUMN e.f TO e.g), (COMMENT COLUMN h 'x')"},
        {"alter table t delete where a, update b = 1, c = 2 where d",
         "ALTER TABLE t (DELETE WHERE a), (UPDATE b = 1, c = 2 WHERE d)"},
        {"alter table t execute expire_snapshots('x', 3)", "ALTER TABLE t (EXECUTE expire_snapshots('x', 3))"},
        {"alter table t alter column a type String, modify column b remove default",
         "ALTER TABLE t (MODIFY COLUMN `a` String), (MODIFY COLUMN b REMOVE DEFAULT)"},
        {"alter table t modify order by (a desc, b)", "ALTER TABLE t (MODIFY ORDER BY (a DESC, b ASC))"},
        {"alter table t freeze /* all */ partition 1", "ALTER TABLE t (freeze partition 1)"},
        {"delete from t where a = 1 settings x = 1", "DELETE FROM t WHERE a = 1 SETTINGS x = 1"},
        {"update t set a = 1 where b", "UPDATE t SET a = 1 WHERE b"},
        {"optimize table t partition 'x' manifest final", "OPTIMIZE TABLE t PARTITION 'x' MANIFEST FINAL"},
        {"insert into t (a, b) select 1, 2", "INSERT INTO t (a, b) SELECT 1, 2"},
        {"insert into function f('x') partition by a select 1", "INSERT INTO FUNCTION f('x') PARTITION BY a SELECT 1"},
        {"with x as (select 1) insert into t select * from x", "INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x"},
        {"insert into t from infile 'x' compression 'gzip' format CSV",
         "INSERT INTO t FROM INFILE 'x' COMPRESSION 'gzip' FORMAT CSV"},
        {"insert into t", "62 SYNTAX_ERROR"},
    });
}

TEST(Statement, Others) {
    check({
        {"explain plan actions = 1, indexes = 1 select 1 format JSON",
         "EXPLAIN actions = 1, indexes = 1 SELECT 1 FORMAT JSON"},
        {"explain query tree select 1", "EXPLAIN QUERY TREE SELECT 1"},
        {"desc f(1)", "DESCRIBE TABLE f(1)"},
        {"describe select 1 format TSV", "DESCRIBE TABLE (SELECT 1) FORMAT TSV"},
        {"show full tables in db not ilike 'a%' limit 3", "SHOW FULL TABLES FROM db NOT ILIKE 'a%' LIMIT 3"},
        {"show create t", "SHOW CREATE TABLE t"},
        {"show columns from t from db like 'x'", "SHOW COLUMNS FROM t FROM db LIKE 'x'"},
        {"show changed settings like 'x'", "SHOW CHANGED SETTINGS LIKE 'x'"},
        {"exists db.t", "EXISTS TABLE db.t"},
        {"set a = 1, param_x = [1, 2], b = default", "SET a = 1, b = DEFAULT, param_x = '[1, 2]'"},
        {"use database db", "USE db"},
        {"kill query where 1 sync", "KILL QUERY WHERE 1 SYNC"},
        {"system drop query cache", "SYSTEM DROP QUERY CACHE"},
    });
}

TEST(Statement, LinesOfTheirOwn) {
    EXPECT_EQ(
        printed("with x as (select 1) select a, b from (select c from d) as e join f using (g) where h in (select 1) "
                "group by i, j with totals order by k limit 1 settings l = 1 format CSV",
                true),
        "WITH\n    x AS\n    (\n        SELECT 1\n    )\nSELECT\n    a,\n    b\nFROM\n(\n    SELECT c\n    FROM d\n) "
        "AS e\n"
        "INNER JOIN f USING (g)\nWHERE h IN (\n    SELECT 1\n)\nGROUP BY\n    i,\n    j\n    WITH TOTALS\nORDER BY k "
        "ASC\n"
        "LIMIT 1\nSETTINGS l = 1\nFORMAT CSV");
    EXPECT_EQ(printed("create table t (a Int8, b String) engine = Memory comment 'x'", true),
              "CREATE TABLE t\n(\n    `a` Int8,\n    `b` String\n)\nENGINE = Memory\nCOMMENT 'x'");
    EXPECT_EQ(printed("select 1 union all select 2", true), "SELECT 1\nUNION ALL\nSELECT 2");
}

TEST(Statement, ImplicitSelect) {
    EXPECT_EQ(printed("1 + 1 as x where 1", false, {.implicit_select = true}), "SELECT 1 + 1 AS x WHERE 1");
    EXPECT_EQ(printed("1 + 1"), "62 SYNTAX_ERROR");
}

TEST(Type, ReadsAndPrints) {
    const Row rows[] = {
        {"Array( Nullable(Decimal(10,2)) )", "Array(Nullable(Decimal(10, 2)))"},
        {"Tuple(a Int32, `b c` Map(String, UInt8))", "Tuple(a Int32, `b c` Map(String, UInt8))"},
        {"Enum8('a' = -1, 'b')", "Enum8('a' = -1, 'b')"},
        {"DateTime64(6, 'UTC')", "DateTime64(6, 'UTC')"},
        {"double precision", "DOUBLE PRECISION"},
        {"INT(11) UNSIGNED", "INT UNSIGNED"},
        {"AggregateFunction(quantile(0.5), Int8)", "AggregateFunction(quantile(0.5), Int8)"},
        {"JSON(a.b Int8, max_dynamic_paths=3, SKIP c.d)", "JSON(`a.b` Int8, max_dynamic_paths=3, SKIP `c.d`)"},
        {"Tuple()", "Tuple()"},
    };
    for (const Row& row : rows) EXPECT_EQ(format_type(*parse_type(row.text)), row.wanted);
    const TypeExprPtr type = parse_type("Tuple(a Int32, String)");
    EXPECT_EQ(type->arguments[0].kind, TypeArgument::Kind::NamedType);
    EXPECT_EQ(type->arguments[0].name, "a");
    EXPECT_EQ(type->arguments[1].kind, TypeArgument::Kind::Type);
    EXPECT_THROW(parse_type("Array(Int8"), Error);
    EXPECT_THROW(parse_type("Int8 Int8"), Error);
}

}  // namespace
}  // namespace firn::sql
