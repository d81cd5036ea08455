-- What a scalar subquery has aggregated is used again where the statement aggregates the same, and only there.
CREATE TABLE trips ENGINE = IcebergLocal('{tests}/../demo/trips');
WITH r AS (SELECT rider, sum(fare) AS total, count() AS n FROM trips GROUP BY rider) SELECT rider, total, n FROM r WHERE total = (SELECT max(total) FROM r);
WITH r AS (SELECT from_station AS s, avg(metres) AS a FROM trips WHERE electric GROUP BY s) SELECT s, round(a, 3) FROM r WHERE a > (SELECT avg(a) FROM r) ORDER BY s;
WITH r AS (SELECT from_station AS s, avg(metres) AS a FROM trips WHERE electric GROUP BY s) SELECT s, round(a, 3) FROM r WHERE s IN (SELECT s FROM r ORDER BY a DESC LIMIT 2) AND a >= (SELECT max(a) FROM r) - 100000 ORDER BY s;
-- One key more, another filter, another parameter, another order of the keys: other groups.
SELECT from_station AS s, count() AS n FROM trips GROUP BY s HAVING n > (SELECT avg(n) FROM (SELECT from_station, rider, count() AS n FROM trips GROUP BY from_station, rider)) ORDER BY s;
SELECT from_station AS s, count() AS n FROM trips GROUP BY s HAVING n > (SELECT max(n) FROM (SELECT from_station, count() AS n FROM trips WHERE electric GROUP BY from_station)) ORDER BY s;
SELECT from_station AS s, quantileExact(0.9)(metres) AS q FROM trips GROUP BY s HAVING q > (SELECT max(q) FROM (SELECT from_station, quantileExact(0.5)(metres) AS q FROM trips GROUP BY from_station)) ORDER BY s;
SELECT from_station AS s, uniqExact(rider) AS q FROM trips GROUP BY s HAVING q < (SELECT min(q) FROM (SELECT from_station, count(rider) AS q FROM trips GROUP BY from_station)) ORDER BY s;
SELECT count(), sum(n) FROM (SELECT rider, from_station, count() AS n FROM trips GROUP BY rider, from_station HAVING n >= (SELECT max(n) FROM (SELECT from_station, rider, count() AS n FROM trips GROUP BY from_station, rider)));
-- Two subqueries, the second of which finds the groups of the first.
SELECT (SELECT max(n) FROM (SELECT rider, count() AS n FROM trips GROUP BY rider)) AS most, (SELECT min(n) FROM (SELECT rider, count() AS n FROM trips GROUP BY rider)) AS least, (SELECT count() FROM (SELECT rider, count() AS n FROM trips GROUP BY rider));
-- One text, but another value of its parameter.
SELECT (SELECT max(q) FROM (WITH 0.1 AS p SELECT from_station, quantileExact(p)(metres) AS q FROM trips GROUP BY from_station)) AS lo, (SELECT max(q) FROM (WITH 0.9 AS p SELECT from_station, quantileExact(p)(metres) AS q FROM trips GROUP BY from_station)) AS hi;
WITH 0.9 AS p SELECT s, q, (SELECT max(q) FROM (WITH 0.1 AS p SELECT from_station AS s, quantileExact(p)(metres) AS q FROM trips GROUP BY s)) AS lo FROM (SELECT from_station AS s, quantileExact(p)(metres) AS q FROM trips GROUP BY s) ORDER BY s LIMIT 2;
