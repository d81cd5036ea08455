"""What the caches save, counted by the proxy in front of a real server, and that the answers stay those of the storage.

Used by s3_parts.py: s3_caches(suite, s3, port, work), where the bucket `warehouse` holds the fixtures.
"""
import os
import random
import re
import subprocess
import threading

import pyarrow as pa
import pyarrow.parquet

from fault_proxy import FaultProxy
from servers import S3_KEY, S3_SECRET

KEYS = f"'{S3_KEY}', '{S3_SECRET}'"
SLOW_QUERY_SECONDS = 0.4  # a request; the query below takes several that wait for each other


def listings(proxy):
    return [p for _, p, _ in proxy.log if "list-type" in p]


def reads(proxy):
    return [p for _, p, _ in proxy.log if "list-type" not in p]


def statements(answer):
    """Counters of each statement of a run with --print-profile-events, in order."""
    blocks = re.split(r"^MemoryPeak: \d+\n", answer.err, flags=re.M)[:-1]
    return [{name: int(n) for name, n in re.findall(r"^(\w+): (\d+)$", block, re.M)} for block in blocks]


def put_numbers(s3, work):
    path = f"{work}/numbers.parquet"
    values = random.Random(11)
    numbers = pa.array([values.getrandbits(62) for _ in range(400_000)], pa.int64())
    pa.parquet.write_table(pa.table({"n": numbers, "m": numbers}), path, row_group_size=100_000, use_dictionary=False)
    with open(path, "rb") as file:
        s3.put("warehouse", "cached/numbers.parquet", file.read())


def configuration(work, name, max_size="1Gi"):
    path = f"{work}/{name}.xml"
    with open(path, "w") as file:
        file.write(f"<clickhouse><filesystem_caches><{name}><path>{work}/{name}</path><max_size>{max_size}</max_size></{name}></filesystem_caches></clickhouse>")
    return ["--config-file", path]


def cache_files(folder):
    return [f"{base}/{name}" for base, _, names in os.walk(folder) for name in names if re.fullmatch(r"\d+-\d+", name)]


