"""Azure: Azurite, with keys, SAS and Entra ID's tokens, which it takes over TLS only and whose signatures it does not check."""
import base64
import json
import ssl
import time
import urllib.parse

from access_parts import collections_and_disks
from fault_proxy import FaultProxy
from relocate import relocate
from servers import Service, certificate_of
from stores import Azure, put_folder
from suite import FIXTURES, plain_environment, upload
from token_server import TokenServer

COUNT = "SELECT count() FROM icebergAzure"
TABLE = "'warehouse', 'fixtures/part_days'"


def azure_credentials(suite, azure, url):
    good, expired = azure.shared_access("warehouse", 600), azure.shared_access("warehouse", -600)
    suite.gives("azure: SAS in the URL", f"{COUNT}('{url}?{good}', {TABLE})", "11")
    suite.gives("azure: SAS in the connection string", f"{COUNT}('BlobEndpoint={url};SharedAccessSignature={good}', {TABLE})", "11")
    for label, text in (("expired SAS", expired), ("SAS of another container", azure.shared_access("other", 600)),
                        ("changed SAS", good.replace("sp=rl", "sp=rwl")), ("SAS that does not list", azure.shared_access("warehouse", 600, "r"))):
        answer = suite.fails(f"azure: {label}", f"{COUNT}('{url}?{text}', {TABLE})", "AZURE_BLOB_STORAGE_ERROR", 20)
        signature = urllib.parse.parse_qs(text)["sig"][0]
        suite.check(f"azure: {label} hides", signature not in answer.err and urllib.parse.quote_plus(signature) not in answer.err, answer.err)
    answer = suite.ask(f"CREATE TABLE t ENGINE = IcebergAzure('{url}?{good}', {TABLE}); SELECT count() FROM t; SHOW CREATE TABLE t")
    suite.check("azure: engine hides its SAS", answer.out.startswith("11\n") and urllib.parse.parse_qs(good)["sig"][0] not in urllib.parse.unquote(answer.out), answer.out + answer.err)
    connection = f"AccountName={Azure.account};AccountKey={Azure.account_key};BlobEndpoint={url};"
    for label, env in (("connection string", {"AZURE_STORAGE_CONNECTION_STRING": connection}), ("key", {"AZURE_STORAGE_KEY": Azure.account_key}),
                       ("SAS", {"AZURE_STORAGE_SAS_TOKEN": good})):
        suite.gives(f"azure: environment, {label}", f"{COUNT}('{url}', {TABLE})", "11", env=plain_environment(**env))
    address = f"abfss://warehouse@{Azure.account}.dfs.core.windows.net/fixtures/part_days"
    suite.gives("azure: abfss:// and the environment", f"{COUNT}('{address}')", "11", env=plain_environment(AZURE_STORAGE_CONNECTION_STRING=connection))


def azure_schemes(suite, azure, connection, work):
    """What metadata may call Azure's storage, besides abfss://."""
    name = "mor_posdel_v2"
    wanted = suite.ask(f"SELECT * FROM icebergLocal('{FIXTURES}/{name}') ORDER BY ALL").out.strip()
    for scheme in ("abfs", "wasb", "wasbs", "az"):
        host = f"{azure.account}.{'blob' if scheme.startswith('wasb') else 'dfs'}.core.windows.net"
        relocate(f"{FIXTURES}/{name}", f"{work}/{scheme}", f"/tmp/iceberg-fixtures/{name}", f"{scheme}://warehouse@{host}/named/{scheme}/{name}")
        put_folder(azure, "warehouse", f"moved/{scheme}/{name}", f"{work}/{scheme}")  # below another folder: found where it was opened
        put_folder(azure, "warehouse", f"named/{scheme}/{name}", f"{work}/{scheme}")
        for folder in ("named", "moved"):
            suite.gives(f"azure: {scheme}://, {folder}", f"SELECT * FROM icebergAzure('{connection}', 'warehouse', '{folder}/{scheme}/{name}') ORDER BY ALL", wanted)
        suite.gives(f"azure: {scheme}:// in a statement", f"SELECT * FROM icebergAzure('{scheme}://warehouse@{host}/named/{scheme}/{name}') ORDER BY ALL", wanted,
                    env=plain_environment(AZURE_STORAGE_CONNECTION_STRING=connection))


def azure_faults(suite, port, work):
    proxy = FaultProxy(port)
    key = f"'{Azure.account}', '{Azure.account_key}'"
    sql = f"SELECT sum(length(toString(tuple(*)))) FROM icebergAzure('http://127.0.0.1:{proxy.port}/{Azure.account}', 'warehouse', 'fixtures/file_parquet_row_groups', {key})"
    suite.faults("azure", proxy, sql, "AZURE_BLOB_STORAGE_ERROR", "azure_request_timeout_ms = 1000", data="/data/")
    proxy.close()
    certificate, secret = certificate_of(f"{work}/tls")
    proxy = FaultProxy(port, certificate=(certificate, secret))
    source = f"{COUNT}('https://127.0.0.1:{proxy.port}/{Azure.account}', {TABLE}, {key})"
    suite.fails("azure: unknown certificate", source, "AZURE_BLOB_STORAGE_ERROR", 20, env=plain_environment(), says="certificate is not trusted")
    suite.gives("azure: certificate by SSL_CERT_FILE", source, "11", env=plain_environment(SSL_CERT_FILE=certificate))
    proxy.close()


