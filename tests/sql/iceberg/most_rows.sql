create table lineitem engine = IcebergLocal('{tests}/tpch/lineitem');
-- Most rows pass: these aggregates take batches whole, with the rows that count; the second statement of each pair cannot.
select l_returnflag, l_linestatus, count(), sum(l_quantity), sum(l_extendedprice * (1 - l_discount)), avg(l_tax), min(l_comment), max(l_shipmode), min(l_receiptdate)
from lineitem where l_shipdate <= '1998-09-02' group by all order by all;
select l_returnflag, l_linestatus, count(), sum(l_quantity), sum(l_extendedprice * (1 - l_discount)), avg(l_tax), min(l_comment), max(l_shipmode), min(l_receiptdate)
from (select * from lineitem where l_shipdate <= '1998-09-02' limit 1000000000) group by all order by all;
-- Without keys.
select count(), sum(l_quantity), sum(l_extendedprice * (1 - l_discount)), min(l_comment), max(l_orderkey), any(l_orderkey), anyLast(l_orderkey)
from lineitem where l_shipdate <= '1998-09-02' settings max_threads = 1;
select count(), sum(l_quantity), sum(l_extendedprice * (1 - l_discount)), min(l_comment), max(l_orderkey), any(l_orderkey), anyLast(l_orderkey)
from (select * from lineitem where l_shipdate <= '1998-09-02' limit 1000000000) settings max_threads = 1;
-- Other aggregates have no such way.
select count(), min(l_comment), groupBitXor(l_orderkey), countIf(l_tax > 0.04), uniqExact(l_suppkey) from lineitem where l_shipdate <= '1998-09-02';
-- NULLs of the argument are skipped, and rows that do not count.
select l_linestatus, sum(nullIf(l_quantity, 50)), count(nullIf(l_quantity, 50)), min(nullIf(l_tax, 0)) from lineitem where l_shipdate <= '1998-09-02' group by l_linestatus order by l_linestatus;
select l_linestatus, sum(nullIf(l_quantity, 50)), count(nullIf(l_quantity, 50)), min(nullIf(l_tax, 0)) from (select * from lineitem where l_shipdate <= '1998-09-02' limit 1000000000) group by l_linestatus order by l_linestatus;
-- Keys of many groups.
select l_suppkey, sum(l_quantity) from lineitem where l_shipdate <= '1998-09-02' group by l_suppkey order by 2 desc, 1 limit 3;
-- What cannot be computed for rows that do not pass is not asked of them.
select sum(intDiv(1000, greatest(0, dateDiff('day', toDate('1992-01-20'), l_shipdate)))) from lineitem where l_receiptdate > '1992-02-19';
select l_linestatus, sum(intDiv(1000, greatest(0, dateDiff('day', toDate('1992-01-20'), l_shipdate)))) from lineitem where l_receiptdate > '1992-02-19' group by l_linestatus order by l_linestatus;
select sum(intDiv(1000, greatest(0, dateDiff('day', toDate('1992-01-20'), l_shipdate)))) from lineitem where l_receiptdate > '1992-01-19';
-- Nor do they take memory.
select count(), sum(length(repeat(concat(l_comment, l_shipmode), toUInt32(l_receiptdate > '1998-10-10') * 30000))) from lineitem where l_shipdate <= '1998-09-10' settings max_memory_usage = 100000000, max_threads = 1;
-- A group of rows that do not pass is none.
select l_shipdate < '1992-02-01' as early, count(), sum(l_quantity) from lineitem where l_receiptdate > '1992-03-02' group by early;
select l_shipdate < '1992-02-01' as early, count(), sum(l_quantity) from lineitem group by early order by early;