def on_disk(suite, s3, port, work):
    put_numbers(s3, work)
    proxy = FaultProxy(port)
    base = f"http://127.0.0.1:{proxy.port}/warehouse"
    config = configuration(work, "kept")
    queries = {
        "table": f"SELECT sum(cityHash64(toString(tuple(*)))) FROM icebergS3('{base}/fixtures/mor_posdel_v2', {KEYS})",
        "large file": f"SELECT sum(n), sum(m % 10) FROM s3('{base}/cached/*.parquet', {KEYS})",
    }
    for label, sql in queries.items():
        proxy.reset()
        wanted = suite.ask(sql).out.strip()
        suite.check(f"disk cache, {label}: an answer to compare with", wanted and reads(proxy), wanted)
        suite.gives(f"disk cache, {label}: first", sql, wanted, config)
        proxy.reset()
        suite.gives(f"disk cache, {label}: second process", sql, wanted, config)
        suite.check(f"disk cache, {label}: second process reads nothing", not reads(proxy), str(proxy.log))
        proxy.reset()
        suite.gives(f"disk cache, {label}: off", sql + " SETTINGS enable_filesystem_cache = 0", wanted, config)
        suite.check(f"disk cache, {label}: off reads", reads(proxy), str(proxy.log))
        proxy.reset()
        suite.gives(f"disk cache, {label}: by name", sql + " SETTINGS filesystem_cache_name = 'kept'", wanted, config)
        suite.check(f"disk cache, {label}: by name reads nothing", not reads(proxy), str(proxy.log))
    files = cache_files(f"{work}/kept")
    suite.check("disk cache: files", len(files) > 4, str(files))
    for i, path in enumerate(files):
        with open(path, "r+b") as file:
            if i % 2:
                file.truncate(os.path.getsize(path) * 2 // 3)
            else:
                file.seek(-1, os.SEEK_END)
                last = file.read(1)
                file.seek(-1, os.SEEK_END)
                file.write(bytes([last[0] ^ 1]))
    for label, sql in queries.items():
        wanted = suite.ask(sql).out.strip()
        proxy.reset()
        suite.gives(f"disk cache damaged, {label}", sql, wanted, config)
        suite.check(f"disk cache damaged, {label}: read anew", reads(proxy), str(proxy.log))
        suite.ask(sql, config)  # what a damaged file was still good for has gone with it
        proxy.reset()
        suite.gives(f"disk cache mended, {label}", sql, wanted, config)
        suite.check(f"disk cache mended, {label}: reads nothing", not reads(proxy), str(proxy.log))
    kept = cache_files(f"{work}/kept")
    suite.check("disk cache: no secret", kept and not any(S3_SECRET.encode() in open(f, "rb").read() for f in kept))
    shown = suite.ask("SELECT count() > 4, min(size) > 0, any(cache_name) FROM system.filesystem_cache; SYSTEM DROP FILESYSTEM CACHE 'kept'; "
                      "SELECT count() FROM system.filesystem_cache", config)
    suite.check("disk cache: system.filesystem_cache and SYSTEM DROP", shown.out == "1\t1\tkept\n0\n", shown.out + shown.err)
    suite.check("disk cache: no files after SYSTEM DROP", not cache_files(f"{work}/kept"))

    # A replaced object has another etag, and a directory that is too small or full is no error.
    sql = queries["large file"]
    suite.ask(sql, config)
    with open(f"{work}/numbers.parquet", "rb") as file:
        s3.put("warehouse", "cached/more.parquet", file.read())
    first, second = suite.ask(f"SELECT count() FROM s3('{base}/cached/*.parquet', {KEYS})", config).out.strip(), "800000"
    suite.check("disk cache: a new object is seen", first == second, first)
    small = configuration(work, "small", "100Ki")
    wanted = suite.ask(sql).out.strip()
    suite.gives("disk cache: too small", sql, wanted, small)
    size = sum(os.path.getsize(f) for f in cache_files(f"{work}/small"))
    suite.check("disk cache: stays within its limit", size <= 100 << 10, str(size))
    full = configuration(work, "full")
    done = subprocess.run(["bash", "-c", f"ulimit -f 10; exec {suite.firn} local {' '.join(full)}"], input=sql.encode(), capture_output=True)
    said = done.stderr.decode()
    suite.check("disk cache: full", done.stdout.decode().strip() == wanted and said.count("Warning") == 1, f"{done.stdout!r} {said}")

    # Several processes in one empty directory at once.
    shared, answers = configuration(work, "shared", "3Mi"), []
    threads = [threading.Thread(target=lambda: answers.append(suite.ask(sql, shared).out.strip())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    suite.check("disk cache: shared by processes", answers == [wanted] * 4, str(answers))
    proxy.close()


def in_memory(suite, port):
    proxy = FaultProxy(port)
    base = f"http://127.0.0.1:{proxy.port}/warehouse"
    sql = f"SELECT sum(n) FROM s3('{base}/cached/*.parquet', {KEYS}); "
    suite.ask(sql)
    once = len(reads(proxy))
    proxy.reset()
    suite.ask(sql * 3)
    suite.check("memory cache: read once", len(reads(proxy)) == once, f"{once}: {proxy.log}")
    proxy.reset()
    suite.ask(sql + "SYSTEM DROP PAGE CACHE; " + sql)
    suite.check("memory cache: SYSTEM DROP PAGE CACHE", len(reads(proxy)) == 2 * once, f"{once}: {proxy.log}")
    proxy.close()


def put_growing(s3, work):
    """A table whose newest metadata file is not there yet; gives the key and the bytes of that file."""
    folder = f"{work}/relocated/snap_appends"
    for base, _, names in os.walk(folder):
        for name in names:
            if name not in ("v13.metadata.json", "version-hint.text"):
                path = f"{base}/{name}"
                with open(path, "rb") as file:
                    s3.put("warehouse", f"growing/{os.path.relpath(path, folder)}", file.read())
    with open(f"{folder}/metadata/v13.metadata.json", "rb") as file:
        return "growing/metadata/v13.metadata.json", file.read()


def staleness(suite, s3, port, work):
    """One process; a slow proxy serves as a clock, and the table grows when it is first asked."""
    key, newest = put_growing(s3, work)
    proxy, slow = FaultProxy(port), FaultProxy(port, latency=SLOW_QUERY_SECONDS)
    table = f"icebergS3('http://127.0.0.1:{proxy.port}/warehouse/growing', {KEYS})"
    count = f"SELECT count() FROM {table}"
    later = f"SELECT count() FROM icebergS3('http://127.0.0.1:{slow.port}/warehouse/fixtures/part_days', {KEYS}); "
    forward = slow.fault_for

    def grow(method, path, headers):
        s3.put("warehouse", key, newest)
        return forward(method, path, headers)
    slow.fault_for = grow
    old = suite.ask(count).out.strip()

    def run(label, sql, wanted):
        s3.request("DELETE", f"/warehouse/{key}")
        proxy.reset()
        answer = suite.ask(sql, ["--print-profile-events"])
        suite.check(f"staleness: {label}", answer.status == 0 and answer.out.split() == wanted, f"wanted {wanted}, got {answer.out.split()} {answer.err[-300:]}")
        return statements(answer)

    s3.put("warehouse", key, newest)
    new = suite.ask(count).out.strip()
    suite.check("staleness: the table grows", old != new, f"{old} {new}")
    fresh, long, short = "; ", " SETTINGS iceberg_metadata_staleness_ms = 600000; ", " SETTINGS iceberg_metadata_staleness_ms = 1000; "
    run("a warm loop inside the window", count + fresh + (count + long) * 5, [old] * 6)
    suite.check("staleness: no request inside the window", len(listings(proxy)) == 1 and len(reads(proxy)) == len(set(reads(proxy))), str(proxy.log))
    run("0 always asks", (count + fresh) * 3, [old] * 3)
    suite.check("staleness: 0 asks each time", len(listings(proxy)) == 3, str(proxy.log))
    run("not known before", count + long, [old])
    run("old inside the window, new outside", count + long + later + count + long + count + short + count + long, [old, "11", old, new, new])
    suite.check("staleness: asked again after the window", len(listings(proxy)) == 2, str(proxy.log))
    run("a query without it refreshes", count + long + later + count + fresh + count + long, [old, "11", new, new])
    run("SYSTEM DROP", count + long + later + "SYSTEM DROP ICEBERG METADATA CACHE; " + count + long, [old, "11", new])
    off = long.replace(";", ", use_iceberg_metadata_files_cache = 0;")
    run("without the metadata cache", count + off + later + count + off, [old, "11", new])

    # The prefetch sees the new version by itself; the query that may be stale then asks nobody.
    made = (f"CREATE TABLE t ENGINE = IcebergS3('http://127.0.0.1:{proxy.port}/warehouse/growing', {KEYS}) SETTINGS iceberg_metadata_async_prefetch_period_ms = 100; ")
    from_table = count.replace(table, "t") + long
    seen = run("prefetch", made + from_table + later + from_table, [old, "11", new])
    suite.check("prefetch: many rounds", len(listings(proxy)) >= 5, str(listings(proxy)))
    # The statement and the first round may miss the same file at the same moment.
    suite.check("prefetch: no metadata again and again", max(reads(proxy).count(p) for p in reads(proxy)) <= 2, str(reads(proxy)))
    suite.check("prefetch: the query asks for nothing", len(seen) == 4 and seen[3].get("StorageRequests", 0) == 0, str(seen[3:]))
    run("no prefetch without the period", made.split(" SETTINGS")[0] + "; " + from_table + later + from_table, [old, "11", old])
    run("no prefetch after DROP TABLE", made + "DROP TABLE t; " + later, ["11"])
    suite.check("prefetch: ends with the table", len(listings(proxy)) <= 3, str(listings(proxy)))
    answer = suite.ask(made + later + "SELECT value FROM system.metrics WHERE metric = 'IcebergSchedulePoolTask'; SELECT value > 3 FROM system.events WHERE event = 'IcebergMetadataPrefetches'")
    suite.check("prefetch: in the system tables", answer.out.split() == ["11", "1", "1"], answer.out + answer.err)
    proxy.close()
    slow.close()


def s3_caches(suite, s3, port, work):
    on_disk(suite, s3, port, work)
    in_memory(suite, port)
    staleness(suite, s3, port, work)
