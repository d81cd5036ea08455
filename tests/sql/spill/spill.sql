-- Limits so small that rows must go to disk: the answers are the same as in memory.
SET max_memory_usage = 20000000;
SELECT s, x FROM (SELECT number * 7919 % 1000003 AS x, toString(x) AS s FROM numbers(1000000)) ORDER BY s, x LIMIT 3 OFFSET 600000;
SELECT s, x FROM (SELECT number * 7919 % 1000003 AS x, toString(x) AS s FROM numbers(1000000)) ORDER BY s, x LIMIT 3 OFFSET 999999;
SELECT s, x FROM (SELECT number * 7919 % 1000003 AS x, toString(x) AS s FROM numbers(1000000)) ORDER BY s DESC, x LIMIT 5;
SELECT count(), sum(c), sum(s), max(length(k)) FROM (SELECT toString(number % 400000) AS k, count() AS c, sum(number) AS s FROM numbers(1000000) GROUP BY k);
SELECT count(), sum(u), sum(length(g)), sum(q) FROM (SELECT number % 100000 AS k, uniqExact(number % 7) AS u, groupArray(number % 3) AS g, max(toString(number)) AS m, quantileExact(number % 11) AS q FROM numbers(500000) GROUP BY k);
SELECT count(), sum(x) FROM (SELECT DISTINCT number % 700000 AS x, toString(x % 1000) AS s FROM numbers(1000000));
SELECT count(), sum(a.x), sum(length(b.s)) FROM (SELECT number AS x FROM numbers(1000000)) AS a JOIN (SELECT number * 2 AS x, toString(number) AS s FROM numbers(600000)) AS b ON a.x = b.x;
SELECT count(), sum(a.x), sum(length(b.s)) FROM (SELECT number AS x FROM numbers(1000000)) AS a LEFT JOIN (SELECT number * 2 AS x, toString(number) AS s FROM numbers(600000)) AS b ON a.x = b.x;
SELECT count(), sum(a.x), sum(b.x), sum(length(b.s)) FROM (SELECT number AS x FROM numbers(1000000)) AS a FULL JOIN (SELECT number * 2 AS x, toString(number) AS s FROM numbers(600000)) AS b ON a.x = b.x;
SELECT count(), sum(b.x) FROM (SELECT number AS x FROM numbers(1000000)) AS a RIGHT JOIN (SELECT number * 2 AS x, toString(number) AS s FROM numbers(600000)) AS b ON a.x = b.x AND length(b.s) = 5;
SELECT count(), sum(x) FROM (SELECT number AS x FROM numbers(1000000)) AS a LEFT SEMI JOIN (SELECT number * 2 AS x, toString(number) AS s FROM numbers(600000)) AS b ON a.x = b.x;
SELECT count(), sum(x) FROM (SELECT number AS x FROM numbers(1000000)) AS a LEFT ANTI JOIN (SELECT number * 2 AS x, toString(number) AS s FROM numbers(600000)) AS b ON a.x = b.x;
SELECT count(), sum(b.x) FROM (SELECT number * 3 AS x FROM numbers(1000000)) AS a RIGHT ANTI JOIN (SELECT number * 2 AS x, toString(number) AS s FROM numbers(600000)) AS b ON a.x = b.x;
SELECT count(), sum(a.t), sum(b.t) FROM (SELECT number % 50000 AS k, number AS t FROM numbers(300000)) AS a ASOF JOIN (SELECT number % 70000 AS k, number * 3 AS t, toString(number) AS s FROM numbers(600000)) AS b ON a.k = b.k AND a.t >= b.t;
SELECT count() FROM numbers(1000000) WHERE number NOT IN (SELECT number * 2 FROM numbers(600000));
SELECT count() FROM numbers(1000000) WHERE number NOT IN (SELECT if(number = 77777, NULL, number * 2) FROM numbers(600000));
SELECT max(a.t || b.s) FROM (SELECT toString(number) AS t FROM numbers(3000000)) AS a CROSS JOIN (SELECT toString(number) AS s FROM numbers(3000000)) AS b;
SELECT sum(y) FROM (SELECT sum(number) OVER (ORDER BY number) AS y FROM numbers(3000000));
SELECT count() FROM (SELECT number % 900000 AS k, count() FROM numbers(1000000) GROUP BY k) SETTINGS max_temporary_data_on_disk_size_for_query = 100000;
SELECT count() FROM (SELECT number % 900000 AS k, count() FROM numbers(1000000) GROUP BY k) SETTINGS max_bytes_ratio_before_external_group_by = 0;
SELECT count() FROM (SELECT number % 900000 AS k, count() FROM numbers(1000000) GROUP BY k) SETTINGS max_bytes_ratio_before_external_group_by = 1;
SELECT count() FROM (SELECT number % 900000 AS k, count() FROM numbers(1000000) GROUP BY k) SETTINGS firn_temporary_directory = '/nonexistent';
SELECT count() FROM (SELECT number % 900000 AS k, count() FROM numbers(1000000) GROUP BY k) SETTINGS max_memory_usage = 0, max_bytes_before_external_group_by = 1000000, max_bytes_ratio_before_external_group_by = 0;
SELECT count(), sum(length(b.a)), sum(length(b.m)), max(b.t) FROM (SELECT number AS x FROM numbers(1000000)) AS a LEFT JOIN (SELECT number AS x, [number] AS a, map(number, 'v') AS m, (number, 's') AS t FROM numbers(500000) WHERE x * 0 = 1) AS b ON a.x = b.x;
SELECT count(), sum(length(b.a)), sum(length(b.m)), max(b.t) FROM (SELECT number AS x FROM numbers(10000)) AS a FULL JOIN (SELECT number % 3 AS x, [number] AS a, map(number, 'v') AS m, (number, 's') AS t FROM numbers(100000)) AS b ON a.x = b.x SETTINGS max_memory_usage = 0, max_bytes_before_external_join = 1000000, max_bytes_ratio_before_external_join = 0;
-- What cannot go to disk says so.
SELECT count() FROM (SELECT number FROM numbers(3000000) INTERSECT SELECT number FROM numbers(3000000));
SELECT count() FROM (SELECT number FROM numbers(3000000) EXCEPT SELECT number + 1 FROM numbers(3000000));
SELECT count() FROM (SELECT number AS x FROM numbers(3000000) UNION DISTINCT SELECT number + 1000000 FROM numbers(3000000));
-- One group's states may be large, and all groups' states many times what there is.
SELECT count(), sum(length(g)), sum(arraySum(g) % 10) FROM (SELECT number % 300 AS k, groupArray(number) AS g FROM numbers(1000000) GROUP BY k) SETTINGS max_memory_usage = 12000000;
SELECT count(), sum(length(g)) FROM (SELECT number % 600 AS k, groupConcat(toString(number)) AS g FROM numbers(600000) GROUP BY k) SETTINGS max_memory_usage = 12000000;
-- Codecs.
SELECT count(), sum(c) FROM (SELECT toString(number) AS s, count() AS c FROM numbers(600000) GROUP BY s) SETTINGS temporary_files_codec = 'ZSTD';
SELECT count(), sum(c) FROM (SELECT toString(number) AS s, count() AS c FROM numbers(600000) GROUP BY s) SETTINGS temporary_files_codec = 'none';
SELECT count(), sum(c) FROM (SELECT toString(number) AS s, count() AS c FROM numbers(600000) GROUP BY s) SETTINGS temporary_files_codec = 'lz4';
SELECT 1 SETTINGS temporary_files_codec = 'Delta';
