-- Parameters of aggregate functions that a state's type carries, and quantiles of one family.
SELECT groupConcatMerge('\n')(s) FROM (SELECT groupConcatState('\n')(toString(number)) AS s FROM numbers(3));
SELECT finalizeAggregation(groupConcatState('\'a\\\t')(toString(number))) FROM numbers(3);
SELECT finalizeAggregation(groupArrayInsertAtState(-1)(toInt64(1), toUInt64(2)));
SELECT finalizeAggregation(groupArrayInsertAtState([1, 2])([toUInt8(1)], toUInt64(2)));
SELECT finalizeAggregation(groupArrayInsertAtState(['a,]', 'b\'c'])(['x'], toUInt64(1)));
SELECT finalizeAggregation(groupArrayInsertAtState((1, 'a)'))((toUInt8(2), 'b'), toUInt64(1)));
SELECT finalizeAggregation(quantilesState(0.25, 0.5)(number)) FROM numbers(10);
SELECT k, uniqExactMerge(s), count() FROM (SELECT number % 3 AS k, uniqExactState(number) AS s FROM numbers(100) GROUP BY number % 7, k) GROUP BY k ORDER BY k;
SELECT groupArraySortedMerge(3)(s) FROM (SELECT groupArraySortedState(3)(number) AS s FROM numbers(10) GROUP BY number % 4);
SELECT quantilesExactExclusive(0.25, 0.5)(number), quantileExactExclusive(0.25)(number) FROM numbers(10);
SELECT quantilesDeterministic(0.25, 0.5)(number, number), quantileDeterministic(0.25)(number, number), medianDeterministic(number, 1) FROM numbers(10);
SELECT quantileExactExclusive(number), quantilesExactExclusive(0.1)(number), quantileDeterministic(number, 1), quantilesDeterministic(0.1)(number, 1) FROM numbers(0);
SELECT quantileExactExclusive(0)(number) FROM numbers(10);
SELECT quantileDeterministic(number, 'a') FROM numbers(10);
SELECT exponentialMovingAverage(1)(number, number) FROM numbers(5);
