"""What the tests of catalogs share: servers and what fills them, and asking firn."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [HERE, TESTS, *(os.path.join(TESTS, folder) for folder in ("storage", "fixtures", "docs"))]
import engine  # noqa: E402
import relocate  # noqa: E402
import stores  # noqa: E402
from servers import PLACE, S3_KEY, S3_SECRET, Service  # noqa: E402

FIRN = engine.DEFAULT
FIXTURES = os.path.join(TESTS, "fixtures")
TABLES = "/tmp/iceberg-fixtures"  # where the fixtures' metadata say that they lie
CREDENTIAL = "firn-reader:s3cret-of-the-catalog"
FILLED = {}  # what was put where already
GIVEN = []  # tokens that firn was given
CAUGHT = []  # everything that firn printed, to be searched for secrets

REST = Service("iceberg-rest", "--warehouse", "file://" + PLACE + "/rest", "--oauth", CREDENTIAL, "--token-seconds", "3")
OPEN_REST = Service("iceberg-rest", "--warehouse", "file://" + PLACE + "/open")
GLUE = Service("moto")
HIVE = Service("hms")
S3 = Service("s3-seaweedfs", "--buckets", "lake", ports=12)
VENDING_REST = Service("iceberg-rest", "--warehouse", "s3://lake/rest", "--s3", S3.url, "--vend", "sts", "--oauth", CREDENTIAL)
PLAIN_REST = Service("iceberg-rest", "--warehouse", "s3://lake/rest", "--s3", S3.url)
NESSIE = Service("iceberg-nessie", "--warehouse", "s3://lake/nessie", "--s3", S3.url, "--sts", "1", ports=2)


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
        self.url = service.url()
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

def prepare(firn):
    """firn: the program under test. The fixtures are put where their metadata says that they are."""
    global FIRN
    FIRN = firn
    os.makedirs(TABLES, exist_ok=True)
    for name in ["snap_appends", "part_days", "types_v2_parquet", "mor_posdel_v2"]:
        if not os.path.exists(os.path.join(TABLES, name)):
            shutil.copytree(os.path.join(TESTS, "fixtures", name), os.path.join(TABLES, name))


def all_fixtures():
    return sorted(os.path.basename(p)[:-len(".expected.json")] for p in glob.glob(f"{FIXTURES}/*.expected.json"))


def metadata_file(fixture):
    with open(f"{FIXTURES}/{fixture}.expected.json") as expected:
        return os.path.join(TABLES, fixture, "metadata", os.path.basename(json.load(expected)["metadata_file"]))


def table_on_s3(fixture):
    """The metadata file's address of a fixture that was rewritten to S3."""
    if ("s3", fixture) not in FILLED:
        out = os.path.join(PLACE, "relocated", fixture)
        relocate.relocate(os.path.join(FIXTURES, fixture), out, f"{TABLES}/{fixture}", f"s3://lake/tables/{fixture}")
        stores.put_folder(stores.S3(S3.port(), S3_KEY, S3_SECRET), "lake", f"tables/{fixture}", out)
        FILLED["s3", fixture] = f"s3://lake/tables/{fixture}/metadata/" + os.path.basename(metadata_file(fixture))
    return FILLED["s3", fixture]


def error_reply(status, kind, message="what the server says"):
    """As REST catalogs say it."""
    return json.dumps({"error": {"message": message, "type": kind, "code": status}})


def signature_checker(secret, token, signed):
    """What a FaultProxy may have as `refuse`: botocore checks the AWS signature of each request; its (path, region, service) goes to
    `signed`."""
    subprocess.run([GLUE.command[0], "install"], check=True)
    cache = os.environ.get("SERVICES_CACHE", os.path.expanduser("~/.cache/iceberg-services"))
    sys.path.extend(glob.glob(f"{cache}/moto-*/lib/python3*/site-packages"))
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    def refuse(method, path, headers, body):
        found = re.match(r"AWS4-HMAC-SHA256 Credential=(\w+)/\d+/([\w-]+)/([\w-]+)/aws4_request, *SignedHeaders=([\w;-]+), *Signature=(\w+)", headers.get("authorization", ""))
        if found is None:
            return 403, error_reply(403, "MissingAuthenticationTokenException").encode()
        key, region, service, names, signature = found.groups()
        auth = SigV4Auth(Credentials(key, secret, token), service, region)
        ask = AWSRequest(method, f"http://{headers['host']}{path}", {n: headers[n] for n in names.split(";") if n != "host"}, body)
        ask.context["timestamp"] = headers["x-amz-date"]
        text = auth.string_to_sign(ask, auth.canonical_request(ask))
        signed.append((path, region, service))
        if auth.signature(text, ask) != signature:
            return 403, error_reply(403, "SignatureDoesNotMatchException", "wrong signature").encode()
        return None

    return refuse


# Asking firn

def ask(sql, *arguments, timeout=120, env=None):
    done = engine.run(FIRN, ["--format", "TSV", *arguments], sql, timeout=timeout, env=env)
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


def glue(operation, **fields):
    url = GLUE.url() + "/"
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


def glue_on_s3():
    return filled_glue().replace("SETTINGS", f"SETTINGS storage_endpoint = '{S3.url()}',").replace("'AKIDGLUE'", f"'{S3_KEY}'").replace("'glue-secret-key'", f"'{S3_SECRET}'")


def s3_catalog(service, *fixtures):
    rest = Rest(service, CREDENTIAL if CREDENTIAL in service.options else None)
    if service not in FILLED:
        rest.namespace("db")
        FILLED[service] = set()
    for fixture in fixtures:
        if fixture not in FILLED[service]:
            rest.register(("db",), fixture, table_on_s3(fixture))
            FILLED[service].add(fixture)
    return rest


def reads_from_s3(create, database, *fixtures):
    for fixture in fixtures:
        same(f"{create} SELECT * FROM {database}.`db.{fixture}` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/{fixture}') ORDER BY ALL")


def nessie_prefix():
    """Of its main branch, as a path has it: main%7Cwarehouse."""
    config = request(NESSIE.url() + "/iceberg/v1/config?warehouse=warehouse")
    return config["overrides"].get("prefix") or config["defaults"]["prefix"]


def nessie_branch(name):
    """The prefix of a branch, which is made of main where it is not there."""
    if (NESSIE, name) not in FILLED:
        main = request(NESSIE.url() + "/api/v2/trees/main")["reference"]
        request(f"{NESSIE.url()}/api/v2/trees?name={name}&type=BRANCH", main)
        FILLED[NESSIE, name] = nessie_prefix().replace("main", name, 1)
    return FILLED[NESSIE, name]


def nessie_database(address):
    # Keys that Nessie lends are limited to places that this S3 takes for others.
    return f"CREATE DATABASE n ENGINE = DataLakeCatalog('{address}', '{S3_KEY}', '{S3_SECRET}') SETTINGS catalog_type = 'rest', warehouse = 'warehouse', vended_credentials = 0;\n"
