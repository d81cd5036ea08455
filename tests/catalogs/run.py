#!/usr/bin/env python3
"""Tests of DataLakeCatalog databases against real catalogs, started by the scripts of tests/services.

usage: run.py [--firn PATH] [NAME …]       a NAME is the name of a test function, without test_
Tables are the fixtures: on the local disk, registered in each catalog under their own metadata files, and rewritten to S3 with keys
that the catalogs lend. A server is started when the first test wants it; all are stopped at the end. Needs fastavro and pyarrow.
"""
import argparse
import atexit
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
sys.path.insert(0, HERE)
import engine  # noqa: E402
sys.path.insert(0, os.path.join(TESTS, "storage"))
import hive  # noqa: E402
import relocate  # noqa: E402
import stores  # noqa: E402
import unity  # noqa: E402

FIRN = engine.DEFAULT
PLACE = tempfile.mkdtemp(prefix="firn-catalogs-")
atexit.register(shutil.rmtree, PLACE, True)
TABLES = "/tmp/iceberg-fixtures"  # where the fixtures' metadata say that they lie
CREDENTIAL = "firn-reader:s3cret-of-the-catalog"
FILLED = {}  # what was put where already
GIVEN = []  # tokens that firn was given
CAUGHT = []  # everything that firn printed, to be searched for secrets


# Servers

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def free_ports(count):
    for _ in range(100):
        first = free_port()
        if first + count > 65535:
            continue
        try:
            for port in range(first, first + count):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise RuntimeError("no free ports")


class Service:
    """One server of tests/services, started at first use. `ports`: how many it takes, one after the other. An option may be a
    function, called at the start."""
    running = {}

    def __init__(self, script, *options, ports=1):
        self.key = (script, options)
        self.script, self.options, self.ports = script, options, ports

    def port(self):
        if self.key not in Service.running:
            port = free_ports(self.ports)
            data = os.path.join(PLACE, "%s-%d" % (self.script, port))
            command = [os.path.join(TESTS, "services", self.script + ".sh")]
            subprocess.run([*command, "start", "--port", str(port), "--data", data, *(o() if callable(o) else o for o in self.options)], check=True, stdout=subprocess.DEVNULL)
            atexit.register(subprocess.run, [*command, "stop", "--data", data])
            Service.running[self.key] = port
        return Service.running[self.key]


REST = Service("iceberg-rest", "--warehouse", "file://" + PLACE + "/rest", "--oauth", CREDENTIAL, "--token-seconds", "3")
OPEN_REST = Service("iceberg-rest", "--warehouse", "file://" + PLACE + "/open")
GLUE = Service("moto")
HIVE = Service("hms")
S3 = Service("s3-seaweedfs", "--buckets", "lake", ports=12)
S3_KEY, S3_SECRET = "testkey", "testsecret"


def s3_url():
    return "http://127.0.0.1:%d" % S3.port()


VENDING_REST = Service("iceberg-rest", "--warehouse", "s3://lake/rest", "--s3", s3_url, "--vend", "sts")
PLAIN_REST = Service("iceberg-rest", "--warehouse", "s3://lake/rest", "--s3", s3_url)
NESSIE = Service("iceberg-nessie", "--warehouse", "s3://lake/nessie", "--s3", s3_url, "--sts", "1", ports=2)


def request(url, body=None, headers=None, method=None, form=False):
    data = None if body is None else (urllib.parse.urlencode(body) if form else json.dumps(body)).encode()
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    ask = urllib.request.Request(url, data, {"Content-Type": kind, **(headers or {})}, method=method)
    try:
        with urllib.request.urlopen(ask, timeout=60) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        raise AssertionError((url, error.code, error.read()[:500])) from None


class Rest:
    """The reference REST catalog, as whoever fills it sees it."""

    def __init__(self, service, credential=None):
        self.url = "http://127.0.0.1:%d" % service.port()
        self.credential = credential

    def token(self):
        user, secret = self.credential.split(":")
        fields = {"grant_type": "client_credentials", "client_id": user, "client_secret": secret, "scope": "catalog"}
        return request(self.url + "/v1/oauth/tokens", fields, form=True)["access_token"]

    def post(self, path, body):
        headers = {"Authorization": "Bearer " + self.token()} if self.credential else {}
        return request(self.url + path, body, headers)

    def namespace(self, *levels):
        self.post("/v1/namespaces", {"namespace": list(levels), "properties": {}})

    def register(self, levels, name, metadata):
        space = urllib.parse.quote("\x1f".join(levels), safe="")
        self.post(f"/v1/namespaces/{space}/register", {"name": name, "metadata-location": metadata if ":/" in metadata else "file:" + metadata_file(metadata)})


