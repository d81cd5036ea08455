"""S3: SeaweedFS, which has STS and buckets for everybody, and versitygw."""
import os
import random
import shutil
import tempfile

import pyarrow as pa
import pyarrow.parquet

from access_parts import collections_and_disks, elsewhere, s3_key_sources, s3_virtual_hosts
from caches import s3_caches
from fault_proxy import Fault, FaultProxy
from servers import S3_KEY, S3_SECRET, Service, certificate_of
from stores import S3, put_folder
from suite import ROOT, plain_environment, upload


def s3_names(suite, port, url, table):
    """Forms of arguments; `url` is http://host/bucket/path of a table, `table` its s3:// address."""
    keys = f"'{S3_KEY}', '{S3_SECRET}'"
    env = {**os.environ, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": S3_KEY, "AWS_SECRET_ACCESS_KEY": S3_SECRET, "AWS_REGION": "us-east-1"}
    count = "SELECT count() FROM "
    for label, source, environment in (
        ("url, keys", f"icebergS3('{url}', {keys})", None),
        ("alias iceberg", f"iceberg('{url}', {keys})", None),
        ("slash at the end", f"icebergS3('{url}/', {keys})", None),
        ("keys, format", f"icebergS3('{url}', {keys}, 'Parquet')", None),
        ("keys, format, compression", f"icebergS3('{url}', {keys}, 'Parquet', 'auto')", None),
        ("named arguments", f"icebergS3('{url}', access_key_id = '{S3_KEY}', secret_access_key = '{S3_SECRET}', format = 'Parquet')", None),
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
        file.write(f"[other]\naws_access_key_id = {S3_KEY}\naws_secret_access_key = {S3_SECRET}\n")
    suite.gives("names: profile", count + f"icebergS3('{url}')", "11", env=plain_environment(HOME=home, AWS_PROFILE="other"))
    shutil.rmtree(home)
    created = (f"CREATE TABLE t ENGINE = IcebergS3('{url}', {keys}); SELECT count() FROM t; CREATE TABLE u ENGINE = Iceberg('{url}', {keys}, 'Parquet') "
               "SETTINGS iceberg_use_version_hint = 1; SELECT count() FROM u; SHOW CREATE TABLE t; SELECT create_table_query FROM system.tables WHERE name = 't'")
    answer = suite.ask(created)
    suite.check("engines", answer.status == 0 and answer.out.startswith("11\n11\n"), answer.out + answer.err)
    suite.check("SHOW CREATE hides", S3_SECRET not in answer.out and "[HIDDEN]" in answer.out, answer.out)
    for explain in ("EXPLAIN", "EXPLAIN SYNTAX"):
        answer = suite.ask(f"{explain} SELECT count() FROM icebergS3('{url}', {keys})")
        suite.check(f"{explain} hides", answer.status == 0 and S3_SECRET not in answer.out + answer.err, answer.out + answer.err)
    answer = suite.ask(f"SELECT DISTINCT _path LIKE 'warehouse/fixtures/part_days/data/%.parquet', _etag != '', toYear(_time) > 2020, _size > 0 FROM icebergS3('{url}', {keys})")
    suite.check("virtual columns", answer.out.strip() == "1\t1\t1\t1", answer.out + answer.err)


def s3_plain(suite, url):
    keys = f"'{S3_KEY}', '{S3_SECRET}'"
    files = suite.ask(f"SELECT DISTINCT _path FROM s3('{url}/data/**.parquet', {keys}, 'Parquet') ORDER BY 1").out.split()
    suite.check("s3(): files", len(files) > 1 and all(f.startswith("warehouse/") for f in files), str(files))
    root = url[:url.index("/warehouse/")]
    one = suite.ask(f"SELECT count() FROM s3('{root}/{files[0]}', {keys})").out.strip() if files else ""
    suite.check("s3(): one file", one.isdigit() and int(one) > 0, one)
    suite.fails("s3(): no such file", f"SELECT * FROM s3('{url}/data/none.parquet', {keys})", "FILE_DOESNT_EXIST")


def s3_faults(suite, port):
    keys = f"'{S3_KEY}', '{S3_SECRET}'"
    base = f"http://127.0.0.1:{port}/warehouse/fixtures"
    suite.fails("wrong key", f"SELECT count() FROM icebergS3('{base}/part_days', 'nobody', '{S3_SECRET}')", "S3_ERROR", 20)
    suite.fails("wrong secret", f"SELECT count() FROM icebergS3('{base}/part_days', '{S3_KEY}', 'wrong')", "S3_ERROR", 20)
    suite.fails("missing bucket", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/nobucket/t', {keys})", "S3_ERROR", 20, says="nobucket")
    suite.fails("missing table", f"SELECT count() FROM icebergS3('{base}/nothing', {keys})", "FILE_DOESNT_EXIST", 20)
    suite.fails("nothing listening", f"SELECT count() FROM icebergS3('http://127.0.0.1:1/bucket/t', {keys})", "S3_ERROR", 20)
    suite.fails("unknown host", f"SELECT count() FROM icebergS3('http://no-such-host.invalid/bucket/t', {keys})", "S3_ERROR", 30)
    proxy = FaultProxy(port)
    at = f"http://127.0.0.1:{proxy.port}/warehouse/fixtures"
    sql = f"SELECT sum(length(toString(tuple(*)))) FROM icebergS3('{at}/file_parquet_row_groups', {keys})"
    suite.faults("s3", proxy, sql, "S3_ERROR", "s3_request_timeout_ms = 1000", data="/data/")
    proxy.reset()
    whole = suite.ask(sql).out.strip()
    for label, faults in (
        ("short metadata", [Fault("short", 2, match="metadata.json"), Fault("short", 2, match="-m0.avro")]),
        ("cut listing", [Fault("cut", 2, match="list-type")]),
        ("cut metadata", [Fault("cut", 1, match="metadata.json"), Fault("cut", 1, match="snap-")]),
    ):
        proxy.reset(*faults)
        suite.gives(f"fault, then right: {label}", sql, whole)
        suite.check(f"fault was met: {label}", all(f.times == 0 for f in faults), str([f.times for f in faults]))
    proxy.reset(Fault(503, 3))
    suite.gives("fault, then right: as many tries as can be said", sql + " SETTINGS s3_max_single_read_retries = 4294967295, s3_request_timeout_ms = 18446744073709551615", whole)
    proxy.reset(Fault("short", 1000, match="metadata.json"))
    suite.fails("fault for ever: short metadata", sql + " SETTINGS s3_max_single_read_retries = 1", "CANNOT_READ_ALL_DATA", 30)
    s3_expired(suite, proxy, f"{at}/part_days")
    proxy.close()


def s3_expired(suite, proxy, url):
    """Keys that the service says have expired: an error where there are no others, those of a role are asked for anew."""
    body = "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
    count = "SELECT count() FROM icebergS3"
    proxy.reset(Fault(400, 1000, body=body))
    suite.fails("expired token", f"{count}('{url}', '{S3_KEY}', '{S3_SECRET}', 'session+token')", "S3_ERROR", 20, says="ExpiredToken")
    fault = Fault(400, 1, match="metadata.json", body=body)
    proxy.reset(fault)
    suite.gives("expired token of a role", f"{count}('{url}', '{S3_KEY}', '{S3_SECRET}', extra_credentials(role_arn = 'arn:aws:iam::role/Reader'))", "11")
    asked = sum(method == "POST" for method, _, _ in proxy.log)
    suite.check("a role's keys are asked for again", fault.times == 0 and asked == 2, str(proxy.log))


def s3_tls(suite, port, work):
    certificate, key = certificate_of(f"{work}/tls")
    proxy = FaultProxy(port, certificate=(certificate, key))
    plain = plain_environment()
    source = f"icebergS3('https://127.0.0.1:{proxy.port}/warehouse/fixtures/part_days', '{S3_KEY}', '{S3_SECRET}'"
    suite.fails("unknown certificate", f"SELECT count() FROM {source})", "S3_ERROR", 20, says="certificate is not trusted")
    suite.fails("TLS where there is none", f"SELECT count() FROM icebergS3('https://127.0.0.1:{port}/warehouse/fixtures/part_days', '{S3_KEY}', '{S3_SECRET}')", "S3_ERROR", 20,
                says="does not speak TLS")
    suite.gives("certificate by name", f"SELECT count() FROM {source}, ca_file = '{certificate}')", "11")
    for name in ("SSL_CERT_FILE", "AWS_CA_BUNDLE"):
        suite.gives(f"certificate by {name}", f"SELECT count() FROM {source})", "11", env={**plain, name: certificate})
    suite.fails("another host's certificate", f"SELECT count() FROM {source.replace('127.0.0.1', 'localhost')})", "S3_ERROR", 20,
                env={**plain, "SSL_CERT_FILE": certificate}, says="certificate")
    proxy.close()


def s3_round_trips(suite, port):
    """Requests and the longest chain of them: listing, metadata, manifest list, manifest, file."""
    keys = f"'{S3_KEY}', '{S3_SECRET}'"
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
    keys = f"'{S3_KEY}', '{S3_SECRET}'"
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


def part_seaweedfs(suite, work, tables):
    service = Service("s3-seaweedfs", "--buckets", "warehouse,public", "--public", "public", "--domain", "localhost", ports=12)
    port = service.port()
    try:
        s3 = S3(port)
        upload(s3, "warehouse", "s3://warehouse/fixtures", tables, work)
        put_folder(s3, "public", "fixtures/part_days", f"{work}/relocated/part_days")
        put_folder(s3, "public", "trips", f"{ROOT}/demo/trips")
        base = f"http://127.0.0.1:{port}/warehouse/fixtures"
        s3_names(suite, port, f"{base}/part_days", "s3://warehouse/fixtures/part_days")
        suite.gives("NOSIGN", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/public/fixtures/part_days', NOSIGN)", "11")
        suite.gives("NOSIGN, format", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/public/fixtures/part_days', NOSIGN, 'Parquet')", "11")
        suite.fails("NOSIGN where keys are wanted", f"SELECT count() FROM icebergS3('{base}/part_days', NOSIGN)", "S3_ERROR")
        suite.gives("role", f"SELECT count() FROM icebergS3('{base}/part_days', '{S3_KEY}', '{S3_SECRET}', extra_credentials(role_arn = 'arn:aws:iam::role/Reader'))", "11")
        suite.fails("unknown role", f"SELECT count() FROM icebergS3('{base}/part_days', '{S3_KEY}', '{S3_SECRET}', extra_credentials(role_arn = 'arn:aws:iam::role/Nobody'))", "AUTHENTICATION_FAILED")
        suite.gives("moved table", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/warehouse/moved/part_days', '{S3_KEY}', '{S3_SECRET}')", "11")
        s3_plain(suite, f"{base}/part_days")
        keys = {"access_key_id": S3_KEY, "secret_access_key": S3_SECRET}
        collections_and_disks(suite, "s3", work, "icebergS3", {"url": base + "/", **keys}, {"type": "s3", "endpoint": base + "/", **keys}, "secret_access_key")
        s3_key_sources(suite, s3, f"{base}/part_days", work)
        s3_virtual_hosts(suite, port)
        elsewhere(suite, s3, f"{base}/part_days", work)
        s3_faults(suite, port)
        s3_tls(suite, port, work)
        s3_round_trips(suite, port)
        changed_object(suite, s3, port, work)
        s3_caches(suite, s3, port, work)
        suite.examples("storage.md", "s3", {"http://127.0.0.1:9000": f"http://127.0.0.1:{port}", "key id": S3_KEY, "secret key": S3_SECRET})
        suite.fixtures("seaweedfs", f"icebergS3('{base}/{{name}}', '{S3_KEY}', '{S3_SECRET}'{{inner}})", tables)
    finally:
        service.stop()


def part_versitygw(suite, work, tables):
    service = Service("s3-versitygw")
    port = service.port()
    try:
        upload(S3(port), "warehouse", "s3a://warehouse/fixtures", tables, work)
        base = f"http://127.0.0.1:{port}/warehouse/fixtures"
        suite.gives("versitygw: table", f"SELECT count() FROM icebergS3('{base}/part_days', '{S3_KEY}', '{S3_SECRET}')", "11")
        suite.fails("versitygw: wrong secret", f"SELECT count() FROM icebergS3('{base}/part_days', '{S3_KEY}', 'wrong')", "S3_ERROR", 20)
        suite.fails("versitygw: missing bucket", f"SELECT count() FROM icebergS3('http://127.0.0.1:{port}/nobucket/t', '{S3_KEY}', '{S3_SECRET}')", "S3_ERROR", 20)
        suite.fixtures("versitygw", f"icebergS3('{base}/{{name}}', '{S3_KEY}', '{S3_SECRET}'{{inner}})", tables)
    finally:
        service.stop()
