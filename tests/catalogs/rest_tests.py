"""The Iceberg REST protocol, on the reference server: names, lists, errors, OAuth2, headers, signatures."""
import json
import os
import re
import sqlite3
import subprocess
import threading
import time

import house
from fault_proxy import Fault, FaultProxy
from house import GIVEN, GLUE, FILLED, OPEN_REST, REST, TABLES, Rest, ask, bad, error_reply, filled_rest, good, metadata_file, rest_database, same, signature_checker
from servers import PLACE, certificate_of, free_ports


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


def test_flat_namespaces():
    """Nested namespaces are neither asked for nor shown, and a dot in a namespace's name parts nothing."""
    proxy = FaultProxy(REST.port())
    create = rest_database(filled_rest(), flat_namespaces=1).replace(f":{REST.port()}'", f":{proxy.port}'")
    good("a.shallow\n", create + "SHOW TABLES FROM c LIKE 'a.%'")
    assert not any("parent=" in path for _, path, _ in proxy.log), proxy.log
    good("12\n", create + "SELECT count() FROM c.`a.shallow`")
    proxy.reset()
    bad("Code: 60 (UNKNOWN_TABLE)", create + "SELECT count() FROM c.`a.b.none`")
    assert [path for _, path, _ in proxy.log if "/tables/" in path] == ["/v1/namespaces/a.b/tables/none", "/v1/namespaces/a/tables/b.none"], proxy.log
    proxy.close()


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


def test_system_tables_of_a_catalog():
    """Tables that a query names are shown; with the setting all are, but for a catalog that is down."""
    create = rest_database(filled_rest())
    down = "CREATE DATABASE down ENGINE = DataLakeCatalog('http://127.0.0.1:%d') SETTINGS catalog_type = 'rest';\n" % free_ports()
    local = f"CREATE TABLE t ENGINE = IcebergLocal('{TABLES}/mor_posdel_v2');\n"
    for name in ["history", "snapshots", "refs", "files", "manifests", "partitions"]:
        rows = f"SELECT * EXCEPT (database, table) FROM system.iceberg_{name} WHERE "
        wanted = local + rows + "table = 't' ORDER BY ALL"
        same(create + rows + "database = 'c' AND table = 'db.deletes' ORDER BY ALL", wanted)
        same(create + rows + "database = 'c' AND table IN ('db.deletes', 'db.none') ORDER BY ALL", wanted)
        same(create + rows + "table = 'db.deletes' ORDER BY ALL", wanted)
        good("0\n", create + f"SELECT count() FROM system.iceberg_{name}")
    every = "--show_data_lake_catalogs_in_system_tables=1"
    good("9\n", create + "SELECT uniq(table) FROM system.iceberg_history", every)
    good("db.days\ndb.deletes\n", create + "SELECT DISTINCT table FROM system.iceberg_history WHERE table LIKE 'db.d%' AND database != 'x' ORDER BY 1", every)
    good("9\n", down + create + "SELECT uniq(table) FROM system.iceberg_history", every)
    good("0\n", down + create + "SELECT count() FROM system.iceberg_history WHERE database = 'down'", every)
    bad("Code: 210 (NETWORK_ERROR)", down + "SELECT count() FROM system.iceberg_history WHERE database = 'down' AND table = 'db.t'")
    done = ask(create + "SELECT database, table, count() FROM system.iceberg_snapshots WHERE database = 'c' AND table = 'db.appends' GROUP BY ALL")
    assert done.out.startswith("c\tdb.appends\t"), done.out + done.err


def test_describe_and_show_create():
    create = rest_database(filled_rest())
    same(create + "DESCRIBE c.`a.b.c.deep`", f"DESCRIBE icebergLocal('{TABLES}/snap_appends')")
    same(create + "DESCRIBE TABLE c.`odd name.таблица`", f"DESCRIBE icebergLocal('{TABLES}/snap_appends')")
    same(create + "USE c; DESCRIBE `db.types`", f"DESCRIBE icebergLocal('{TABLES}/types_v2_parquet')")
    done = ask(create + "SHOW CREATE TABLE c.`db.types` FORMAT TSVRaw")
    columns = ask(f"DESCRIBE icebergLocal('{TABLES}/types_v2_parquet') FORMAT TSVRaw")
    assert columns.status == 0 and columns.out, columns.err
    for line in columns.out.splitlines():
        name, type_name = line.split("\t")[:2]
        assert f"`{name}` {type_name}" in done.out, (line, done.out)
    assert "ENGINE = Iceberg(" in done.out, done.out
    good("1\n", create + "EXISTS TABLE c.`a.b.c.deep`")
    bad("Code: 60 (UNKNOWN_TABLE)", create + "DESCRIBE c.`db.none`", "db.none")


