#!/usr/bin/env python3
"""Requests and time over a storage that takes 30 ms for each, firn beside ClickHouse and DuckDB, a fresh process each.

compare() is a part of run.py. As a program it is one peer's process: round_trips.py ENGINE PORT FOLDER SQL, where SQL names
the table {table}; prints JSON: the query's seconds and its rows as text.
The tables need PyIceberg and numpy. A peer that is not installed is left out, which is said; without any there is no comparison.
"""
import glob
import importlib.util
import json
import os
import re
import subprocess
import sys
import time

KEY, SECRET = "testkey", "testsecret"
LATENCY = 0.03
RUNS = 3
# firn's time by the better peer's, at most.
MOST_OF_TIME = 0.6
# name, table, SQL, the longest chain of requests that the format needs: listing, metadata, manifest list, manifest, then the file: whole where
# it is small, else its footer and then the columns of a row group, all together.
QUERIES = (
    ("point", "points", "SELECT name, value FROM {table} WHERE id = 333333", 6),
    ("q06", "lineitem", "SELECT sum(l_extendedprice * l_discount) AS revenue FROM {table} WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' "
     "AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24", 6),
    ("one day of 40", "days", "SELECT count(*), sum(amount) FROM {table} WHERE day = DATE '2024-01-20'", 5),
    ("count", "lineitem", "SELECT count(*) FROM {table}", 4),
)


