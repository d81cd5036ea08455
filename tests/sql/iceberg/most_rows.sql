create table lineitem engine = IcebergLocal('{tests}/tpch/lineitem');
-- Most rows pass: aggregates take batches whole, with the rows that count.
select l_returnflag, l_linestatus, count(), sum(l_quantity), sum(l_extendedprice * (1 - l_discount)), avg(l_tax), min(l_comment), max(l_shipmode), any(l_orderkey) > 0, uniqExact(l_suppkey)
from lineitem where l_shipdate <= '1998-09-02' group by all order by all;
-- Without keys.
select count(), sum(l_quantity), sum(l_extendedprice * (1 - l_discount)), min(l_comment), groupBitXor(l_orderkey), countIf(l_tax > 0.04)
from lineitem where l_shipdate <= '1998-09-02';
select count(), sum(l_quantity), sum(l_extendedprice * (1 - l_discount)), min(l_comment), groupBitXor(l_orderkey)
from lineitem where l_shipdate <= '1998-09-02';
-- What cannot be computed for rows that do not pass is not asked of them.
select sum(intDiv(1000, greatest(0, dateDiff('day', toDate('1992-01-20'), l_shipdate)))) from lineitem where l_receiptdate > '1992-02-19';
select l_linestatus, sum(intDiv(1000, greatest(0, dateDiff('day', toDate('1992-01-20'), l_shipdate)))) from lineitem where l_receiptdate > '1992-02-19' group by l_linestatus order by l_linestatus;
select sum(intDiv(1000, greatest(0, dateDiff('day', toDate('1992-01-20'), l_shipdate)))) from lineitem where l_receiptdate > '1992-01-19';
-- A group of rows that do not pass is none.
select l_shipdate < '1992-02-01' as early, count(), sum(l_quantity) from lineitem where l_receiptdate > '1992-03-02' group by early;
select l_shipdate < '1992-02-01' as early, count(), sum(l_quantity) from lineitem group by early order by early;
-- The order of rows is kept.
select l_linestatus, cityHash64(groupArray(l_orderkey)) from lineitem where l_shipdate <= '1998-09-02' group by l_linestatus order by l_linestatus settings max_threads = 1;
select l_linestatus, cityHash64(groupArray(l_orderkey)) from (select * from lineitem where l_shipdate <= '1998-09-02' order by l_orderkey, l_linenumber) group by l_linestatus order by l_linestatus settings max_threads = 1;
