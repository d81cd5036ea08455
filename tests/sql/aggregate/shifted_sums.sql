-- sum(x + c) shares its work with sum(x): NULLs, no rows, wrapping round, and each type of result as without that.
select sum(number + 1), sum(number - 3), sum(2 + number), sum(number), count() from numbers(5);
select toTypeName(sum(number - 3)), toTypeName(sum(toInt8(number) + 1)), toTypeName(sum(toUInt32(number) - 7)) from numbers(5);
select sum(toUInt32(number) - 7), sum(toInt8(number) - 100), sum(toUInt8(number) + 255) from numbers(5);
select sum(x + 1), toTypeName(sum(x + 1)) from (select if(number % 2 = 0, number, null) as x from numbers(5));
select sum(x + 1), sum(x - 1) from (select if(number > 9, number, null) as x from numbers(5));
select sum(number + 1) from numbers(0);
select number % 2 as k, sum(number + 10) as s from numbers(5) group by k having sum(number + 10) > 20 order by k;
select sum(x + 9223372036854775807), sum(x - 9) from (select arrayJoin([toInt64(9223372036854775807), toInt64(-5)]) as x);
select sum(distinct number % 2 + 1), sumIf(number + 1, number > 2) from numbers(5);
select sum(number + 0.5), sum(number + null), sum(toDecimal32(number, 2) + 1) from numbers(5);