def test_tokens_are_renewed():
    """The catalog is asked again by the same process when the token that it gave first (three seconds) is no longer good, and not
    before. A slow catalog that is asked in between, twice, is the clock."""
    proxy, slow = FaultProxy(REST.port()), FaultProxy(OPEN_REST.port(), latency=2)
    create = rest_database(filled_rest()).replace(f":{REST.port()}'", f":{proxy.port}'") + rest_database(Rest(OPEN_REST), "slow", None).replace(f":{OPEN_REST.port()}'", f":{slow.port}'")
    ask_both = create + " SELECT count() FROM c.`db.appends`; {}; SELECT count() FROM c.`db.days`"
    given = lambda: sum("oauth" in p for _, p, _ in proxy.log)
    good("12\n0\n11\n", ask_both.format("EXISTS slow.`a.b`"))
    assert given() >= 2, proxy.log
    assert len(slow.log) >= 2, slow.log
    proxy.reset()
    proxy.body = lambda path, body: re.sub(rb'"expires_in":3\b', b'"expires_in":3600', body)
    good("12\n0\n11\n", ask_both.format("SELECT 0"))
    assert given() == 1, proxy.log
    proxy.close()
    slow.close()


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
    down = "CREATE DATABASE down ENGINE = DataLakeCatalog('http://127.0.0.1:%d') SETTINGS catalog_type = 'rest';\n" % free_ports()
    create = down + rest_database(rest)
    begin = time.time()
    bad("Code: 210 (NETWORK_ERROR)", create + "SHOW TABLES FROM down")
    bad("Code: 210 (NETWORK_ERROR)", create + "SELECT * FROM down.`a.b`")
    assert time.time() - begin < 30, time.time() - begin
    good("12\n", create + "SELECT count() FROM c.`db.appends`")
    good("c\ndefault\ndown\nsystem\n", create + "SHOW DATABASES")
    good("9\n", create + "SELECT count() FROM system.tables WHERE database IN ('c', 'down')", "--show_data_lake_catalogs_in_system_tables=1")


def test_server_errors_keep_their_type():
    filled_rest()
    proxy = FaultProxy(REST.port())
    create = rest_database(filled_rest()).replace(f":{REST.port()}'", f":{proxy.port}'")
    for status, kind, error in [
            (400, "BadRequestException", "Code: 736 (DATALAKE_DATABASE_ERROR)"),
            (401, "NotAuthorizedException", "Code: 516 (AUTHENTICATION_FAILED)"),
            (403, "ForbiddenException", "Code: 497 (ACCESS_DENIED)"),
            (406, "UnsupportedOperationException", "Code: 736 (DATALAKE_DATABASE_ERROR)"),
            (409, "CommitFailedException", "Code: 736 (DATALAKE_DATABASE_ERROR)"),
            (419, "AuthenticationTimeoutException", "Code: 516 (AUTHENTICATION_FAILED)"),
            (500, "InternalServerError", "Code: 736 (DATALAKE_DATABASE_ERROR)"),
            (503, "SlowDownException", "Code: 736 (DATALAKE_DATABASE_ERROR)")]:
        proxy.reset(Fault(status, 1000, match="/tables", body=error_reply(status, kind)))
        begin = time.time()
        bad(error, create + "SELECT * FROM c.`db.appends`", kind, "what the server says", str(status))
        bad(error, create + "SHOW TABLES FROM c", kind)
        assert time.time() - begin < 60, (status, time.time() - begin)
    for status, kind, body in [(404, "", "<html>no such page</html>"), (500, "", "")]:
        proxy.reset(Fault(status, 1000, match="/v1/config", body=body))
        bad("Code: 736 (DATALAKE_DATABASE_ERROR)", create + "SELECT * FROM c.`db.appends`", str(status))
    proxy.reset(Fault(200, 1000, match="/tables", body="{\"metadata\": 5}"))
    bad("Code: 743 (ICEBERG_SPECIFICATION_VIOLATION)", create + "SELECT * FROM c.`db.appends`", "no JSON object")
    proxy.reset(Fault(200, 1000, match="/tables", body="no JSON"))
    bad("Code: 117 (INCORRECT_DATA)", create + "SELECT * FROM c.`db.appends`", "JSON")
    proxy.close()