# Tables

def place_fixtures():
    os.makedirs(TABLES, exist_ok=True)
    for name in ["snap_appends", "part_days", "types_v2_parquet", "mor_posdel_v2"]:
        if not os.path.exists(os.path.join(TABLES, name)):
            shutil.copytree(os.path.join(TESTS, "fixtures", name), os.path.join(TABLES, name))


def metadata_file(fixture):
    folder = os.path.join(TABLES, fixture, "metadata")
    names = [n for n in os.listdir(folder) if n.endswith(".metadata.json")]
    return os.path.join(folder, max(names, key=lambda n: int(re.search(r"\d+", n).group())))


def table_on_s3(fixture):
    """The metadata file's address of a fixture that was rewritten to S3."""
    if ("s3", fixture) not in FILLED:
        out = os.path.join(PLACE, "relocated", fixture)
        relocate.relocate(os.path.join(TABLES, fixture), out, f"{TABLES}/{fixture}", f"s3://lake/tables/{fixture}")
        stores.put_folder(stores.S3(S3.port(), S3_KEY, S3_SECRET), "lake", f"tables/{fixture}", out)
        FILLED["s3", fixture] = f"s3://lake/tables/{fixture}/metadata/" + os.path.basename(metadata_file(fixture))
    return FILLED["s3", fixture]


# Asking firn

def ask(sql, *arguments, timeout=60):
    done = engine.run(FIRN, ["--format", "TSV", *arguments], sql, timeout=timeout)
    CAUGHT.append(done.out + done.err)
    return done


def good(want, sql, *arguments):
    done = ask(sql, *arguments)
    assert (done.status, done.out, done.err) == (0, want, ""), (done.status, done.out[:1000], done.err[:1000])


def same(sql, other, *arguments):
    """Both statements give the same rows."""
    first, second = ask(sql, *arguments), ask(other)
    assert first.status == second.status == 0, (first.err[:500], second.err[:500])
    assert first.out == second.out and first.out, (first.out[:300], second.out[:300])


def bad(error, sql, *words):
    done = ask(sql)
    assert done.status == 1 and done.error() == error, (done.status, done.error(), done.err[:1000])
    for word in words:
        assert word in done.err, (word, done.err[:1000])
    return done


def rest_database(rest, name="c", credential=CREDENTIAL, **settings):
    settings = {"catalog_type": "rest", **({"catalog_credential": credential, "auth_scope": "catalog"} if credential else {}), **settings}
    return "CREATE DATABASE %s ENGINE = DataLakeCatalog('%s') SETTINGS %s;\n" % (name, rest.url, ", ".join(f"{k} = '{v}'" for k, v in settings.items()))


def filled_rest():
    """A REST catalog with OAuth2 and a few tables."""
    if "rest" not in FILLED:
        rest = Rest(REST, CREDENTIAL)
        for levels in [("db",), ("a",), ("a", "b"), ("a", "b", "c"), ("odd name",), ("пространство",)]:
            rest.namespace(*levels)
        rest.register(("db",), "appends", "snap_appends")
        rest.register(("db",), "days", "part_days")
        rest.register(("db",), "types", "types_v2_parquet")
        rest.register(("db",), "deletes", "mor_posdel_v2")
        rest.register(("a", "b", "c"), "deep", "snap_appends")
        rest.register(("a",), "shallow", "snap_appends")
        rest.register(("odd name",), "таблица", "snap_appends")
        rest.register(("odd name",), "a b`c%d", "snap_appends")
        rest.register(("db",), "with.dot", "snap_appends")
        FILLED["rest"] = rest
    return FILLED["rest"]


def test_rest_reads_by_name():
    create = rest_database(filled_rest())
    for table, fixture in [("appends", "snap_appends"), ("days", "part_days"), ("types", "types_v2_parquet"), ("deletes", "mor_posdel_v2")]:
        same(f"{create} SELECT * FROM c.`db.{table}` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/{fixture}') ORDER BY ALL")
        same(f"{create} DESCRIBE c.`db.{table}`", f"DESCRIBE icebergLocal('{TABLES}/{fixture}')")
    same(f"{create} SELECT count() FROM c.db.appends", f"SELECT count() FROM icebergLocal('{TABLES}/snap_appends')")
    same(f"{create} USE c; SELECT count() FROM `db.appends`", f"SELECT count() FROM icebergLocal('{TABLES}/snap_appends')")
    same(f"{create} USE c; SELECT count() FROM db.appends", f"SELECT count() FROM icebergLocal('{TABLES}/snap_appends')")


