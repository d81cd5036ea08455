"""No key, token or password in anything that firn prints: answers, errors, SHOW CREATE, system tables, EXPLAIN, profile events.

Statements that use secrets in every place where one can stand are run, those that work and those that fail at each stage; then all that was
printed is searched, for the secrets as they are and in the spellings that requests have of them.
"""
import base64
import json
import urllib.parse

KEY, SECRET = "testkey", "testsecret"  # the server's: its statements work
# Others, which no server knows; each may be found by its own name. The slash and the sign show what is spelt in another way.
GIVEN = {name: f"sEcret/of+{name}" for name in (
    "s3-key", "s3-token", "collection-key", "collection-token", "override-key", "disk-key", "azure-sas", "url-password", "url-signature", "hdfs-token", "catalog-password",
    "catalog-credential", "catalog-header", "glue-key", "glue-token", "gcs-token", "environment-key", "environment-token", "view-key", "named-key")}
GIVEN["url-password"] = "sEcret-of-url-password"  # a slash would end the host
AZURE_KEY = base64.b64encode(b"azure account key of the tests").decode()
NOWHERE = "http://127.0.0.1:1"
FEW_TRIES = ("--s3_max_single_read_retries=0", "--azure_sdk_max_retries=0", "--http_max_tries=1")


def spellings(secret):
    return {secret, urllib.parse.quote(secret, safe=""), urllib.parse.quote(secret), json.dumps(secret)[1:-1], base64.b64encode(secret.encode()).decode()}


def configuration(work, port):
    path = f"{work}/secrets.xml"
    with open(path, "w") as file:
        file.write(f"""<clickhouse>
  <named_collections>
    <of_file><url>http://127.0.0.1:{port}/warehouse/fixtures/part_days</url><access_key_id>{KEY}</access_key_id><secret_access_key>{SECRET}</secret_access_key></of_file>
    <wrong><url>{NOWHERE}/bucket/t</url><access_key_id>k</access_key_id><secret_access_key>{GIVEN['collection-key']}</secret_access_key>
      <session_token>{GIVEN['collection-token']}</session_token></wrong>
  </named_collections>
  <storage_configuration><disks>
    <right><type>s3</type><endpoint>http://127.0.0.1:{port}/warehouse/fixtures/</endpoint><access_key_id>{KEY}</access_key_id><secret_access_key>{SECRET}</secret_access_key></right>
    <wrong><type>s3</type><endpoint>{NOWHERE}/bucket/</endpoint><access_key_id>k</access_key_id><secret_access_key>{GIVEN['disk-key']}</secret_access_key></wrong>
  </disks></storage_configuration>
</clickhouse>
""")
    return path


def sources(port):
    """(source of rows, whether it can be read), with a secret in every place."""
    at = f"http://127.0.0.1:{port}/warehouse/fixtures/part_days"
    g = GIVEN
    return [
        (f"icebergS3('{at}', '{KEY}', '{SECRET}')", True), (f"iceberg('{at}', '{KEY}', '{SECRET}', 'Parquet')", True),
        (f"icebergS3('{at}', access_key_id = '{KEY}', secret_access_key = '{SECRET}')", True), ("icebergS3(of_file)", True),
        (f"s3('{at}/data/**.parquet', '{KEY}', '{SECRET}')", True),
        (f"icebergS3('{at}', '{KEY}', '{g['s3-key']}')", False), (f"icebergS3('{NOWHERE}/bucket/t', 'k', '{g['s3-key']}', '{g['s3-token']}')", False),
        (f"icebergS3('{NOWHERE}/bucket/t', access_key_id = 'k', secret_access_key = '{g['named-key']}', session_token = '{g['s3-token']}')", False),
        (f"icebergS3('{NOWHERE}/bucket/t', 'k', '{g['s3-key']}', extra_credentials(role_arn = 'arn:aws:iam::1:role/r'))", False),
        ("icebergS3(wrong)", False), (f"icebergS3(wrong, secret_access_key = '{g['override-key']}')", False),
        (f"icebergS3('{NOWHERE}/bucket/t?X-Amz-Signature={g['url-signature']}', NOSIGN)", False),
        (f"icebergS3('http://user:{g['url-password']}@127.0.0.1:1/bucket/t')", False), (f"icebergS3('gs://bucket/t', gcs_token = '{g['gcs-token']}', endpoint = '{NOWHERE}')", False),
        (f"s3('{NOWHERE}/bucket/*.csv', 'k', '{g['s3-key']}', 'CSV', 'a Int32')", False), (f"s3('{NOWHERE}/bucket/x.csv', 'k', '{g['s3-key']}', '{g['s3-token']}', 'CSV')", False),
        (f"icebergAzure('DefaultEndpointsProtocol=http;AccountName=a;AccountKey={AZURE_KEY};BlobEndpoint={NOWHERE}/a;', 'c', 'p')", False),
        (f"icebergAzure('{NOWHERE}/a', 'c', 'p', 'a', '{AZURE_KEY}')", False), (f"icebergAzure('{NOWHERE}/a?sv=1&sig={g['azure-sas']}', 'c', 'p')", False),
        (f"azureBlobStorage(storage_account_url = '{NOWHERE}/a', container = 'c', blob_path = 'p', sas_token = 'sig={g['azure-sas']}')", False),
        (f"icebergHDFS('webhdfs://127.0.0.1:1/t', delegation_token = '{g['hdfs-token']}')", False),
    ]


