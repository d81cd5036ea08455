-- Functions of arrays and maps with a lambda: arrays that begin and end elsewhere than their elements do, none at all,
-- unlike sizes, and sums at the end of their type.
SELECT arraySum([9223372036854775807::Int64, 1::Int64]), arrayCumSum([9223372036854775807::Int64, 1::Int64]);
SELECT arrayCumSumNonNegative([9223372036854775807::Int64, 1::Int64, 5::Int64]), arrayCumSumNonNegative([200::UInt8, 100]);
SELECT arrayReduce('argMin', [1, 2, 3], [1]);
SELECT arrayReduce('sumIf', [1, 2, 3], [1, 0, 1]);
SELECT arrayFill((x, y) -> x > y, [1, 2, 3], [0, 3]);
SELECT arraySplit((x, y) -> y, [1, 2, 3], [0, 1]);
SELECT arrayPartialSort(x -> -x, 2, [1, 2, 3]), mapFilter((k, v) -> v = 2, map(1, 2, 3, 4));
SELECT arrayMap(x -> x * number, a), arrayFill(x -> x % 2, a), arraySplit(x -> x = 2, a), arraySlice(arrayPartialSort(x -> -x, 1, a), 1, 1) FROM (SELECT number, range(number % 4) AS a FROM numbers(8)) WHERE number > 4 ORDER BY number;
SELECT mapFilter((k, v) -> v > number, m), mapApply((k, v) -> (k + 1, v), m), mapExists((k, v) -> k = 6, m), mapSort((k, v) -> -k, m) FROM (SELECT number, map(number, number, number + 1, number + 2) AS m FROM numbers(8)) WHERE number > 4 ORDER BY number;
SELECT arrayMap(x -> x + 1, a), arrayFill(x -> 0, a), mapFilter((k, v) -> 1, m) FROM (SELECT arraySlice([1], 2) AS a, mapFromArrays(arraySlice([1], 2), arraySlice([1], 2)) AS m);
SELECT arrayMap((x, y) -> x, [1]);
SELECT arrayMap(x -> x, [1], [2]);
SELECT arrayFill((x, y) -> x, [1]);
