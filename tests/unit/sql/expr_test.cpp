// What operators and special forms become, and what binds tighter. The answers are ClickHouse 26.9's.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/sql/tables.h"

namespace firn::sql {
namespace {

void check(std::initializer_list<Row> rows) {
    for (const Row& row : rows) EXPECT_EQ(lowered(row.text), row.wanted) << row.text;
}

TEST(Expr, Precedence) {
    check({
        {"a + b * c % d - e", "minus(plus(a, modulo(multiply(b, c), d)), e)"},
        {"- a * b", "multiply(negate(a), b)"},
        {"-not a + b", "negate(not(plus(a, b)))"},
        {"a || b + c", "concat(a, plus(b, c))"},
        {"a || b = c", "equals(concat(a, b), c)"},
        {"a = b = c", "equals(equals(a, b), c)"},
        {"a like b = c", "equals(like(a, b), c)"},
        {"a in b + c", "in(a, plus(b, c))"},
        {"a = b is null", "isNull(equals(a, b))"},
        {"not a = b", "not(equals(a, b))"},
        {"not a is null", "not(isNull(a))"},
        {"not a and b", "and(not(a), b)"},
        {"a = not b = c", "equals(a, not(equals(b, c)))"},
        {"a or b and c", "or(a, and(b, c))"},
        {"a and b and c or d or e", "or(and(a, b, c), d, e)"},
        {"(a and b) and c", "and(and(a, b), c)"},
        {"a between b and c and d", "and(and(greaterOrEquals(a, b), lessOrEquals(a, c)), d)"},
        {"a not between 1 and 2", "or(less(a, 1), greater(a, 2))"},
        {"a between 1 and 2 = 3", "and(greaterOrEquals(a, 1), lessOrEquals(a, equals(2, 3)))"},
        {"a between 1 and 2 is null", "isNull(and(greaterOrEquals(a, 1), lessOrEquals(a, 2)))"},
        {"a between b is null and c", "62 SYNTAX_ERROR"},
        {"a or b ? c : d", "if(or(a, b), c, d)"},
        {"a ? b or c : d and e", "if(a, or(b, c), and(d, e))"},
        {"a ? b : c ? d : e", "62 SYNTAX_ERROR"},
        {"a ? (b ? c : d) : e", "if(a, if(b, c, d), e)"},
        {"x -> y ? a : b", "lambda(tuple(x), if(y, a, b))"},
        {"x -> y -> z", "62 SYNTAX_ERROR"},
    });
}

TEST(Expr, Operators) {
    check({
        {"a <=> b", "isNotDistinctFrom(a, b)"},
        {"a is distinct from b", "isDistinctFrom(a, b)"},
        {"a is not distinct from b", "isNotDistinctFrom(a, b)"},
        {"a is not true", "isDistinctFrom(a, true)"},
        {"a is unknown", "isNull(a)"},
        {"a global not in b", "globalNotIn(a, b)"},
        {"a not ilike 'x'", "notILike(a, 'x')"},
        {"a regexp 'x'", "match(a, 'x')"},
        {"a div b mod c", "modulo(intDiv(a, b), c)"},
        {"a at time zone 'UTC'", "toTimeZone(a, 'UTC')"},
        {"+a", "a"},
        {"a <> b", "notEquals(a, b)"},
        {"a XOR b", "62 SYNTAX_ERROR"},
    });
}

TEST(Expr, Literals) {
    check({
        {"- 5.5", "-5.5"},
        {"-(5)", "negate(5)"},
        {"- -1", "negate(-1)"},
        {"-inf", "-inf"},
        {"0x10", "16"},
        {"0b11", "3"},
        {"1_000", "1000"},
        {"007", "7"},
        {"18446744073709551615", "18446744073709551615"},
        {"18446744073709551616", "18446744073709552000."},
        {"-9223372036854775808", "-9223372036854775808"},
        {"-9223372036854775809", "-9223372036854776000."},
        {"1e3", "1000."},
        {"1e21", "1e21"},
        {"1e-7", "1e-7"},
        {"0.000001", "0.000001"},
        {"123456789012345680.0", "123456789012345680."},
        {"-0.0", "-0."},
        {"1e400", "62 SYNTAX_ERROR"},
        {"0b102", "62 SYNTAX_ERROR"},
        {"[1, 'a', null, [2]]", "[1, 'a', NULL, [2]]"},
        {"[1.5, 2]", "[1.5, 2.]"},
        {"[true, false]", "[1, 0]"},
        {"(1, true)", "(1, true)"},
        {"(1,)", "(1)"},
        {"[]", "[]"},
        {"(1)", "1"},
    });
    EXPECT_EQ(parse_expr("340282366920938463463374607431768211456")->literal.text,
              "340282366920938463463374607431768211456");
    EXPECT_EQ(parse_expr("- 1_000.50")->literal.text, "-1000.50");
    EXPECT_TRUE(std::isnan(parse_expr("nan")->literal.float64));
    EXPECT_TRUE(parse_expr("(1, 'x')")->is(ExprKind::Literal));
    EXPECT_TRUE(parse_expr("(1, x)")->is_function("tuple"));
}

TEST(Expr, CastsTakeTheTextOfALiteral) {
    check({
        {"1::Int8", "CAST('1', 'Int8')"},
        {"- 1::Int8", "CAST('- 1', 'Int8')"},
        {"-(1)::Int8", "negate(CAST('(1)', 'Int8'))"},
        {"[1, 2]::Array(UInt8)[1]", "arrayElement(CAST('[1, 2]', 'Array(UInt8)'), 1)"},
        {"[1,a]::Array(Int8)", "CAST([1, a], 'Array(Int8)')"},
        {"null::Nullable(Int8)", "CAST(NULL, 'Nullable(Int8)')"},
        {"a::Int8::String", "CAST(CAST(a, 'Int8'), 'String')"},
        {"a + b::DOUBLE  PRECISION", "plus(a, CAST(b, 'DOUBLE PRECISION'))"},
        {"a::int unsigned + 1", "plus(CAST(a, 'INT UNSIGNED'), 1)"},
        {"cast(x as Tuple(a Int8, b Enum8('x' = 1)))", "CAST(x, 'Tuple(a Int8, b Enum8(\\'x\\' = 1))')"},
        {"cast(x, 'UInt8')", "CAST(x, 'UInt8')"},
        {"cast(x as b as UInt8)", "CAST(b, 'UInt8')"},
    });
}

TEST(Expr, Access) {
    check({
        {"x[1].2.a", "tupleElement(tupleElement(arrayElement(x, 1), 2), 'a')"},
        {"x.a.b.1", "tupleElement(x.a.b, 1)"},
        {"x.1.2", "tupleElement(tupleElement(x, 1), 2)"},
        {"(x).a", "tupleElement(x, 'a')"},
        {"f(x).a", "tupleElement(f(x), 'a')"},
        {"-a.1", "negate(tupleElement(a, 1))"},
        {"x.a.:Int64", "x.a.:`Int64`"},
        {"'a'.1", "62 SYNTAX_ERROR"},
        {"x[1:2]", "62 SYNTAX_ERROR"},
    });
}

TEST(Expr, SpecialForms) {
    check({
        {"case x when 1 then 2 end", "caseWithExpression(x, 1, 2, NULL)"},
        {"case when a then b when c then d else e end", "multiIf(a, b, c, d, e)"},
        {"case + 1", "plus(case, 1)"},
        {"extract(dow from x)", "toDayOfWeek(x, 2)"},
        {"extract(day from x)", "toDayOfMonth(x)"},
        {"extract(a, b)", "extract(a, b)"},
        {"interval a + 1 day", "toIntervalDay(plus(a, 1))"},
        {"interval '1 day -2 hour'", "(toIntervalDay(1), toIntervalHour(-2))"},
        {"interval '5' minutes", "toIntervalMinute('5')"},
        {"interval + 1", "plus(interval, 1)"},
        {"interval 5 foo", "62 SYNTAX_ERROR"},
        {"date '2020-01-01'", "toDate('2020-01-01')"},
        {"date + 1", "plus(date, 1)"},
        {"trim(leading 'a' from x)", "trimLeft(x, 'a')"},
        {"ltrim(x)", "trimLeft(x)"},
        {"substring(x from 2 for 3)", "substring(x, 2, 3)"},
        {"position(a in b)", "position(b, a)"},
        {"position(a, b)", "position(a, b)"},
        {"overlay(a placing b from 1 for 2)", "overlay(a, b, 1, 2)"},
        {"date_add(day, 1, x)", "plus(x, toIntervalDay(1))"},
        {"date_sub(x, interval 1 day)", "minus(x, toIntervalDay(1))"},
        {"timestampdiff(hour, a, b)", "dateDiff('hour', a, b)"},
        {"@@version", "globalVariable('version')"},
        {"not exists(select 1) + 1", "not(plus(exists(_subquery), 1))"},
        {"exists(1)", "62 SYNTAX_ERROR"},
    });
}

TEST(Expr, Calls) {
    check({
        {"count(distinct a, b)", "countDistinct(a, b)"},
        {"sum(distinct x) filter (where y)", "sumDistinctIf(x, y)"},
        {"count(*)", "count()"},
        {"quantile(0.5)(x)", "quantile(0.5)(x)"},
        {"f(a b)", "62 SYNTAX_ERROR"},
        {"f(a,)", "62 SYNTAX_ERROR"},
        {"f(select 1)", "62 SYNTAX_ERROR"},
        {"arrayMap((x, y) -> x + y, a)", "arrayMap(lambda(tuple(x, y), plus(x, y)), a)"},
        {"arrayMap(x, y -> x + y, a)", "arrayMap(lambda(tuple(x, y), plus(x, y)), a)"},
        {"f(() -> 1)", "f(lambda(tuple(), 1))"},
        {"sum(x) over w", "sum(x) OVER w"},
        {"sum(x) over (w rows 1 preceding)", "sum(x) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"},
        {"sum(x + 1) over (partition by a order by b + 1 desc nulls first)",
         "sum(plus(x, 1)) OVER (PARTITION BY a ORDER BY plus(b, 1) DESC NULLS FIRST)"},
        {"any(x) ignore nulls", "any(x)"},
        {"(a as b) + 1", "plus(b, 1)"},
        {"f((1 + 2) as b, b)", "f(b, b)"},
    });
    EXPECT_EQ(parse_expr("any(x) ignore nulls")->nulls_action, NullsAction::Ignore);
    EXPECT_TRUE(parse_expr("quantile()(x)")->has_parameters);
}

TEST(Expr, ComparisonWithAnyAndAll) {
    const auto text = [](std::string_view sql) { return format_expr(*parse_expr(sql)); };
    EXPECT_EQ(text("x = any(select 1)"), "x IN (SELECT 1)");
    EXPECT_EQ(text("x != all(select 1)"), "x NOT IN (SELECT 1)");
    EXPECT_EQ(text("x > all(select 1)"), "x > (SELECT max(*) FROM (SELECT 1))");
    EXPECT_EQ(text("x <= all(select 1)"), "x <= (SELECT min(*) FROM (SELECT 1))");
    EXPECT_EQ(text("x < any(select 1)"), "x < (SELECT max(*) FROM (SELECT 1))");
    EXPECT_EQ(text("x = all(select 1)"), "x IN (SELECT singleValueOrNull(*) FROM (SELECT 1))");
    EXPECT_EQ(text("x = any(1)"), "x = any(1)");
}

TEST(Expr, Asterisks) {
    const ExprPtr expr =
        parse_expr("t.* except (a, b) replace (x + 1 as x) apply (toString) apply (x -> x) apply quantile(0.5)");
    ASSERT_TRUE(expr->is(ExprKind::Asterisk));
    EXPECT_EQ(expr->joined_name(), "t");
    ASSERT_EQ(expr->transformers.size(), 5u);
    EXPECT_EQ(expr->transformers[0].except_names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(expr->transformers[1].replacements[0].first, "x");
    EXPECT_EQ(expr->transformers[2].function, "toString");
    EXPECT_TRUE(expr->transformers[3].lambda);
    EXPECT_EQ(expr->transformers[4].parameters.size(), 1u);
    EXPECT_EQ(parse_expr("columns('^a')")->pattern, "^a");
    EXPECT_EQ(parse_expr("t.columns(a, b)")->args.size(), 2u);
    EXPECT_TRUE(parse_expr("columns(a, 1)")->is_function("columns"));
    EXPECT_EQ(parse_expr("* except 'x'")->transformers[0].except_pattern, "x");
}

TEST(Expr, CloneIsEqualAndApart) {
    const ExprPtr expr = parse_expr("f(x -> x + 1, (select 1 as y), sum(a) over (order by b)) as z");
    const ExprPtr copy = clone(*expr);
    EXPECT_TRUE(equal(*expr, *copy));
    copy->args[0]->args[0]->args[1]->literal.uint64 = 2;
    EXPECT_FALSE(equal(*expr, *copy));
    EXPECT_EQ(format_expr(*expr), "f(x -> (x + 1), (SELECT 1 AS y), sum(a) OVER (ORDER BY b ASC)) AS z");
    EXPECT_FALSE(equal(*parse_expr("a as b"), *parse_expr("a")));
    EXPECT_FALSE(equal(*parse_expr("sum(a) over (order by b)"), *parse_expr("sum(a) over (order by c)")));
    EXPECT_TRUE(equal(*parse_expr("(a) + 1"), *parse_expr("plus(a, 1)")));
}

}  // namespace
}  // namespace firn::sql