def databases():
    g = GIVEN
    return [
        f"CREATE DATABASE d ENGINE = DataLakeCatalog('{NOWHERE}', 'user', '{g['catalog-password']}') SETTINGS catalog_type = 'rest', catalog_credential = 'id:{g['catalog-credential']}', warehouse = 'w'",
        f"CREATE DATABASE d ENGINE = DataLakeCatalog('{NOWHERE}') SETTINGS catalog_type = 'rest', auth_header = 'Authorization: Bearer {g['catalog-header']}'",
        f"CREATE DATABASE d ENGINE = DataLakeCatalog('{NOWHERE}') SETTINGS catalog_type = 'unity', warehouse = 'w', catalog_credential = '{g['catalog-credential']}'",
        f"CREATE DATABASE d ENGINE = DataLakeCatalog('{NOWHERE}') SETTINGS catalog_type = 'glue', region = 'us-east-1', aws_access_key_id = 'k', "
        f"aws_secret_access_key = '{g['glue-key']}', aws_session_token = '{g['glue-token']}'",
        f"CREATE DATABASE d ENGINE = DataLakeCatalog('http://user:{g['url-password']}@127.0.0.1:1') SETTINGS catalog_type = 'rest'",
    ]


def mistakes(source):
    """Statements that fail before anything is read: each shows a part of the statement."""
    return [f"SELECT * FRM {source}", f"SELECT * FROM {source[:-1]} 'more')", f"SELECT * FROM {source[:-2]}", f"SELECT nothing FROM {source} SETTINGS no_such_setting = 1",
            f"SELECT * FROM {source[:-1]}, 'a', 'b', 'c', 'd', 'e')", f"SELECT * FROM {source[:-1]}, no_such_argument = 1)", f"SELECT {source}", f"SELECT * FROM {source} WHERE",
            f"INSERT INTO FUNCTION {source} VALUES (1", f"CREATE TABLE t (a Int32) ENGINE = {source}", f"CREATE TABLE t ENGINE = {source} SETTINGS no_such_setting = 1",
            f"SELECT count() FROM {source} AS a, {source} AS a WHERE b.x = 1"]