def test_faults_of_a_catalog():
    """Those that pass are tried again; those that stay are errors in time."""
    proxy = FaultProxy(REST.port())
    create = rest_database(filled_rest()).replace(f":{REST.port()}'", f":{proxy.port}'")
    for fault in [Fault(503, 2), Fault(429, 1, headers={"Retry-After": "1"}), Fault(500, 2, match="/tables"), Fault("reset", 2), Fault("cut", 2, match="/tables/"),
                  Fault("reset", 1, match="oauth"), Fault(419, 1, match="/tables/", body=error_reply(419, "AuthenticationTimeoutException"))]:
        proxy.reset(fault)
        good("12\n", create + "SELECT count() FROM c.`db.appends`")
        assert fault.times == 0, fault.kind
    for fault, error in [(Fault("reset", 1000), "Code: 210 (NETWORK_ERROR)"), (Fault("cut", 1000, match="/tables/"), "Code: 210 (NETWORK_ERROR)"),
                         (Fault("short", 1000, match="/tables/"), "Code: 117 (INCORRECT_DATA)"), (Fault("hang", 1000, match="/tables/", seconds=100), "Code: 209 (SOCKET_TIMEOUT)")]:
        proxy.reset(fault)
        begin = time.time()
        bad(error, create + "SELECT count() FROM c.`db.appends`")
        assert time.time() - begin < 25, (fault.kind, time.time() - begin)
    # catalog_timeout_ms: one try, of a second.
    for match in ("oauth", "/config", "/tables/"):
        proxy.reset(Fault("hang", 1000, match=match, seconds=100))
        begin = time.time()
        bad("Code: 209 (SOCKET_TIMEOUT)", create.replace("SETTINGS ", "SETTINGS catalog_timeout_ms = 1000, ") + "SELECT count() FROM c.`db.appends`", "not a byte for 1000 ms")
        assert time.time() - begin < 4 and sum(match in p for _, p, _ in proxy.log) == 1, (time.time() - begin, proxy.log)
    proxy.close()


def test_certificate_of_a_catalog():
    certificate, key = certificate_of(os.path.join(PLACE, "tls"))
    proxy = FaultProxy(REST.port(), certificate=(certificate, key))
    create = rest_database(filled_rest()).replace(f"http://127.0.0.1:{REST.port()}'", f"https://127.0.0.1:{proxy.port}'")
    bad("Code: 210 (NETWORK_ERROR)", create + "SELECT count() FROM c.`db.appends`", "certificate is not trusted")
    done = ask(create + "SELECT count() FROM c.`db.appends`", env=dict(os.environ, SSL_CERT_FILE=certificate))
    assert (done.status, done.out) == (0, "12\n"), done.err
    proxy.close()


def test_headers():
    """A bearer token and headers of one's own go with each request; keys to storage are asked for unless they are not wanted."""
    proxy = FaultProxy(REST.port())
    GIVEN.append(filled_rest().token())
    lines = f"Authorization: Bearer {GIVEN[-1]}\\nX-Tenant: acme\\nX-Empty:"
    for vended, delegation in [(1, "vended-credentials"), (0, None)]:
        proxy.reset()
        create = f"CREATE DATABASE c ENGINE = DataLakeCatalog('http://127.0.0.1:{proxy.port}/v1/') SETTINGS catalog_type = 'rest', auth_header = '{lines}', vended_credentials = {vended};\n"
        good("12\n", create + "SELECT count() FROM c.`db.appends`")
        assert [p for _, p, _ in proxy.log] == ["/v1/config", "/v1/namespaces/db/tables/appends"], proxy.log
        for head in proxy.heads:
            assert head["authorization"] == "Bearer " + GIVEN[-1] and head["x-tenant"] == "acme", head
            assert head.get("x-iceberg-access-delegation") == delegation, head
    proxy.close()


def test_configuration_of_the_server():
    """Defaults and, over them, overrides of the server: where it is asked on, under which prefix, with which headers."""
    first, second = FaultProxy(REST.port()), FaultProxy(REST.port())
    config = {"defaults": {"prefix": "default", "header.X-Default": "1", "header.X-Both": "default"},
              "overrides": {"uri": f"http://127.0.0.1:{second.port}/", "prefix": "wh/one", "header.X-Both": "override"}}
    first.body = lambda path, body: json.dumps(config).encode() if path.startswith("/v1/config") else body
    second.path = lambda path: path.replace("/v1/wh/one/", "/v1/")
    create = rest_database(filled_rest(), warehouse="one warehouse").replace(f":{REST.port()}'", f":{first.port}'")
    good("12\n", create + "SELECT count() FROM c.`db.appends`")
    assert [p for _, p, _ in first.log if "oauth" not in p] == ["/v1/config?warehouse=one%20warehouse"], first.log
    assert [p for _, p, _ in second.log] == ["/v1/wh/one/namespaces/db/tables/appends"], second.log
    assert second.heads[0]["x-default"] == "1" and second.heads[0]["x-both"] == "override", second.heads
    first.close()
    second.close()