def make_tables(folder):
    """Iceberg tables below `folder`: one file, six row groups of one file, forty commits of a day each."""
    import numpy as np
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import IdentityTransform

    os.makedirs(folder)
    catalog = SqlCatalog("trips", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("t")
    random = np.random.default_rng(3)

    def table(name, data, **more):
        return catalog.create_table(f"t.{name}", schema=data.schema, location=f"{folder}/{name}", properties={"write.parquet.row-group-limit": "100000"}, **more)

    n = 500_000
    points = pa.table({"id": np.arange(n), "name": [f"name {i * 7919 % n:09d}" for i in range(n)], "value": random.random(n), "other": random.integers(0, 1 << 60, n)})
    table("points", points).append(points)
    n = 600_000
    days = np.datetime64("1992-01-01") + random.integers(0, 2500, n)
    lines = pa.table({
        "l_orderkey": np.sort(random.integers(1, 150_000 * 4, n)), "l_partkey": random.integers(1, 20_000, n), "l_suppkey": random.integers(1, 1000, n),
        "l_quantity": random.integers(1, 51, n).astype("float64"), "l_extendedprice": random.integers(90_000, 10_000_000, n) / 100.0,
        "l_discount": random.integers(0, 11, n) / 100.0, "l_tax": random.integers(0, 9, n) / 100.0,
        "l_shipdate": pa.array(days, pa.date32()), "l_commitdate": pa.array(days + random.integers(-30, 30, n), pa.date32()),
        "l_comment": [f"comment {i * 31 % 99991} on line {i * 17 % 7919}" for i in range(n)]})
    table("lineitem", lines).append(lines)
    schema = None
    for i in range(40):
        day = np.full(500, np.datetime64("2024-01-01") + i)
        data = pa.table({"day": pa.array(day, pa.date32()), "amount": random.integers(0, 1000, 500), "what": [f"event {k}" for k in range(500)]})
        if schema is None:
            schema = table("days", data)
            with schema.update_spec() as update:
                update.add_identity("day")
        schema.append(data)
    return ["points", "lineitem", "days"]


def missing(engine):
    """What the engine needs and is not installed; empty: all is there."""
    wanted = ["chdb"] if engine == "chdb" else ["duckdb", "duckdb_extension_httpfs", "duckdb_extension_avro", "duckdb_extension_iceberg"]
    return [name for name in wanted if importlib.util.find_spec(name) is None and not glob.glob(f"{sys.prefix}/lib/python3*/site-packages/{name}")]


def ask_chdb(port, folder, sql):
    os.chdir("/")
    from chdb import session
    connection = session.Session()
    connection.query("SELECT 1")
    begin = time.perf_counter()
    out = connection.query(sql.format(table=f"icebergS3('http://127.0.0.1:{port}/warehouse/{folder}', '{KEY}', '{SECRET}')"), "TSV").data()
    return time.perf_counter() - begin, [line.split("\t") for line in out.splitlines()]


def ask_duckdb(port, folder, sql):
    import duckdb
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in ("httpfs", "avro", "iceberg"):
        connection.sql("LOAD '%s'" % glob.glob(f"{sys.prefix}/lib/python3*/site-packages/duckdb_extension_{name}/extensions/*/{name}.duckdb_extension")[0])
    connection.sql("SET unsafe_enable_version_guessing = true")
    connection.sql(f"CREATE SECRET (TYPE s3, KEY_ID '{KEY}', SECRET '{SECRET}', ENDPOINT '127.0.0.1:{port}', USE_SSL false, URL_STYLE 'path', REGION 'us-east-1')")
    begin = time.perf_counter()
    rows = connection.sql(sql.format(table=f"iceberg_scan('s3://warehouse/{folder}')")).fetchall()
    return time.perf_counter() - begin, [[str(value) for value in row] for row in rows]


def ask_peer(engine, port, folder, sql):
    done = subprocess.run([sys.executable, os.path.abspath(__file__), engine, str(port), folder, sql], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{engine}: {done.stderr.strip()[-400:]}")
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return answer["seconds"], answer["rows"]


def ask_firn(suite, port, folder, sql):
    """Seconds as --time prints them, the rows, and the profile events."""
    question = sql.format(table=f"icebergS3('http://127.0.0.1:{port}/warehouse/{folder}', '{KEY}', '{SECRET}')")
    answer, events = suite.events(question, ["--time"])
    if answer.status:
        raise RuntimeError(answer.err.strip()[-400:])
    seconds = next(float(line) for line in answer.err.splitlines() if re.fullmatch(r"\d+(\.\d+)?(e[-+]?\d+)?", line.strip()))
    return seconds, [line.split("\t") for line in answer.out.splitlines()], events


def same(left, right):
    def close(a, b):
        try:
            return abs(float(a) - float(b)) <= 1e-9 * max(abs(float(a)), abs(float(b)))
        except ValueError:
            return a == b
    return len(left) == len(right) and all(len(a) == len(b) and all(map(close, a, b)) for a, b in zip(left, right))


def compare(suite, proxy):
    """The tables lie at warehouse/trips/ behind `proxy`, a FaultProxy with LATENCY."""
    peers = []
    for engine in ("chdb", "duckdb"):
        lacking = missing(engine)
        if lacking:
            print(f"round trips: {engine} is left out: {', '.join(lacking)} not installed", flush=True)
        else:
            peers.append(engine)
    for name, table, sql, depth in QUERIES:
        best = {}
        for _ in range(RUNS):
            for engine in ["firn", *peers]:
                proxy.reset()
                events = {}
                if engine == "firn":
                    seconds, rows, events = ask_firn(suite, proxy.port, f"trips/{table}", sql)
                else:
                    seconds, rows = ask_peer(engine, proxy.port, f"trips/{table}", sql)
                log = list(proxy.log)
                if engine not in best or seconds < best[engine][0]:
                    best[engine] = (seconds, len(log), rows, events, log)
        seconds, requests, rows, events, log = best["firn"]
        shown = ", ".join(f"{engine} {got[1]} requests {got[0] * 1000:.0f} ms" for engine, got in best.items())
        counted = " ".join(f"{event}={events.get(event, 0)}" for event in ("StorageDependentRequests", "S3GetObject", "S3HeadObject", "S3ListObjects",
                                                                          "StorageConnectionsCreated", "StorageConnectionsReused", "ReadBufferFromS3Bytes"))
        print(f"round trips: {name}: {shown}; firn {counted}", flush=True)
        suite.check(f"round trips: {name}: depth", events.get("StorageDependentRequests", 99) <= depth, f"{events.get('StorageDependentRequests')} of at most {depth}: {log}")
        if not peers:
            continue
        for engine in peers:
            suite.check(f"round trips: {name}: answer of {engine}", same(rows, best[engine][2]), f"{rows[:3]} and {best[engine][2][:3]}")
        fewest = min(best[engine][1] for engine in peers)
        fastest = min(best[engine][0] for engine in peers)
        suite.check(f"round trips: {name}: no more requests than the better peer", requests <= fewest, f"{requests}, a peer {fewest}: {log}")
        suite.check(f"round trips: {name}: at most {MOST_OF_TIME} of the better peer's time", seconds <= MOST_OF_TIME * fastest, f"{seconds:.3f} s, a peer {fastest:.3f} s")


if __name__ == "__main__":
    took, found = {"chdb": ask_chdb, "duckdb": ask_duckdb}[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:])
    print(json.dumps({"seconds": took, "rows": found}))