def entra_token(seconds):
    """One for Azure's storage that is good for so many seconds from now, without a real signature."""
    now = int(time.time())
    claims = {"aud": "https://storage.azure.com/", "iss": "https://sts.windows.net/ab1f708d-50f6-404c-a006-d71b2ac7a606/", "iat": now - 60, "nbf": now - 60, "exp": now + seconds}
    parts = [{"typ": "JWT", "alg": "RS256"}, claims]
    return ".".join(base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts) + ".c2lnbmF0dXJl"


def azure_tokens(suite, work):
    """Managed identities, service principals and workload identity, on an Azurite that takes tokens."""
    certificate, key = certificate_of(f"{work}/tokens")
    service = Service("azurite", "--https-cert", certificate, "--https-key", key, "--oauth", "basic")
    said = {"status": 200, "seconds": 3600}
    tokens = TokenServer(lambda: (said["status"], {"access_token": entra_token(said["seconds"]), "expires_in": "3600", "token_type": "Bearer"} if said["status"] == 200
                                  else {"error": "invalid_client", "error_description": "no such client"}))
    try:
        store = Azure(service.port(), tls=ssl.create_default_context(cafile=certificate))
        store.make_bucket("warehouse")
        put_folder(store, "warehouse", "fixtures/part_days", f"{FIXTURES}/part_days")
        sql = f"{COUNT}('https://127.0.0.1:{service.port()}/{Azure.account}', {TABLE})"
        with open(f"{work}/federated", "w") as file:
            file.write("federated-token")
        tenant = {"AZURE_AUTHORITY_HOST": tokens.url, "AZURE_TENANT_ID": "a-tenant", "AZURE_CLIENT_ID": "a-client"}
        ways = (
            ("managed identity of the machine", {"AZURE_POD_IDENTITY_AUTHORITY_HOST": tokens.url}, "/metadata/identity/oauth2/token",
             {"resource": "https://storage.azure.com/"}, {"Metadata": "true"}),
            ("managed identity by client id", {"AZURE_POD_IDENTITY_AUTHORITY_HOST": tokens.url, "AZURE_CLIENT_ID": "a-client"}, "/metadata/identity/oauth2/token",
             {"client_id": "a-client"}, {}),
            ("managed identity of App Service", {"IDENTITY_ENDPOINT": tokens.url + "/msi/token", "IDENTITY_HEADER": "a-header"}, "/msi/token",
             {"resource": "https://storage.azure.com/"}, {"X-IDENTITY-HEADER": "a-header"}),
            ("service principal", {**tenant, "AZURE_CLIENT_SECRET": "client&secret"}, "/a-tenant/oauth2/v2.0/token",
             {"grant_type": "client_credentials", "client_id": "a-client", "client_secret": "client&secret", "scope": "https://storage.azure.com/.default"}, {}),
            ("workload identity", {**tenant, "AZURE_FEDERATED_TOKEN_FILE": f"{work}/federated"}, "/a-tenant/oauth2/v2.0/token",
             {"client_assertion": "federated-token", "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, {}),
        )
        for label, more, path, fields, headers in ways:
            tokens.asked.clear()
            env = plain_environment(SSL_CERT_FILE=certificate, **more)
            suite.gives(f"azure: {label}", sql, "11", env=env)
            asked = [(p, all(f.get(k) == v for k, v in fields.items()), all(h.get(k) == v for k, v in headers.items())) for p, f, h in tokens.asked]
            suite.check(f"azure: {label}: asked once and right", asked == [(path, True, True)], str(tokens.asked))
        env = plain_environment(SSL_CERT_FILE=certificate, **ways[0][1])
        said["seconds"] = -600
        suite.fails("azure: expired token", sql, "AZURE_BLOB_STORAGE_ERROR", 20, env=env)
        said["status"] = 400
        answer = suite.fails("azure: refused by the tenant", sql, "AUTHENTICATION_FAILED", 20, env=plain_environment(SSL_CERT_FILE=certificate, **ways[3][1]))
        suite.check("azure: client secret hidden", "client&secret" not in answer.err and "client%26secret" not in answer.err, answer.err)
        none = plain_environment(SSL_CERT_FILE=certificate, AZURE_POD_IDENTITY_AUTHORITY_HOST="http://127.0.0.1:1")
        suite.fails("azure: no credentials at all", sql, "AUTHENTICATION_FAILED", 20, env=none)
    finally:
        tokens.close()
        service.stop()


def part_azurite(suite, work, tables):
    service = Service("azurite")
    port = service.port()
    try:
        azure = Azure(port)
        upload(azure, "warehouse", f"abfss://warehouse@{Azure.account}.dfs.core.windows.net/fixtures", tables, work)
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
        azure_credentials(suite, azure, url)
        account = {"account_name": Azure.account, "account_key": Azure.account_key}
        collections_and_disks(suite, "azure", work, "icebergAzure", {"storage_account_url": url, "container": "warehouse", "blob_path": "fixtures/", **account},
                              {"type": "azure_blob_storage", "storage_account_url": url, "container_name": "warehouse", "blob_path": "fixtures/", **account}, "account_key")
        azure_schemes(suite, azure, connection, work)
        azure_faults(suite, port, work)
        azure_tokens(suite, work)
        suite.examples("storage.md", "azure", {"http://127.0.0.1:10000": f"http://127.0.0.1:{port}"})
        suite.fixtures("azurite", f"icebergAzure('{connection}', 'warehouse', 'fixtures/{{name}}'{{inner}})", tables)
    finally:
        service.stop()
