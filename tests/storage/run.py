#!/usr/bin/env python3
"""Reads tables from real servers: the fixtures' answers, every form of naming, and what becomes of faults.

usage: run.py [--firn PATH] [--only WORD,…] [--tables NAME,…] [--fixtures WHICH]
Parts: seaweedfs versitygw azurite hdfs; secrets, many (queries at once) and trips (round trips beside the peers, where they are installed) over SeaweedFS. A server that cannot be installed fails its part. Needs fastavro and pyarrow.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests/fixtures")]
import engine  # noqa: E402
import round_trips  # noqa: E402
from fault_proxy import Fault, FaultProxy  # noqa: E402
from known import failures, known_failures, matching  # noqa: E402
from many_at_once import ASKED, many_at_once  # noqa: E402
from relocate import relocate  # noqa: E402
from secrets_kept import no_secret  # noqa: E402
from stores import S3, Azure, Hdfs, put_folder  # noqa: E402

FIXTURES = os.path.join(ROOT, "tests/fixtures")
KEY, SECRET = "testkey", "testsecret"
# Every kind of file and delete, each format, each way a path can stand; --tables all takes them all.
SOME = ("types_v2_parquet,types_v2_orc,part_days,part_evolution,schema_evolution_orc,schema_mixed_formats,mor_posdel_v2,mor_posdel_partitioned,"
        "mor_posdel_orc_data_orc_deletes,mor_posdel_avro_data_parquet_deletes,eqdel_mixed,eqdel_avro,dv_v3,dv_partitioned,dv_large,"
        "snap_appends,snap_branches_tags,snap_gzip_metadata,snap_no_version_hint,snap_manifests_merged,snap_empty,mid_events,"
        "file_parquet_row_groups,file_object_store_layout,file_orc_codecs,layout_catalog_metadata,part_identity_string")


class Suite:
    def __init__(self, firn):
        self.firn, self.passed, self.failed = firn, 0, []

    def check(self, label, good, detail=""):
        if good:
            self.passed += 1
        else:
            self.failed.append(label)
            print(f"FAIL {label}: {detail}"[:600], flush=True)

    def ask(self, sql, arguments=(), env=None, timeout=120):
        return engine.run(self.firn, arguments, sql, timeout, env=env)

    def gives(self, label, sql, wanted, arguments=(), env=None):
        answer = self.ask(sql, arguments, env)
        self.check(label, answer.status == 0 and answer.out.strip() == wanted, f"wanted {wanted}, got {answer.out.strip()!r} {answer.err.strip()[-400:]}")
        return answer

    def fails(self, label, sql, code, within=60, env=None, says=""):
        begin = time.time()
        answer = self.ask(sql, env=env)
        took = time.time() - begin
        good = answer.status > 0 and f"({code})" in answer.err and says in answer.err and took <= within
        self.check(label, good, f"wanted {code} {says!r} in {within} s, after {took:.1f} s: {answer.out.strip()[:100]!r} {answer.err.strip()[-400:]}")
        self.check(label + ": no secret", SECRET not in answer.err and Azure.account_key not in answer.err, answer.err[-300:])
        return answer

    def events(self, sql, arguments=(), env=None):
        answer = self.ask(sql, ["--print-profile-events", *arguments], env)
        found = {name: int(n) for name, n in re.findall(r"\b(\w+): (\d+)", answer.err)}
        if answer.status:
            print(answer.err[-400:])
        return answer, found

    def fixtures(self, label, source, tables):
        command = [sys.executable, f"{FIXTURES}/check_fixtures.py", FIXTURES, "-v", "--cmd", self.firn + " local", "--source", source]
        if tables != "all":
            command += ["--only", tables]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        known = known_failures()
        bad = [f"{table}: {text}" for table, text in failures(done.stdout) if not matching(known, table, text)]
        total = re.search(r"^(\d+) passed", done.stdout, re.M)
        self.check(f"{label}: fixtures", total and int(total.group(1)) > 20 and not bad, "\n".join(bad) or done.stdout[-300:])
        print(f"{label}: {done.stdout.strip().splitlines()[-1]}", flush=True)


class Service:
    def __init__(self, name, work, *options):
        self.script, self.data = f"{ROOT}/tests/services/{name}.sh", f"{work}/{name}"
        subprocess.run([self.script, "install"], check=True)
        subprocess.run([self.script, "start", "--data", self.data, *map(str, options)], check=True, stdout=subprocess.DEVNULL)

    def stop(self):
        subprocess.run([self.script, "stop", "--data", self.data], stdout=subprocess.DEVNULL)


def upload(store, bucket, scheme_root, tables, work, moved=True):
    """Puts fixtures below `fixtures/` of the bucket: relocated to scheme_root, so that every path in them is the storage's."""
    store.make_bucket(bucket)
    names = sorted(n for n in os.listdir(FIXTURES) if os.path.isdir(f"{FIXTURES}/{n}")) if tables == "all" else tables.split(",")
    for name in names:
        source = f"{FIXTURES}/{name}"
        if not os.path.isdir(source):
            raise SystemExit(f"no fixture '{name}' in {FIXTURES}")
        out = f"{work}/relocated/{name}"
        relocate(source, out, f"/tmp/iceberg-fixtures/{name}", f"{scheme_root}/{name}")
        put_folder(store, bucket, f"fixtures/{name}", out)
    # One as it is: its metadata names the disk where it was made, and is read where it lies now.
    put_folder(store, bucket, "moved/part_days", f"{FIXTURES}/part_days")