def test_rest_lists_tables():
    create = rest_database(filled_rest())
    names = ["a.b.c.deep", "a.shallow", "db.appends", "db.days", "db.deletes", "db.types", "db.with.dot", "odd name.a b`c%d", "odd name.таблица"]
    good("".join(sorted(n + "\n" for n in names)), create + "SHOW TABLES FROM c")
    good("db.days\ndb.deletes\n", create + "SHOW TABLES FROM c LIKE 'db.d%'")
    good("c\ndefault\nsystem\n", create + "SHOW DATABASES")
    good("c\tDataLakeCatalog\t1\n", create + "SELECT name, engine, is_external FROM system.databases WHERE name = 'c'")
    good("0\n", create + "SELECT count() FROM system.tables WHERE database = 'c'")
    good("9\n", create + "SELECT count() FROM system.tables WHERE database = 'c'", "--show_data_lake_catalogs_in_system_tables=1")
    good("1\n", create + "EXISTS c.`db.days`")
    good("0\n", create + "EXISTS c.`db.none`")


def test_names_that_need_escaping():
    create = rest_database(filled_rest())
    for name in ["a.b.c.deep", "a.shallow", "odd name.таблица", "odd name.a b\\`c%d", "db.with.dot"]:
        good("12\n", f"{create} SELECT count() FROM c.`{name}`")


def test_nested_and_missing_names():
    create = rest_database(filled_rest())
    for name in ["db.none", "none.none", "a.b.deep", "deep", "a.b.c.d.deep"]:
        bad("Code: 60 (UNKNOWN_TABLE)", f"{create} SELECT * FROM c.`{name}`", name)
    bad("Code: 60 (UNKNOWN_TABLE)", f"{create} SHOW CREATE TABLE c.`db.none`")
    bad("Code: 48 (NOT_IMPLEMENTED)", f"{create} CREATE TABLE c.`db.new` ENGINE = IcebergLocal('{TABLES}/part_days')")


def test_time_travel_through_a_catalog():
    create = rest_database(filled_rest())
    snapshot = json.load(open(metadata_file("snap_appends")))["snapshots"][0]["snapshot-id"]
    same(f"{create} SELECT count() FROM c.`db.appends` SETTINGS iceberg_snapshot_id = {snapshot}",
         f"SELECT count() FROM icebergLocal('{TABLES}/snap_appends') SETTINGS iceberg_snapshot_id = {snapshot}")


def test_show_create():
    create = rest_database(filled_rest())
    done = ask(create + "SHOW CREATE DATABASE c FORMAT TSVRaw")
    assert done.out == f"CREATE DATABASE c\nENGINE = DataLakeCatalog('{filled_rest().url}')\nSETTINGS catalog_type = 'rest', catalog_credential = '[HIDDEN]', auth_scope = 'catalog'\n", done.out + done.err
    done = ask(create + "SHOW CREATE TABLE c.`db.appends` FORMAT TSVRaw")
    assert done.out.startswith("CREATE TABLE c.`db.appends`\n(\n    `id` Nullable(Int32),"), done.out + done.err


def test_tokens_are_renewed():
    """The catalog is asked again by the same process when the token that it gave first (three seconds) is no longer good."""
    create = rest_database(filled_rest())
    rows = 1_000_000_000
    while True:
        done = ask(f"{create} SELECT count() FROM c.`db.appends`; SELECT count() FROM numbers({rows}) WHERE number % 7 = 9; SELECT count() FROM c.`db.days`",
                   "--time", timeout=300)
        assert (done.status, done.out) == (0, "12\n0\n11\n"), (done.status, done.out, done.err)
        waited = float(done.err.split()[2])  # seconds of CREATE, of the first look, of the wait, of the second look
        if waited > 4:
            break
        rows = int(rows * 6 / waited)