def test_signed_requests():
    """Requests that are signed for AWS, checked by botocore before the server sees them."""
    signed = []
    proxy = FaultProxy(OPEN_REST.port())
    proxy.refuse = signature_checker("rest-signing-secret", "session+token/==", signed)
    rest = Rest(OPEN_REST)
    if "signed" not in FILLED:
        for levels in [("signed",), ("signed", "two words"), ("signed", "пространство")]:
            rest.namespace(*levels)
            rest.register(levels, "t", "snap_appends")
        FILLED["signed"] = True
    create = (f"CREATE DATABASE c ENGINE = DataLakeCatalog('http://127.0.0.1:{proxy.port}') SETTINGS catalog_type = 'rest', rest_sigv4_enabled = 1, rest_signing_name = 's3tables', "
              "rest_signing_region = 'eu-west-1', aws_access_key_id = 'AKIDREST', aws_secret_access_key = 'rest-signing-secret', aws_session_token = 'session+token/==';\n")
    for name in ["signed.t", "signed.two words.t", "signed.пространство.t"]:
        good("12\n", create + f"SELECT count() FROM c.`{name}`")
    done = ask(create + "SHOW TABLES FROM c LIKE 'signed.%'")
    assert len(done.out.splitlines()) == 3, done.out + done.err
    assert signed and all((region, service) == ("eu-west-1", "s3tables") for _, region, service in signed), signed
    bad("Code: 497 (ACCESS_DENIED)", create.replace("rest-signing-secret", "wrong-signing-secret") + "SELECT count() FROM c.`signed.t`", "SignatureDoesNotMatchException")
    proxy.close()


def many_tables(count):
    """A REST catalog with a table, and many that its own database is told of: so many calls would take minutes."""
    if "many" not in FILLED:
        rest = Rest(OPEN_REST)
        rest.namespace("many")
        rest.register(("many",), "t00000", "snap_appends")
        with sqlite3.connect(os.path.join(OPEN_REST.started[1], "run/catalog.db"), timeout=60) as database:
            names = [row[1] for row in database.execute("PRAGMA table_info(iceberg_tables)")]
            [row] = database.execute("SELECT * FROM iceberg_tables WHERE table_name = 't00000'").fetchall()
            rows = [[f"t{i:05}" if n == "table_name" else v for n, v in zip(names, row)] for i in range(1, count)]
            database.executemany(f"INSERT INTO iceberg_tables VALUES ({', '.join('?' * len(names))})", rows)
        FILLED["many"] = rest
    return FILLED["many"]


def test_many_tables():
    """Of 10 000 tables only names are read, and a table is opened by one request for it."""
    count = 10_000
    rest = many_tables(count)
    proxy = FaultProxy(OPEN_REST.port())
    create = f"CREATE DATABASE c ENGINE = DataLakeCatalog('http://127.0.0.1:{proxy.port}') SETTINGS catalog_type = 'rest';\n"
    begin = time.time()
    process = subprocess.Popen([house.FIRN, "local", "--format", "TSV", "-q", create + "SHOW TABLES FROM c LIKE 'many.%'"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    late = threading.Timer(120, process.kill)
    late.start()
    out, err = process.stdout.read().decode(), process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    late.cancel()
    took = time.time() - begin
    assert status == 0 and out.split() == [f"many.t{i:05}" for i in range(count)], (out[:200], err[:500])
    print(f"{count} tables listed in {took:.1f} s, {len(proxy.log)} requests, {usage.ru_maxrss / 1024:.0f} MiB at most", flush=True)
    assert took < 30 and usage.ru_maxrss < 256 * 1024, (took, usage.ru_maxrss)
    assert all("/tables/" not in path for _, path, _ in proxy.log), proxy.log
    proxy.reset()
    good("12\n", create + f"SELECT count() FROM c.`many.t{count - 1:05}`")
    assert [p for _, p, _ in proxy.log] == ["/v1/config", f"/v1/namespaces/many/tables/t{count - 1:05}"], proxy.log
    proxy.reset()
    good("12\n", create + f"USE c; SELECT count() FROM `many.t00777`")
    assert len(proxy.log) == 2, proxy.log
    good(f"{count}\n", create + "SELECT count() FROM system.tables WHERE database = 'c' AND name LIKE 'many.%'", "--show_data_lake_catalogs_in_system_tables=1")
    proxy.close()
