-- States of states, which lie outside of their rows, merged from several workers.
SET max_threads = 4;
SELECT count(), sum(length(u)) FROM (SELECT k, groupUniqArrayForEach(arrayMap(i -> toString(i + number), range(number % 7))) AS u FROM (SELECT number, number % 50000 AS k FROM numbers_mt(300000)) GROUP BY k);
SELECT count(), sum(arraySum(u)) FROM (SELECT k, uniqExactForEach(arrayMap(i -> i + number, range(number % 7))) AS u FROM (SELECT number, number % 50000 AS k FROM numbers_mt(300000)) GROUP BY k);
SELECT count(), sum(arraySum(u)) FROM (SELECT k, sumForEach(arrayMap(i -> i + number, range(number % 7))) AS u FROM (SELECT number, number % 50000 AS k FROM numbers_mt(300000)) GROUP BY k);
