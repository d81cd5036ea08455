"""AWS Glue (moto), the Hive metastore, a stand-in for Unity."""
import json
import socket
import time

import hive
import unity
from fault_proxy import Fault, FaultProxy
from house import GLUE, HIVE, TABLES, ask, bad, filled_glue, glue, glue_on_s3, good, metadata_file, same, signature_checker, table_on_s3
from servers import PLACE, free_ports, plain_environment


def test_glue():
    create = filled_glue()
    good("db.appends\ndb.days\n", create + "SHOW TABLES FROM g")
    for table, fixture in [("appends", "snap_appends"), ("days", "part_days")]:
        same(f"{create} SELECT * FROM g.`db.{table}` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/{fixture}') ORDER BY ALL")
    bad("Code: 60 (UNKNOWN_TABLE)", create + "SELECT * FROM g.`db.none`")
    bad("Code: 60 (UNKNOWN_TABLE)", create + "SELECT * FROM g.`none.none`")
    bad("Code: 736 (DATALAKE_DATABASE_ERROR)", create + "SELECT * FROM g.`db.no_iceberg`", "no_iceberg", "table_type")
    done = ask(create + "SHOW CREATE DATABASE g FORMAT TSVRaw")
    assert "aws_access_key_id = '[HIDDEN]', aws_secret_access_key = '[HIDDEN]'" in done.out, done.out + done.err


def test_glue_signs_its_requests():
    """By keys of the settings, with a session token, or of the environment; keys that have expired are an error where there are no
    others."""
    create = filled_glue()
    signed = []
    proxy = FaultProxy(GLUE.port())
    proxy.refuse = signature_checker("glue-signing-secret", "session+token/==", signed)
    create = f"CREATE DATABASE g ENGINE = DataLakeCatalog('http://127.0.0.1:{proxy.port}') SETTINGS catalog_type = 'glue', region = 'us-east-1'"
    given = create + ", aws_access_key_id = 'AKIDGLUE', aws_secret_access_key = 'glue-signing-secret', aws_session_token = 'session+token/==';\n"
    good("db.appends\ndb.days\n", given + "SHOW TABLES FROM g LIKE 'db.%'")
    environment = plain_environment(AWS_ACCESS_KEY_ID="AKIDGLUE", AWS_SECRET_ACCESS_KEY="glue-signing-secret", AWS_SESSION_TOKEN="session+token/==")
    done = ask(create + "; SELECT count() FROM g.`db.appends`", env=environment)
    assert (done.status, done.out) == (0, "12\n"), done.err
    assert len(signed) > 2 and all((region, service) == ("us-east-1", "glue") for _, region, service in signed), signed
    bad("Code: 497 (ACCESS_DENIED)", given.replace("glue-signing", "wrong-signing") + "SHOW TABLES FROM g", "SignatureDoesNotMatchException")
    done = ask(create + "; SHOW TABLES FROM g", env=plain_environment(AWS_EC2_METADATA_DISABLED="true", HOME=PLACE))
    assert done.error() == "Code: 516 (AUTHENTICATION_FAILED)", done.err
    proxy.reset(Fault(400, 1000, body=json.dumps({"__type": "ExpiredTokenException", "message": "the token has expired"})))
    bad("Code: 736 (DATALAKE_DATABASE_ERROR)", given + "SHOW TABLES FROM g", "ExpiredTokenException", "the token has expired")
    proxy.close()


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
    bad("Code: 736 (DATALAKE_DATABASE_ERROR)", create + "SELECT * FROM h.`db.no_iceberg`")


def test_hive_that_is_down():
    create = f"CREATE DATABASE h ENGINE = DataLakeCatalog('thrift://127.0.0.1:{free_ports()}') SETTINGS catalog_type = 'hive';\n"
    done = bad("Code: 210 (NETWORK_ERROR)", create + "SHOW TABLES FROM h")
    assert done.err.startswith("Code: "), "nothing else is said: " + done.err
    done = bad("Code: 198 (DNS_ERROR)", "CREATE DATABASE h ENGINE = DataLakeCatalog('thrift://no-such-host.invalid:9083') SETTINGS catalog_type = 'hive'; SHOW TABLES FROM h")
    assert done.err.startswith("Code: "), done.err


def test_hive_that_hangs():
    """It takes connections and says nothing, at once or after a first answer: given up after catalog_timeout_ms, once."""
    def lasts(create, sql, error, below):
        begin = time.time()
        bad(error, create + sql)
        assert time.time() - begin < below, time.time() - begin
    with socket.create_server(("127.0.0.1", 0)) as silent:
        create = f"CREATE DATABASE h ENGINE = DataLakeCatalog('thrift://127.0.0.1:{silent.getsockname()[1]}') SETTINGS catalog_type = 'hive';\n"
        lasts(create.replace("SETTINGS ", "SETTINGS catalog_timeout_ms = 1000, "), "SHOW TABLES FROM h", "Code: 209 (SOCKET_TIMEOUT)", 4)
        lasts(create, "SELECT * FROM h.`db.t`", "Code: 209 (SOCKET_TIMEOUT)", 25)
    relay = hive.Relay(HIVE.port(), answers=1)
    create = f"CREATE DATABASE h ENGINE = DataLakeCatalog('thrift://127.0.0.1:{relay.port}') SETTINGS catalog_type = 'hive', catalog_timeout_ms = 1500;\n"
    lasts(create, "EXISTS h.`none.none`; SELECT * FROM h.`none.none`", "Code: 209 (SOCKET_TIMEOUT)", 5)
    assert relay.connections == 1, relay.connections
    relay.close()


# Unity

def test_unity():
    server = unity.Unity(json.load(open(metadata_file("snap_appends"))), "unity-bearer-token")
    try:
        create = f"CREATE DATABASE u ENGINE = DataLakeCatalog('{server.url}') SETTINGS catalog_type = 'unity', warehouse = 'unity', catalog_credential = 'unity-bearer-token';\n"
        good("default.t\n", create + "SHOW TABLES FROM u")
        same(create + "SELECT * FROM u.`default.t` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/snap_appends') ORDER BY ALL")
        bad("Code: 60 (UNKNOWN_TABLE)", create + "SELECT * FROM u.`default.none`")
        bad("Code: 736 (DATALAKE_DATABASE_ERROR)", create + "SELECT * FROM u.`default.delta_only`", "DELTA")
        bad("Code: 516 (AUTHENTICATION_FAILED)", create.replace("unity-bearer-token", "wrong-unity-token") + "SHOW TABLES FROM u", "UNAUTHENTICATED")
    finally:
        server.close()


def test_glue_on_s3():
    create = glue_on_s3()
    glue("CreateDatabase", DatabaseInput={"Name": "s3"})
    glue("CreateTable", DatabaseName="s3", TableInput={"Name": "days", "Parameters": {"table_type": "ICEBERG", "metadata_location": table_on_s3("part_days")}})
    same(f"{create} SELECT * FROM g.`s3.days` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/part_days') ORDER BY ALL")
    glue("DeleteDatabase", Name="s3")
