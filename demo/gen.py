#!/usr/bin/env python3
"""Writes demo/trips: a year of invented bicycle trips as an Iceberg table, partitioned by month.

usage: gen.py FOLDER      needs pyiceberg[sql-sqlite,pyiceberg-core] and pyarrow (bench/requirements.txt)
Four appends; the column `electric` is added before the third, some trips are deleted after the last.
"""
import datetime
import os
import random
import shutil
import sys
from decimal import Decimal

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import MonthTransform
from pyiceberg.types import BooleanType, DecimalType, IntegerType, LongType, NestedField, StringType, TimestampType

STATIONS = ["Harbour", "Old Mill", "Market Square", "Observatory", "Botanic Garden", "North Gate", "University", "Lighthouse", "Tannery", "Opera"]
BEGIN = datetime.datetime(2025, 1, 1)


def trips(rng, first_month, last_month, first_id, electric):
    """Rows of some months: more of them in summer and at rush hours."""
    rows, trip_id = [], first_id
    for day in range(365):
        date = BEGIN + datetime.timedelta(days=day)
        if not first_month <= date.month <= last_month:
            continue
        for _ in range(int(20 + 35 * (1 - abs(date.month - 7) / 6) + rng.randrange(10))):
            hour = rng.choice([7, 8, 8, 9, 12, 13, 16, 17, 17, 18, 19, 22])
            started = date + datetime.timedelta(hours=hour, minutes=rng.randrange(60), seconds=rng.randrange(60))
            metres = int(rng.lognormvariate(7.7, 0.5))
            member = rng.random() < 0.7
            minutes = max(2, int(metres / rng.uniform(180, 320)))
            row = {
                "trip_id": trip_id,
                "started": started,
                "minutes": minutes,
                "from_station": rng.choice(STATIONS[: 4 + date.month // 2]),
                "to_station": None if rng.random() < 0.01 else rng.choice(STATIONS),
                "rider": "member" if member else "guest",
                "metres": metres,
                "fare": Decimal(0 if member and minutes <= 30 else 100 + 15 * minutes) / 100,
            }
            if electric:
                row["electric"] = rng.random() < 0.35
            rows.append(row)
            trip_id += 1
    return rows, trip_id


def main():
    place = os.path.abspath(sys.argv[1])
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    if os.path.exists(place + ".db"):
        os.remove(place + ".db")
    catalog = SqlCatalog("demo", uri=f"sqlite:///{place}.db", warehouse="file://" + place)
    catalog.create_namespace("city")
    schema = Schema(
        NestedField(1, "trip_id", LongType(), required=True),
        NestedField(2, "started", TimestampType(), required=True, doc="local time of the city"),
        NestedField(3, "minutes", IntegerType()),
        NestedField(4, "from_station", StringType()),
        NestedField(5, "to_station", StringType(), doc="null: never returned"),
        NestedField(6, "rider", StringType()),
        NestedField(7, "metres", IntegerType()),
        NestedField(8, "fare", DecimalType(8, 2)),
    )
    table = catalog.create_table("city.trips", schema, partition_spec=PartitionSpec(PartitionField(2, 1000, MonthTransform(), "started_month")), location="file://" + place)
    rng, next_id = random.Random(2025), 1
    for first, last in ((1, 3), (4, 6), (7, 9), (10, 12)):
        if first == 7:
            with table.update_schema() as update:
                update.add_column("electric", BooleanType())
        rows, next_id = trips(rng, first, last, next_id, first >= 7)
        table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))
    table.delete("minutes > 30")
    os.remove(place + ".db")


main()