def test_wrong_credentials():
    rest = filled_rest()
    bad("Code: 516 (AUTHENTICATION_FAILED)", rest_database(rest, credential="firn-reader:wrong-secret") + "SHOW TABLES FROM c")
    bad("Code: 516 (AUTHENTICATION_FAILED)", rest_database(rest, credential=None) + "SHOW TABLES FROM c")
    bad("Code: 516 (AUTHENTICATION_FAILED)", rest_database(rest, credential=None, auth_header="Authorization: Bearer no-such-token") + "SHOW TABLES FROM c")
    bad("Code: 36 (BAD_ARGUMENTS)", rest_database(rest, credential="without-colon") + "SHOW TABLES FROM c")
    GIVEN.append(rest.token())
    good("12\n", rest_database(rest, credential=None, auth_header="Authorization: Bearer " + GIVEN[-1]) + "SELECT count() FROM c.`db.appends`")


def test_catalog_that_is_down():
    rest = filled_rest()
    down = "CREATE DATABASE down ENGINE = DataLakeCatalog('http://127.0.0.1:%d') SETTINGS catalog_type = 'rest';\n" % free_port()
    create = down + rest_database(rest)
    begin = time.time()
    bad("Code: 210 (NETWORK_ERROR)", create + "SHOW TABLES FROM down")
    bad("Code: 210 (NETWORK_ERROR)", create + "SELECT * FROM down.`a.b`")
    assert time.time() - begin < 30, time.time() - begin
    good("12\n", create + "SELECT count() FROM c.`db.appends`")
    good("c\ndefault\ndown\nsystem\n", create + "SHOW DATABASES")
    good("9\n", create + "SELECT count() FROM system.tables WHERE database IN ('c', 'down')", "--show_data_lake_catalogs_in_system_tables=1")


def test_server_errors_keep_their_type():
    rest = filled_rest()
    done = bad("Code: 736 (ICEBERG_CATALOG_ERROR)", "CREATE DATABASE c ENGINE = DataLakeCatalog('%s/none') SETTINGS catalog_type = 'rest', catalog_credential = '%s', oauth_server_uri = '%s/v1/oauth/tokens';\nSHOW TABLES FROM c" % (rest.url, CREDENTIAL, rest.url))
    assert "status" in done.err, done.err


def test_many_tables():
    """Pages are followed, and nothing but names is read."""
    rest = Rest(OPEN_REST)
    rest.namespace("many")
    count = 1100
    for i in range(count):
        rest.register(("many",), f"t{i:05}", "snap_appends")
    create = rest_database(rest, credential=None)
    begin = time.time()
    done = ask(create + "SHOW TABLES FROM c")
    assert done.out.split() == [f"many.t{i:05}" for i in range(count)], (done.out[:200], done.err[:500])
    assert time.time() - begin < 20
    good("12\n", create + f"SELECT count() FROM c.`many.t{count - 1:05}`")


# Glue

def glue(operation, **fields):
    url = "http://127.0.0.1:%d/" % GLUE.port()
    return request(url, fields, {"X-Amz-Target": "AWSGlue." + operation, "Content-Type": "application/x-amz-json-1.1",
                                 "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/glue/aws4_request, SignedHeaders=host, Signature=0"})


def filled_glue():
    if "glue" not in FILLED:
        glue("CreateDatabase", DatabaseInput={"Name": "db"})
        glue("CreateDatabase", DatabaseInput={"Name": "other"})
        for name, fixture in [("appends", "snap_appends"), ("days", "part_days")]:
            glue("CreateTable", DatabaseName="db", TableInput={
                "Name": name, "TableType": "EXTERNAL_TABLE", "StorageDescriptor": {"Location": f"file:{TABLES}/{fixture}"},
                "Parameters": {"table_type": "ICEBERG", "metadata_location": "file:" + metadata_file(fixture)}})
        glue("CreateTable", DatabaseName="db", TableInput={"Name": "no_iceberg", "Parameters": {"classification": "csv"}})
        FILLED["glue"] = True
    return "CREATE DATABASE g ENGINE = DataLakeCatalog('http://127.0.0.1:%d') SETTINGS catalog_type = 'glue', region = 'us-east-1', aws_access_key_id = 'AKIDGLUE', aws_secret_access_key = 'glue-secret-key';\n" % GLUE.port()


def test_glue():
    create = filled_glue()
    good("db.appends\ndb.days\n", create + "SHOW TABLES FROM g")
    for table, fixture in [("appends", "snap_appends"), ("days", "part_days")]:
        same(f"{create} SELECT * FROM g.`db.{table}` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/{fixture}') ORDER BY ALL")
    bad("Code: 60 (UNKNOWN_TABLE)", create + "SELECT * FROM g.`db.none`")
    bad("Code: 60 (UNKNOWN_TABLE)", create + "SELECT * FROM g.`none.none`")
    bad("Code: 736 (ICEBERG_CATALOG_ERROR)", create + "SELECT * FROM g.`db.no_iceberg`", "no_iceberg", "table_type")
    done = ask(create + "SHOW CREATE DATABASE g FORMAT TSVRaw")
    assert "aws_access_key_id = '[HIDDEN]', aws_secret_access_key = '[HIDDEN]'" in done.out, done.out + done.err


