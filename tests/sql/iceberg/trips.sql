-- The demonstration's table: it lies elsewhere than its metadata says.
CREATE TABLE trips ENGINE = IcebergLocal('{tests}/../demo/trips');
SELECT count(), min(started), max(started), sum(fare) FROM trips;
SELECT toStartOfMonth(started) AS month, count(), sum(fare), countIf(electric) FROM trips GROUP BY month ORDER BY month;
SELECT from_station, rider, count() AS n, max(metres) FROM trips WHERE started >= '2025-07-01 00:00:00' AND started < '2025-08-01 00:00:00' GROUP BY from_station, rider ORDER BY n DESC, from_station, rider LIMIT 5;
SELECT count() FROM trips WHERE to_station IS NULL;
SELECT count() FROM trips WHERE electric;
SELECT trip_id, started, minutes FROM trips WHERE from_station = 'Harbour' ORDER BY metres DESC, trip_id LIMIT 3;
DESCRIBE TABLE trips FORMAT TSV SETTINGS describe_compact_output = 1;