def no_secret(suite, port, work, env):
    config = configuration(work, port)
    environment = {**env, "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": GIVEN["environment-key"], "AWS_SESSION_TOKEN": GIVEN["environment-token"]}
    said = []

    def run(sql, good=None):
        answer = suite.ask(sql + ";", ["-C", config, "--print-profile-events", *FEW_TRIES], environment)
        said.append((sql, answer.out + answer.err))
        if good is not None:
            suite.check(f"secrets: {'runs' if good else 'fails'}: {sql[:60]}", (answer.status == 0) == good, answer.err[-300:])

    for source, readable in sources(port):
        run(f"SELECT count() FROM {source}", readable)
        for explain in ("EXPLAIN", "EXPLAIN SYNTAX", "EXPLAIN AST", "EXPLAIN QUERY TREE", "EXPLAIN PLAN actions = 1", "EXPLAIN PIPELINE", "EXPLAIN ESTIMATE", "DESCRIBE TABLE"):
            run(f"{explain} {'' if explain.startswith('DESCRIBE') else 'SELECT count() FROM '}{source}")
        run(f"CREATE VIEW v AS SELECT * FROM {source}; SHOW CREATE VIEW v; SHOW CREATE TABLE v; SELECT * FROM system.tables WHERE name = 'v' FORMAT Vertical; EXPLAIN SYNTAX SELECT * FROM v; SELECT * FROM v")
        engine = source[0].upper() + source[1:]
        run(f"CREATE TABLE t ENGINE = {engine}; SHOW CREATE TABLE t; SELECT * FROM system.tables WHERE name = 't' FORMAT Vertical; DESCRIBE t; EXPLAIN SELECT count() FROM t; SELECT nothing FROM t",
            False)
        for sql in mistakes(source):
            run(sql)
    for disk in ("right", "wrong"):
        run(f"CREATE TABLE t ENGINE = Iceberg('part_days') SETTINGS disk = '{disk}'; SHOW CREATE TABLE t; SELECT count() FROM t")
    for create in databases():
        run(f"{create}; SHOW CREATE DATABASE d; SELECT * FROM system.databases FORMAT Vertical; SHOW TABLES FROM d", False)
        run(f"{create}; SELECT * FROM d.`a.b`", False)
        for sql in (create.replace("SETTINGS", "SETTING"), create.replace("catalog_type = ", "no_such_setting = 1, catalog_type = "), create.replace(" = '", " '", 1), create[:-1],
                    create.replace("catalog_type = '", "catalog_type = 'x")):
            run(sql, False)
    collection = f"CREATE NAMED COLLECTION c AS url = '{NOWHERE}/bucket/t', access_key_id = 'k', secret_access_key = '{GIVEN['collection-key']}' NOT OVERRIDABLE"
    run(f"{collection}; SHOW CREATE NAMED COLLECTION c")
    run(f"{collection}; SELECT * FROM system.named_collections FORMAT Vertical; ALTER NAMED COLLECTION c SET secret_access_key = '{GIVEN['override-key']}'; "
        f"SELECT * FROM system.named_collections FORMAT JSON; SELECT * FROM icebergS3(c, secret_access_key = '{GIVEN['named-key']}')", False)
    run(f"{collection}; {collection}", False)
    run(collection.replace(" = ", " ", 1), False)
    # Everything that the system's tables hold, with all that was named above there.
    made = f"{collection}; CREATE VIEW v AS SELECT * FROM icebergS3('{NOWHERE}/bucket/t', 'k', '{GIVEN['view-key']}'); {databases()[0]}; CREATE TABLE t ENGINE = IcebergS3(of_file); "
    tables = suite.ask("SELECT name FROM system.tables WHERE database = 'system' AND name != 'numbers'").out.split()
    suite.check("secrets: system tables are listed", len(tables) > 5, str(tables))
    for table in tables:
        run(f"{made}SELECT * FROM system.{table} LIMIT 100000 FORMAT JSONEachRow")
        run(f"{made}SELECT * FROM system.{table} WHERE database = 'default' AND table = 't' FORMAT Vertical")
    searched = "\n".join(text for _, text in said)
    suite.check("secrets: there is something to search", len(searched) > 10_000 and "[HIDDEN]" in searched, str(len(searched)))
    for name, secret in {**GIVEN, "server's": SECRET, "azure-key": AZURE_KEY, "azure-key, decoded": base64.b64decode(AZURE_KEY).decode()}.items():
        found = [(sql, text) for sql, text in said if any(spelling in text for spelling in spellings(secret))]
        at = found[0][1].find(next(s for s in spellings(secret) if s in found[0][1])) if found else 0
        suite.check(f"secrets: {name} is nowhere", not found, found and f"{len(found)} times: {found[0][0][:200]} … {found[0][1][max(0, at - 100):at + 60]!r}")
    print(f"secrets: {len(said)} statements, {len(searched)} bytes searched", flush=True)
