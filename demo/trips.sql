-- Where summer trips began, from demo/trips: one year of trips, one partition a month.
SELECT
    from_station,
    count() AS trips,
    round(avg(metres)) AS metres,
    sum(fare) AS fares
FROM icebergLocal('demo/trips')
WHERE started >= '2025-07-01 00:00:00' AND started < '2025-09-01 00:00:00'
GROUP BY from_station
ORDER BY trips DESC, from_station
LIMIT 5
FORMAT PrettyCompact;
