-- Conditions on database and table choose which tables are opened; the rest filters what they show.
CREATE TABLE a ENGINE = IcebergLocal('{fixtures}/snap_appends');
CREATE TABLE b ENGINE = IcebergLocal('{fixtures}/mor_posdel_v2');
CREATE DATABASE other;
CREATE TABLE other.a ENGINE = IcebergLocal('{fixtures}/part_days');
CREATE VIEW v AS SELECT 1;
SELECT database, table, count() > 0 FROM system.iceberg_history GROUP BY ALL ORDER BY ALL;
SELECT DISTINCT database, table FROM system.iceberg_snapshots WHERE table = 'a' ORDER BY ALL;
SELECT DISTINCT database, table FROM system.iceberg_snapshots WHERE table IN ('b', 'none') ORDER BY ALL;
SELECT DISTINCT database, table FROM system.iceberg_snapshots WHERE table = 'a' AND database != 'other' ORDER BY ALL;
SELECT DISTINCT database, table FROM system.iceberg_snapshots WHERE database || '.' || table = 'other.a' ORDER BY ALL;
SELECT DISTINCT database, table FROM system.iceberg_snapshots WHERE table LIKE 'a%' AND table NOT LIKE 'b%' AND database IN ('default') ORDER BY ALL;
SELECT DISTINCT database, table FROM system.iceberg_snapshots WHERE table = 'a' OR (table = 'b' AND operation = 'overwrite') ORDER BY ALL;
SELECT DISTINCT table FROM system.iceberg_snapshots WHERE table = 'a' AND table = 'b';
SELECT count() FROM system.iceberg_files WHERE table = 'none';
SELECT content, sum(record_count) FROM system.iceberg_files WHERE table = 'b' GROUP BY content ORDER BY content;
SELECT count() FROM system.iceberg_manifests WHERE 0;
SELECT count() > 0 FROM system.iceberg_partitions WHERE file_count > 0 AND database = 'other';
SELECT name, type FROM system.iceberg_refs WHERE table = 'b' ORDER BY ALL;
