-- Enough rows, in several tasks, for every operator to work on several threads at once: what the thread sanitizer looks at.
SET max_threads = 4;
SELECT count(), sum(number), min(number), max(number), uniqExact(number % 1000) FROM numbers_mt(400000);
SELECT count(), sum(c), sum(s) FROM (SELECT number % 50000 AS k, count() AS c, sum(number) AS s FROM numbers_mt(400000) GROUP BY k);
SELECT count(), max(length(k)) FROM (SELECT toString(number % 40000) AS k, any(number % 40000) AS a, groupArray(number) AS g FROM numbers_mt(300000) GROUP BY k);
SELECT count(), sum(cityHash64(x)) FROM (SELECT DISTINCT number % 60000 AS x FROM numbers_mt(300000));
SELECT groupArray(number) FROM (SELECT number FROM numbers_mt(300000) ORDER BY cityHash64(number), number LIMIT 5);
SELECT count(), sum(number), min(number) FROM (SELECT number FROM numbers_mt(300000) ORDER BY number % 997, number DESC LIMIT 100000);
SELECT count(), sum(a.number), sum(b.v) FROM numbers_mt(300000) AS a JOIN (SELECT number * 3 AS k, number AS v FROM numbers_mt(120000)) AS b ON a.number = b.k;
SELECT count(), countIf(b.v = 0), sum(b.v) FROM numbers_mt(300000) AS a LEFT JOIN (SELECT number % 5000 AS k, number + 1 AS v FROM numbers_mt(100000)) AS b ON a.number % 20000 = b.k;
SELECT count(), sum(number) FROM numbers_mt(300000) WHERE number % 7 IN (SELECT number % 4 FROM numbers_mt(200000));
SELECT max(r), sum(r) FROM (SELECT row_number() OVER (PARTITION BY number % 1000 ORDER BY number) AS r FROM numbers_mt(200000));
SELECT count() FROM (SELECT number FROM numbers_mt(1000000) LIMIT 10);
SELECT sum(length(dictionary)) FROM (SELECT replaceRegexpAll(toString(number), '[0-4]+', 'x') AS dictionary FROM numbers_mt(200000));
SELECT toTimeZone(max(toDateTime(number * 5000, 'UTC')), 'Europe/Berlin'), count(DISTINCT toYear(toDateTime(number * 5000, 'America/New_York'))) FROM numbers_mt(300000);