def s3_names(suite, port, url, table):
    """Forms of arguments; `url` is http://host/bucket/path of a table, `table` its s3:// address."""
    keys = f"'{KEY}', '{SECRET}'"
    env = {**os.environ, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}
    count = "SELECT count() FROM "
    for label, source, environment in (
        ("url, keys", f"icebergS3('{url}', {keys})", None),
        ("alias iceberg", f"iceberg('{url}', {keys})", None),
        ("slash at the end", f"icebergS3('{url}/', {keys})", None),
        ("keys, format", f"icebergS3('{url}', {keys}, 'Parquet')", None),
        ("keys, format, compression", f"icebergS3('{url}', {keys}, 'Parquet', 'auto')", None),
        ("named arguments", f"icebergS3('{url}', access_key_id = '{KEY}', secret_access_key = '{SECRET}', format = 'Parquet')", None),
        ("filename", f"icebergS3('{os.path.dirname(url)}', {keys}, filename = '{os.path.basename(url)}')", None),
        ("settings inside", f"icebergS3('{url}', {keys}, SETTINGS iceberg_use_version_hint = 1)", None),
        ("environment", f"icebergS3('{url}')", env),
        ("environment, format", f"icebergS3('{url}', 'Parquet')", env),
        ("s3://", f"icebergS3('{table}')", env),
        ("s3a://", f"icebergS3('{table.replace('s3:', 's3a:')}', {keys})", env),
        ("s3n://", f"icebergS3('{table.replace('s3:', 's3n:')}')", env),
    ):
        suite.gives("names: " + label, count + source, "11", env=environment)
    home = tempfile.mkdtemp()
    os.mkdir(f"{home}/.aws")
    with open(f"{home}/.aws/credentials", "w") as file:
        file.write(f"[other]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
    plain = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    suite.gives("names: profile", count + f"icebergS3('{url}')", "11", env={**plain, "HOME": home, "AWS_PROFILE": "other"})
    shutil.rmtree(home)
    created = (f"CREATE TABLE t ENGINE = IcebergS3('{url}', {keys}); SELECT count() FROM t; CREATE TABLE u ENGINE = Iceberg('{url}', {keys}, 'Parquet') "
               "SETTINGS iceberg_use_version_hint = 1; SELECT count() FROM u; SHOW CREATE TABLE t; SELECT create_table_query FROM system.tables WHERE name = 't'")
    answer = suite.ask(created)
    suite.check("engines", answer.status == 0 and answer.out.startswith("11\n11\n"), answer.out + answer.err)
    suite.check("SHOW CREATE hides", SECRET not in answer.out and "[HIDDEN]" in answer.out, answer.out)
    for explain in ("EXPLAIN", "EXPLAIN SYNTAX"):
        answer = suite.ask(f"{explain} SELECT count() FROM icebergS3('{url}', {keys})")
        suite.check(f"{explain} hides", answer.status == 0 and SECRET not in answer.out + answer.err, answer.out + answer.err)
    answer = suite.ask(f"SELECT DISTINCT _path LIKE 'warehouse/fixtures/part_days/data/%.parquet', _etag != '', toYear(_time) > 2020, _size > 0 FROM icebergS3('{url}', {keys})")
    suite.check("virtual columns", answer.out.strip() == "1\t1\t1\t1", answer.out + answer.err)


def s3_plain(suite, url):
    keys = f"'{KEY}', '{SECRET}'"
    files = suite.ask(f"SELECT DISTINCT _path FROM s3('{url}/data/**.parquet', {keys}, 'Parquet') ORDER BY 1").out.split()
    suite.check("s3(): files", len(files) > 1 and all(f.startswith("warehouse/") for f in files), str(files))
    root = url[:url.index("/warehouse/")]
    one = suite.ask(f"SELECT count() FROM s3('{root}/{files[0]}', {keys})").out.strip() if files else ""
    suite.check("s3(): one file", one.isdigit() and int(one) > 0, one)
    suite.fails("s3(): no such file", f"SELECT * FROM s3('{url}/data/none.parquet', {keys})", "FILE_DOESNT_EXIST")


def s3_faults(suite, port):
    keys = f"'{KEY}', '{SECRET}'"
    base = f"http://127.0.0.1:{port}/warehouse/fixtures"
    count = "SELECT sum(length(toString(tuple(*)))) FROM icebergS3('{}/{}', {})"
    suite.fails("wrong key", f"SELECT count() FROM icebergS3('{base}/part_days', 'nobody', '{SECRET}')", "S3_ERROR", 20)
    suite.fails("wrong secret", f"SELECT count() FROM icebergS3('{base}/part_days', '{KEY}', 'wrong')", "S3_ERROR", 20)
    suite.fails("missing bucket", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/nobucket/t', {keys})", "S3_ERROR", 20, says="nobucket")
    suite.fails("missing table", f"SELECT count() FROM icebergS3('{base}/nothing', {keys})", "FILE_DOESNT_EXIST", 20)
    suite.fails("nothing listening", f"SELECT count() FROM icebergS3('http://127.0.0.1:1/bucket/t', {keys})", "S3_ERROR", 20)
    suite.fails("unknown host", f"SELECT count() FROM icebergS3('http://no-such-host.invalid/bucket/t', {keys})", "S3_ERROR", 30)
    proxy = FaultProxy(port)
    at = f"http://127.0.0.1:{proxy.port}/warehouse/fixtures"
    whole = suite.ask(count.format(base, "file_parquet_row_groups", keys)).out.strip()
    for label, faults in (
        ("throttled", [Fault(503, 4)]),
        ("429 with Retry-After", [Fault(429, 1, headers={"Retry-After": "1"})]),
        ("500s", [Fault(500, 3)]),
        ("reset", [Fault("reset", 3)]),
        ("cut mid-read", [Fault("cut", 3, match="/data/")]),
        ("short reply", [Fault("short", 2, match="/data/")]),
        ("short metadata", [Fault("short", 2, match="metadata.json"), Fault("short", 2, match="-m0.avro")]),
        ("cut listing", [Fault("cut", 2, match="list-type")]),
        ("cut metadata", [Fault("cut", 1, match="metadata.json"), Fault("cut", 1, match="snap-")]),
    ):
        proxy.reset(*faults)
        suite.gives(f"fault, then right: {label}", count.format(at, "file_parquet_row_groups", keys), whole)
        suite.check(f"fault was met: {label}", all(f.times == 0 for f in faults), str([f.times for f in faults]))
    few = " SETTINGS s3_max_single_read_retries = 1"
    for label, fault, code in (
        ("throttled", Fault(503, 1000), "S3_ERROR"),
        ("short replies", Fault("short", 1000, match="/data/"), "CANNOT_READ_ALL_DATA"),
        ("short metadata", Fault("short", 1000, match="metadata.json"), "CANNOT_READ_ALL_DATA"),
        ("cut", Fault("cut", 1000, match="/data/"), "S3_ERROR"),
        ("garbage", Fault("garbage", 1000), "S3_ERROR"),
        ("reset", Fault("reset", 1000), "S3_ERROR"),
    ):
        proxy.reset(fault)
        suite.fails(f"fault for ever: {label}", count.format(at, "file_parquet_row_groups", keys) + few, code, 30)
    proxy.reset(Fault("hang", 1000, seconds=30))
    suite.fails("hangs", count.format(at, "part_days", keys) + few + ", s3_request_timeout_ms = 1000", "S3_ERROR", 20)
    proxy.close()


def s3_tls(suite, port, work):
    names = f"{work}/tls"
    os.makedirs(names)
    certificate, key = f"{names}/certificate.pem", f"{names}/key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=firn tests", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    proxy = FaultProxy(port, certificate=(certificate, key))
    plain = {k: v for k, v in os.environ.items() if k not in ("SSL_CERT_FILE", "AWS_CA_BUNDLE", "CURL_CA_BUNDLE")}
    source = f"icebergS3('https://127.0.0.1:{proxy.port}/warehouse/fixtures/part_days', '{KEY}', '{SECRET}'"
    suite.fails("unknown certificate", f"SELECT count() FROM {source})", "S3_ERROR", 20, says="certificate is not trusted")
    suite.gives("certificate by name", f"SELECT count() FROM {source}, ca_file = '{certificate}')", "11")
    for name in ("SSL_CERT_FILE", "AWS_CA_BUNDLE"):
        suite.gives(f"certificate by {name}", f"SELECT count() FROM {source})", "11", env={**plain, name: certificate})
    suite.fails("another host's certificate", f"SELECT count() FROM {source.replace('127.0.0.1', 'localhost')})", "S3_ERROR", 20,
                env={**plain, "SSL_CERT_FILE": certificate}, says="certificate")
    proxy.close()


def s3_round_trips(suite, port):
    """Requests and the longest chain of them: listing, metadata, manifest list, manifest, file."""
    keys = f"'{KEY}', '{SECRET}'"
    proxy = FaultProxy(port, latency=0.03)
    at = f"http://127.0.0.1:{proxy.port}/warehouse/fixtures"
    for table, requests, depth in (("part_days", None, 5), ("snap_appends", None, 5), ("mor_posdel_v2", None, 6)):
        proxy.reset()
        answer, events = suite.events(f"SELECT * FROM icebergS3('{at}/{table}', {keys}) FORMAT Null")
        seen = events.get("StorageDependentRequests", 99)
        print(f"round trips: {table}: depth {seen}, {len(proxy.log)} requests, {events.get('S3GetObject')} GET, {events.get('S3HeadObject', 0)} HEAD, "
              f"{events.get('StorageConnectionsCreated')} connections", flush=True)
        suite.check(f"depth: {table}", answer.status == 0 and seen <= depth, f"{seen}: {proxy.log}")
        suite.check(f"no HEAD: {table}", all(m != "HEAD" for m, _, _ in proxy.log), str(proxy.log))
        paths = [p for _, p, _ in proxy.log]
        suite.check(f"nothing twice: {table}", len(paths) == len(set(zip(paths, [r for _, _, r in proxy.log]))), str(proxy.log))
    proxy.close()


def changed_object(suite, s3, port, work):
    """A file that is replaced between two reads of one query; large enough to be read in parts."""
    keys = f"'{KEY}', '{SECRET}'"
    proxy = FaultProxy(port)
    path = f"{work}/changing.parquet"
    values = random.Random(7)
    numbers = pa.array([values.getrandbits(62) for _ in range(200_000)], pa.int64())
    pa.parquet.write_table(pa.table({"n": numbers}), path, row_group_size=50_000, use_dictionary=False)
    with open(path, "rb") as file:
        first = file.read()
    other = bytearray(first)
    other[len(other) // 2] ^= 1
    s3.put("warehouse", "changed/numbers.parquet", first)
    state = {"reads": 0}
    forward = proxy.fault_for

    def replace(method, path, headers):
        if "changed/numbers" in path:
            state["reads"] += 1
            if state["reads"] == 2:
                s3.put("warehouse", "changed/numbers.parquet", bytes(other))
        return forward(method, path, headers)
    proxy.fault_for = replace
    suite.fails("object changed", f"SELECT * FROM s3('http://127.0.0.1:{proxy.port}/warehouse/changed/numbers.parquet', {keys}) FORMAT Null", "S3_OBJECT_CHANGED_DURING_READ")
    suite.check("object was replaced meanwhile", state["reads"] >= 2, str(state))
    proxy.close()


def part_seaweedfs(suite, work, tables, port=21400):
    service = Service("s3-seaweedfs", work, "--port", port, "--buckets", "warehouse,public", "--public", "public")
    try:
        s3 = S3(port)
        upload(s3, "warehouse", "s3://warehouse/fixtures", tables, work)
        put_folder(s3, "public", "fixtures/part_days", f"{work}/relocated/part_days")
        base = f"http://127.0.0.1:{port}/warehouse/fixtures"
        s3_names(suite, port, f"{base}/part_days", "s3://warehouse/fixtures/part_days")
        suite.gives("NOSIGN", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/public/fixtures/part_days', NOSIGN)", "11")
        suite.gives("NOSIGN, format", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/public/fixtures/part_days', NOSIGN, 'Parquet')", "11")
        suite.fails("NOSIGN where keys are wanted", f"SELECT count() FROM icebergS3('{base}/part_days', NOSIGN)", "S3_ERROR")
        suite.gives("role", f"SELECT count() FROM icebergS3('{base}/part_days', '{KEY}', '{SECRET}', extra_credentials(role_arn = 'arn:aws:iam::role/Reader'))", "11")
        suite.fails("unknown role", f"SELECT count() FROM icebergS3('{base}/part_days', '{KEY}', '{SECRET}', extra_credentials(role_arn = 'arn:aws:iam::role/Nobody'))", "AUTHENTICATION_FAILED")
        suite.gives("moved table", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/warehouse/moved/part_days', '{KEY}', '{SECRET}')", "11")
        s3_plain(suite, f"{base}/part_days")
        s3_faults(suite, port)
        s3_tls(suite, port, work)
        s3_round_trips(suite, port)
        changed_object(suite, s3, port, work)
        suite.fixtures("seaweedfs", f"icebergS3('{base}/{{name}}', '{KEY}', '{SECRET}'{{inner}})", tables)
    finally:
        service.stop()


def part_secrets(suite, work, tables, port=21480):
    service = Service("s3-seaweedfs", work, "--port", port, "--buckets", "warehouse")
    try:
        upload(S3(port), "warehouse", "s3://warehouse/fixtures", "part_days", work)
        no_secret(suite, port, work, {k: v for k, v in os.environ.items() if not k.startswith("AWS_")})
    finally:
        service.stop()


def upload_made(store, work):
    """The tables of round_trips.py, below trips/ of the bucket; returns their local folder."""
    folder = f"{work}/made"
    for name in round_trips.make_tables(folder):
        relocate(f"{folder}/{name}", f"{work}/relocated/{name}", f"{folder}/{name}", f"s3://warehouse/trips/{name}")
        put_folder(store, "warehouse", f"trips/{name}", f"{work}/relocated/{name}")
    return folder


def part_many(suite, work, tables, port=21500):
    service = Service("s3-seaweedfs", work, "--port", port, "--buckets", "warehouse")
    proxy = FaultProxy(port, latency=0.005)
    try:
        upload(S3(port), "warehouse", "s3://warehouse/fixtures", ",".join(ASKED), work)
        made = upload_made(S3(port), work)
        places = {name: (f"warehouse/fixtures/{name}", f"{FIXTURES}/{name}") for name in ASKED}
        places["lineitem"] = ("warehouse/trips/lineitem", f"{made}/lineitem")
        many_at_once(suite, proxy, places, f"'{KEY}', '{SECRET}'")
    finally:
        proxy.close()
        service.stop()


def part_trips(suite, work, tables, port=21520):
    service = Service("s3-seaweedfs", work, "--port", port, "--buckets", "warehouse")
    proxy = FaultProxy(port, latency=round_trips.LATENCY)
    try:
        upload_made(S3(port), work)
        round_trips.compare(suite, proxy)
    finally:
        proxy.close()
        service.stop()


def part_versitygw(suite, work, tables, port=21450):
    service = Service("s3-versitygw", work, "--port", port)
    try:
        upload(S3(port), "warehouse", "s3a://warehouse/fixtures", tables, work)
        base = f"http://127.0.0.1:{port}/warehouse/fixtures"
        suite.gives("versitygw: table", f"SELECT count() FROM icebergS3('{base}/part_days', '{KEY}', '{SECRET}')", "11")
        suite.fails("versitygw: wrong secret", f"SELECT count() FROM icebergS3('{base}/part_days', '{KEY}', 'wrong')", "S3_ERROR", 20)
        suite.fails("versitygw: missing bucket", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/nobucket/t', '{KEY}', '{SECRET}')", "S3_ERROR", 20)
        suite.fixtures("versitygw", f"icebergS3('{base}/{{name}}', '{KEY}', '{SECRET}'{{inner}})", tables)
    finally:
        service.stop()


def part_azurite(suite, work, tables, port=21460):
    service = Service("azurite", work, "--port", port)
    try:
        upload(Azure(port), "warehouse", f"abfss://warehouse@{Azure.account}.dfs.core.windows.net/fixtures", tables, work)
        url = f"http://127.0.0.1:{port}/{Azure.account}"
        connection = f"DefaultEndpointsProtocol=http;AccountName={Azure.account};AccountKey={Azure.account_key};BlobEndpoint={url};"
        key = f"'{Azure.account}', '{Azure.account_key}'"
        table = "'warehouse', 'fixtures/part_days'"
        suite.gives("azure: connection string", f"SELECT count() FROM icebergAzure('{connection}', {table})", "11")
        suite.gives("azure: account URL and key", f"SELECT count() FROM icebergAzure('{url}', {table}, {key})", "11")
        suite.gives("azure: and format", f"SELECT count() FROM icebergAzure('{url}', {table}, {key}, 'Parquet', 'auto')", "11")
        suite.gives("azure: named", f"SELECT count() FROM icebergAzure(storage_account_url = '{url}', container = 'warehouse', blob_path = 'fixtures/part_days', "
                    f"account_name = '{Azure.account}', account_key = '{Azure.account_key}')", "11")
        answer = suite.ask(f"CREATE TABLE t ENGINE = IcebergAzure('{connection}', {table}); SELECT count() FROM t; SHOW CREATE TABLE t")
        suite.check("azure: engine hides its key", answer.out.startswith("11\n") and Azure.account_key not in answer.out, answer.out + answer.err)
        suite.gives("azure: files", f"SELECT count() > 0 FROM azureBlobStorage('{connection}', 'warehouse', 'fixtures/part_days/data/**.parquet')", "1")
        wrong = "d3Jvbmc="
        suite.fails("azure: wrong key", f"SELECT count() FROM icebergAzure('{url}', {table}, '{Azure.account}', '{wrong}')", "AZURE_BLOB_STORAGE_ERROR", 20)
        suite.fails("azure: no container", f"SELECT count() FROM icebergAzure('{url}', 'nowhere', 't', {key})", "AZURE_BLOB_STORAGE_ERROR", 20)
        suite.fails("azure: no table", f"SELECT count() FROM icebergAzure('{url}', 'warehouse', 'none', {key})", "FILE_DOESNT_EXIST", 20)
        suite.fails("azure: nothing listening", f"SELECT count() FROM icebergAzure('http://127.0.0.1:1/{Azure.account}', {table}, {key})", "AZURE_BLOB_STORAGE_ERROR", 20)
        suite.fixtures("azurite", f"icebergAzure('{connection}', 'warehouse', 'fixtures/{{name}}'{{inner}})", tables)
    finally:
        service.stop()


def part_hdfs(suite, work, tables, port=21470, http_port=21471):
    service = Service("hdfs", work, "--port", port, "--http-port", http_port)
    try:
        upload(Hdfs(http_port), "warehouse", f"hdfs://127.0.0.1:{port}/warehouse/fixtures", tables, work)
        base = f"webhdfs://127.0.0.1:{http_port}/warehouse/fixtures"
        suite.gives("hdfs: table", f"SELECT count() FROM icebergHDFS('{base}/part_days')", "11")
        suite.gives("hdfs: hdfs:// with its HTTP address", f"SELECT count() FROM icebergHDFS('hdfs://127.0.0.1:{port}/warehouse/fixtures/part_days', webhdfs_url = 'http://127.0.0.1:{http_port}')", "11")
        conf = f"{work}/hadoop-conf"
        os.makedirs(conf, exist_ok=True)
        with open(f"{conf}/hdfs-site.xml", "w") as file:
            file.write(f"<configuration><property><name>dfs.namenode.http-address</name><value>127.0.0.1:{http_port}</value></property></configuration>")
        suite.gives("hdfs: HADOOP_CONF_DIR", f"SELECT count() FROM icebergHDFS('hdfs://127.0.0.1:{port}/warehouse/fixtures/part_days', 'Parquet')", "11", env={**os.environ, "HADOOP_CONF_DIR": conf})
        suite.gives("hdfs: files", f"SELECT count() > 0 FROM hdfs('{base}/part_days/data/**.parquet')", "1")
        suite.fails("hdfs: no table", f"SELECT count() FROM icebergHDFS('{base}/none')", "FILE_DOESNT_EXIST", 20)
        suite.fails("hdfs: nothing listening", "SELECT count() FROM icebergHDFS('webhdfs://127.0.0.1:1/t')", "HDFS_ERROR", 20)
        suite.fixtures("hdfs", f"icebergHDFS('{base}/{{name}}'{{inner}})", tables)
    finally:
        service.stop()


PARTS = {"seaweedfs": part_seaweedfs, "versitygw": part_versitygw, "azurite": part_azurite, "hdfs": part_hdfs, "secrets": part_secrets, "many": part_many,
         "trips": part_trips}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=engine.DEFAULT)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, by comma")
    parser.add_argument("--tables", default=SOME, help="fixtures, by comma, or all")
    args = parser.parse_args()
    suite = Suite(os.path.abspath(args.firn))
    for name in args.only.split(","):
        work = tempfile.mkdtemp(prefix="firn-storage-")
        begin = time.time()
        try:
            PARTS[name](suite, work, args.tables)
        except Exception as error:  # the other parts still run
            suite.check(name, False, f"{type(error).__name__}: {error}")
        finally:
            shutil.rmtree(work, ignore_errors=True)
        print(f"{name}: {time.time() - begin:.0f} s", flush=True)
    print(f"{suite.passed} passed, {len(suite.failed)} failed")
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
