"""Google Cloud Storage: fake-gcs-server, which looks at no credentials; a proxy sees that the right ones are sent."""
import json
import subprocess

from fault_proxy import FaultProxy
from servers import Service
from stores import Gcs
from suite import plain_environment, upload
from token_server import TokenServer

COUNT = "SELECT count() FROM icebergS3('gs://warehouse/fixtures/part_days'"


def gcs_credentials(suite, port, work):
    proxy = FaultProxy(port)
    proxy.host = f"127.0.0.1:{port}"  # by which it knows its XML API
    tokens = TokenServer(lambda: (200, {"access_token": "google-token-%d" % len(tokens.asked), "expires_in": 3599, "token_type": "Bearer"}))
    emulator = {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{proxy.port}", "CLOUDSDK_CONFIG": work}  # none of whoever runs this
    key = subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], check=True, capture_output=True, text=True).stdout
    files = {"service account": {"type": "service_account", "client_email": "me@project", "private_key": key, "token_uri": f"http://{tokens.address}/token"},
             "user": {"type": "authorized_user", "client_id": "id", "client_secret": "user-secret", "refresh_token": "user-refresh", "token_uri": f"http://{tokens.address}/token"}}
    for name, content in files.items():
        with open(f"{work}/{name}.json", "w") as file:
            json.dump(content, file)
    ways = (("token as an argument", ", gcs_token = 'given-token'", {}, "Bearer given-token"),
            ("HMAC keys", ", 'GOOG1KEY', 'hmac-secret'", {}, "AWS4-HMAC-SHA256 Credential=GOOG1KEY/"),
            ("service account", "", {"GOOGLE_APPLICATION_CREDENTIALS": f"{work}/service account.json"}, "Bearer google-token-1"),
            ("user", "", {"GOOGLE_APPLICATION_CREDENTIALS": f"{work}/user.json"}, "Bearer google-token-1"),
            ("machine", "", {"GCE_METADATA_HOST": tokens.address}, "Bearer google-token-1"),
            ("NOSIGN", ", NOSIGN", {"GCE_METADATA_HOST": tokens.address}, ""))
    for label, arguments, more, wanted in ways:
        proxy.reset()
        tokens.asked.clear()
        answer = suite.gives(f"gcs: {label}", f"{COUNT}{arguments})", "11", env=plain_environment(**emulator, **more))
        sent = {h.get("authorization", "") for h in proxy.heads}
        suite.check(f"gcs: {label}: what is sent", len(sent) > 0 and all(s.startswith(wanted) and (wanted or not s) for s in sent), str(sent))
        suite.check(f"gcs: {label}: one token asked for", len(tokens.asked) == (1 if "google" in wanted else 0), str(tokens.asked))
        suite.check(f"gcs: {label}: no secret", "google-token" not in answer.err and "hmac-secret" not in answer.err, answer.err)
    none = plain_environment(**emulator, GOOGLE_APPLICATION_CREDENTIALS=f"{work}/nowhere.json")
    suite.fails("gcs: credentials that are not there", COUNT + ")", "AUTHENTICATION_FAILED", 20, env=none, says="nowhere.json")
    sql = f"SELECT sum(length(toString(tuple(*)))) FROM icebergS3('gs://warehouse/fixtures/file_parquet_row_groups', NOSIGN, endpoint = 'http://127.0.0.1:{proxy.port}')"
    suite.faults("gcs", proxy, sql, "S3_ERROR", "s3_request_timeout_ms = 1000", data="/data/")
    proxy.close()
    tokens.close()


def part_gcs(suite, work, tables):
    service = Service("gcs")
    try:
        upload(Gcs(service.port()), "warehouse", "gs://warehouse/fixtures", tables, work)
        gcs_credentials(suite, service.port(), work)
        env = plain_environment(STORAGE_EMULATOR_HOST=service.url())
        suite.gives("gcs: gcs()", "SELECT count() > 0 FROM gcs('gs://warehouse/fixtures/part_days/data/**.parquet', NOSIGN)", "1", env=env)
        suite.fails("gcs: no table", "SELECT count() FROM icebergS3('gs://warehouse/fixtures/none', NOSIGN)", "FILE_DOESNT_EXIST", 20, env=env)
        suite.fails("gcs: nothing listening", COUNT + ", NOSIGN)", "S3_ERROR", 20, env=plain_environment(STORAGE_EMULATOR_HOST="http://127.0.0.1:1"))
        suite.examples("storage.md", "gcs", {}, env)
        suite.fixtures("gcs", "icebergS3('gs://warehouse/fixtures/{name}', NOSIGN{inner})", tables, env)
    finally:
        service.stop()