def test_glue_pages():
    create = filled_glue()
    glue("CreateDatabase", DatabaseInput={"Name": "many"})
    for i in range(230):
        glue("CreateTable", DatabaseName="many", TableInput={"Name": f"t{i:03}", "Parameters": {"table_type": "iceberg", "metadata_location": "file:" + metadata_file("snap_appends")}})
    done = ask(create + "SHOW TABLES FROM g LIKE 'many.%'")
    assert done.out.split() == [f"many.t{i:03}" for i in range(230)], (done.out[-200:], done.err[:500])
    glue("DeleteDatabase", Name="many")


# Hive

def test_hive():
    port = HIVE.port()
    metastore = hive.Metastore(port)
    metastore.create_database("db", "file://" + PLACE + "/hive")
    for name, fixture in [("appends", "snap_appends"), ("days", "part_days")]:
        metastore.create_table("db", name, f"file:{TABLES}/{fixture}", {"table_type": "ICEBERG", "EXTERNAL": "TRUE", "metadata_location": "file:" + metadata_file(fixture)})
    metastore.create_table("db", "no_iceberg", f"file:{TABLES}/part_days", {"EXTERNAL": "TRUE"})
    create = f"CREATE DATABASE h ENGINE = DataLakeCatalog('thrift://127.0.0.1:{port}') SETTINGS catalog_type = 'hive';\n"
    good("db.appends\ndb.days\n", create + "SHOW TABLES FROM h")
    for table, fixture in [("appends", "snap_appends"), ("days", "part_days")]:
        same(f"{create} SELECT * FROM h.`db.{table}` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/{fixture}') ORDER BY ALL")
    bad("Code: 60 (UNKNOWN_TABLE)", create + "SELECT * FROM h.`db.none`")
    bad("Code: 60 (UNKNOWN_TABLE)", create + "SELECT * FROM h.`none.none`")
    bad("Code: 736 (ICEBERG_CATALOG_ERROR)", create + "SELECT * FROM h.`db.no_iceberg`")


def test_hive_that_is_down():
    create = f"CREATE DATABASE h ENGINE = DataLakeCatalog('thrift://127.0.0.1:{free_port()}') SETTINGS catalog_type = 'hive';\n"
    bad("Code: 210 (NETWORK_ERROR)", create + "SHOW TABLES FROM h")


# Unity

def test_unity():
    server = unity.Unity(json.load(open(metadata_file("snap_appends"))), "unity-bearer-token")
    try:
        create = f"CREATE DATABASE u ENGINE = DataLakeCatalog('{server.url}') SETTINGS catalog_type = 'unity', warehouse = 'unity', catalog_credential = 'unity-bearer-token';\n"
        good("default.t\n", create + "SHOW TABLES FROM u")
        same(create + "SELECT * FROM u.`default.t` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/snap_appends') ORDER BY ALL")
        bad("Code: 60 (UNKNOWN_TABLE)", create + "SELECT * FROM u.`default.none`")
        bad("Code: 736 (ICEBERG_CATALOG_ERROR)", create + "SELECT * FROM u.`default.delta_only`", "DELTA")
        bad("Code: 516 (AUTHENTICATION_FAILED)", create.replace("unity-bearer-token", "wrong-unity-token") + "SHOW TABLES FROM u", "UNAUTHENTICATED")
    finally:
        server.close()


# Tables on S3, by keys that a catalog lends or that the database has

def s3_catalog(service, *fixtures):
    rest = Rest(service)
    if service.key not in FILLED:
        rest.namespace("db")
        for fixture in fixtures:
            rest.register(("db",), fixture, table_on_s3(fixture))
        FILLED[service.key] = True
    return rest


def reads_from_s3(create, database, *fixtures):
    for fixture in fixtures:
        same(f"{create} SELECT * FROM {database}.`db.{fixture}` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/{fixture}') ORDER BY ALL")


def test_lent_keys():
    fixtures = "snap_appends", "part_days", "mor_posdel_v2"
    create = rest_database(s3_catalog(VENDING_REST, *fixtures), credential=None)
    reads_from_s3(create, "c", *fixtures)
    done = ask(create + "SELECT DISTINCT _path FROM c.`db.snap_appends` LIMIT 1")
    assert "lake/tables/snap_appends/data/" in done.out, done.out + done.err


