-- Queries whose work is counted, besides those of bench/queries/tpch that run.py names. `-- name` begins one.
-- {tests} stands for the folder of all tests.

-- web_distinct
SELECT count(DISTINCT l_partkey), uniqExact(l_comment) FROM icebergLocal('{tests}/tpch/lineitem');
-- web_like
SELECT count() FROM icebergLocal('{tests}/tpch/orders') WHERE o_comment LIKE '%special%requests%';
-- web_topn_wide
SELECT * FROM icebergLocal('{tests}/tpch/lineitem') ORDER BY l_extendedprice DESC, l_orderkey LIMIT 10;
-- web_two_keys
SELECT l_suppkey, l_shipmode, count() AS lines, sum(l_quantity) FROM icebergLocal('{tests}/tpch/lineitem')
GROUP BY l_suppkey, l_shipmode ORDER BY lines DESC, l_suppkey LIMIT 10;
-- web_minmax
SELECT count(), min(l_shipdate), max(l_shipdate) FROM icebergLocal('{tests}/tpch/lineitem');
-- web_point
SELECT l_orderkey, l_comment FROM icebergLocal('{tests}/tpch/lineitem') WHERE l_partkey = 777 ORDER BY l_orderkey;
-- files_one_month
SELECT count(), sum(fare) FROM icebergLocal('{tests}/../demo/trips') WHERE started >= '2025-03-01' AND started < '2025-04-01';
-- files_few_columns
SELECT from_station, count() AS trips FROM icebergLocal('{tests}/../demo/trips') GROUP BY from_station ORDER BY trips DESC, from_station LIMIT 5;
-- files_row_groups
SELECT count(), min(v) FROM icebergLocal('{tests}/fixtures/file_parquet_row_groups') WHERE id < 500;
-- files_limit
SELECT * FROM icebergLocal('{tests}/fixtures/mid_events') LIMIT 10;
-- plan_by_id
SELECT kind, amount FROM icebergLocal('{tests}/fixtures/mid_events') WHERE id = 1234;
-- deletes_vector
SELECT count(), sum(id) FROM icebergLocal('{tests}/fixtures/dv_large');
-- deletes_position
SELECT count(), sum(id) FROM icebergLocal('{tests}/fixtures/mor_posdel_rows_groups');
-- deletes_equality
SELECT count(), sum(id) FROM icebergLocal('{tests}/fixtures/eqdel_basic');