def test_keys_of_the_database():
    rest = s3_catalog(PLAIN_REST, "snap_appends")
    settings = f"SETTINGS catalog_type = 'rest', vended_credentials = 0, storage_endpoint = '{s3_url()}/lake', region = 'us-east-1'"
    create = f"CREATE DATABASE c ENGINE = DataLakeCatalog('{rest.url}/v1', '{S3_KEY}', '{S3_SECRET}') {settings};\n"
    reads_from_s3(create, "c", "snap_appends")
    done = ask(create + "SHOW CREATE DATABASE c FORMAT TSVRaw; EXPLAIN SELECT * FROM c.`db.snap_appends`; SELECT * FROM system.databases")
    assert f"'{S3_KEY}', '[HIDDEN]'" in done.out and S3_SECRET not in done.out, done.out + done.err
    wrong = create.replace(f"'{S3_SECRET}'", "'wrong-storage-secret'")
    done = ask(wrong + "SELECT * FROM c.`db.snap_appends`")
    assert done.status == 1 and "wrong-storage-secret" not in done.err, done.err


def test_glue_on_s3():
    create = filled_glue().replace("SETTINGS", f"SETTINGS storage_endpoint = '{s3_url()}',").replace("'AKIDGLUE'", f"'{S3_KEY}'").replace("'glue-secret-key'", f"'{S3_SECRET}'")
    glue("CreateDatabase", DatabaseInput={"Name": "s3"})
    glue("CreateTable", DatabaseName="s3", TableInput={"Name": "days", "Parameters": {"table_type": "ICEBERG", "metadata_location": table_on_s3("part_days")}})
    same(f"{create} SELECT * FROM g.`s3.days` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/part_days') ORDER BY ALL")
    glue("DeleteDatabase", Name="s3")


def test_nessie_and_its_branches():
    url = "http://127.0.0.1:%d" % NESSIE.port()
    config = request(url + "/iceberg/v1/config?warehouse=warehouse")
    prefix = config["overrides"].get("prefix") or config["defaults"]["prefix"]  # as a path has it: main%7Cwarehouse
    request(f"{url}/iceberg/v1/{prefix}/namespaces", {"namespace": ["db"], "properties": {}})
    main = request(url + "/api/v2/trees/main")["reference"]
    request(url + "/api/v2/trees?name=dev&type=BRANCH", main)
    dev = prefix.replace("main", "dev", 1)
    for at, fixture in [(prefix, "snap_appends"), (dev, "part_days")]:
        request(f"{url}/iceberg/v1/{at}/namespaces/db/register", {"name": "t", "metadata-location": table_on_s3(fixture)})
    for address, fixture in [("/iceberg/", "snap_appends"), ("/iceberg/main", "snap_appends"), ("/iceberg/dev", "part_days")]:
        # Keys that Nessie lends are limited to places that this S3 takes for others.
        create = f"CREATE DATABASE n ENGINE = DataLakeCatalog('{url}{address}', '{S3_KEY}', '{S3_SECRET}') SETTINGS catalog_type = 'rest', warehouse = 'warehouse', vended_credentials = 0;\n"
        good("db.t\n", create + "SHOW TABLES FROM n")
        same(f"{create} SELECT * FROM n.`db.t` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/{fixture}') ORDER BY ALL")


# Secrets: run last, over all that was printed

def test_zz_no_secret_was_printed():
    assert CAUGHT, "run together with the tests that print"
    everything = "\n".join(CAUGHT)
    for secret in ["s3cret-of-the-catalog", "glue-secret-key", "unity-bearer-token", "wrong-unity-token", "wrong-secret", "no-such-token", "wrong-storage-secret", S3_SECRET, *GIVEN]:
        assert secret not in everything, secret


def main():
    global FIRN
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=engine.DEFAULT)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    FIRN = args.firn
    place_fixtures()
    tests = sorted((n[5:], f) for n, f in globals().items() if n.startswith("test_") and (not args.names or n[5:] in args.names))
    failed = 0
    for name, test in tests:
        begin = time.time()
        try:
            test()
            print(f"ok   {name} ({time.time() - begin:.1f} s)", flush=True)
        except Exception as error:  # an assertion, a server that did not start, an answer of another form
            failed += 1
            print(f"FAIL {name}: {type(error).__name__}: {str(error)[:3000]}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
