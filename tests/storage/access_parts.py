"""How a storage is named and who asks it: named collections and disks of the configuration, each source of AWS keys, buckets in host
names, files of a table that lie elsewhere."""
import json
import os
import re
import urllib.parse

from fault_proxy import FaultProxy
from relocate import relocate
from servers import S3_KEY, S3_SECRET
from stores import S3, put_folder
from suite import FIXTURES, plain_environment
from token_server import TokenServer

ROLE = "arn:aws:iam::role/Reader"  # which the STS of the tests' SeaweedFS knows


def xml(name, options):
    return f"<{name}>" + "".join(f"<{k}>{v}</{k}>" for k, v in options.items()) + f"</{name}>"


def yaml(section, name, options):
    return "\n".join([f"{section}:", f"  {name}:", *(f"    {k}: {json.dumps(v)}" for k, v in options.items())])


def collections_and_disks(suite, label, work, function, collection, disk, secret):
    """function: icebergS3 …, whose fixtures are below `collection`, named arguments, and below `disk`, what the configuration says of
    one. `secret`: the name of an argument that the service looks at, or None. The fixtures are counted by every way."""
    tables = {"part_days": "11", "snap_appends": "12"}
    engine = function[0].upper() + function[1:]
    paths = {"xml": f"{work}/{label}.xml", "yaml": f"{work}/{label}.yaml"}
    with open(paths["xml"], "w") as file:
        file.write("<clickhouse><named_collections>" + xml("place", collection) + "</named_collections><storage_configuration><disks>" + xml("there", disk) +
                   "</disks></storage_configuration></clickhouse>")
    with open(paths["yaml"], "w") as file:
        file.write(yaml("named_collections", "place", collection) + "\nstorage_configuration:\n" + re.sub("^", "  ", yaml("disks", "there", disk), flags=re.M) + "\n")
    for kind, path in paths.items():
        config = ["--config-file", path]
        for name, wanted in tables.items():
            suite.gives(f"{label}: collection of {kind}, {name}", f"SELECT count() FROM {function}(place, filename = '{name}')", wanted, config)
            suite.gives(f"{label}: engine over it, {kind}, {name}", f"CREATE TABLE t ENGINE = {engine}(place, filename = '{name}'); SELECT count() FROM t", wanted, config)
            for made in ("Iceberg", engine, "IcebergLocal"):  # the disk says what it is
                suite.gives(f"{label}: disk of {kind}, {made}, {name}", f"CREATE TABLE t ENGINE = {made}('{name}') SETTINGS disk = 'there'; SELECT count() FROM t", wanted, config)
            suite.gives(f"{label}: disk of {kind}, function, {name}", f"SELECT count() FROM iceberg('{name}', SETTINGS disk = 'there')", wanted, config)
        suite.gives(f"{label}: SHOW CREATE of a disk's table, {kind}", "CREATE TABLE t ENGINE = Iceberg('part_days') SETTINGS disk = 'there'; SHOW CREATE TABLE t FORMAT TSVRaw",
                    "CREATE TABLE t\nENGINE = Iceberg('part_days')\nSETTINGS disk = 'there'", config)
        for sql, code in ((f"SELECT count() FROM {function}(nowhere, filename = 'part_days')", "NAMED_COLLECTION_DOESNT_EXIST"), ("SELECT count() FROM iceberg('t', SETTINGS disk = 'other')", "UNKNOWN_DISK"),
                          ("SELECT count() FROM iceberg('../t', SETTINGS disk = 'there')", "BAD_ARGUMENTS")):
            answer = suite.ask(sql, config)
            suite.check(f"{label}: {code}, {kind}", answer.status > 0 and f"({code})" in answer.err, answer.out + answer.err)
    arguments = ", ".join(f"{k} = '{v}'" for k, v in collection.items())
    made = f"CREATE NAMED COLLECTION c AS {arguments}; "
    count = f"SELECT count() FROM {function}(c, filename = 'part_days'"
    suite.gives(f"{label}: CREATE NAMED COLLECTION", made + count + ")", "11")
    answer = suite.ask(made + "DROP NAMED COLLECTION c; " + count + ")")
    suite.check(f"{label}: DROP NAMED COLLECTION", "(NAMED_COLLECTION_DOESNT_EXIST)" in answer.err, answer.out + answer.err)
    if not secret:
        return
    wrong = collection[secret][:-4] + "AAA="
    answer = suite.ask(made + f"{count}, {secret} = '{wrong}')")
    suite.check(f"{label}: an override counts", answer.status > 0 and "DB::Exception" in answer.err and wrong not in answer.err, answer.out + answer.err)
    altered = made.replace(collection[secret], wrong) + f"ALTER NAMED COLLECTION c SET {secret} = '{collection[secret]}'; "
    suite.gives(f"{label}: ALTER NAMED COLLECTION", altered + count + ")", "11")
    fixed = made.replace("; ", "") + " NOT OVERRIDABLE; "
    suite.check(f"{label}: NOT OVERRIDABLE", "(BAD_ARGUMENTS)" in suite.ask(fixed + f"{count}, {secret} = 'x')").err)


def temporary_keys(store):
    """(key, secret, token) that the server's STS lends."""
    query = urllib.parse.urlencode({"Action": "AssumeRole", "Version": "2011-06-15", "RoleArn": ROLE, "RoleSessionName": "tests"})
    status, text = store.request("POST", "/", query.encode(), service="sts", more={"content-type": "application/x-www-form-urlencoded"})
    found = [re.search(f"<{name}>([^<]+)</{name}>", str(text)) for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")]
    if status != 200 or not all(found):
        raise RuntimeError(f"AssumeRole: {status} {text[:300]}")
    return [f.group(1) for f in found]


def s3_key_sources(suite, store, url, work):
    """Each place that keys can come from, with a session token that the server wants. A proxy sees whose they are."""
    key, secret, token = temporary_keys(store)
    proxy = FaultProxy(store.port)
    at = url.replace(f":{store.port}/", f":{proxy.port}/")
    count = "SELECT count() FROM icebergS3"
    lent = {"AccessKeyId": key, "SecretAccessKey": secret, "Token": token, "Expiration": "2099-01-01T00:00:00Z"}
    xml_reply = ("<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>" + "".join(
        f"<{n}>{v}</{n}>" for n, v in (("AccessKeyId", key), ("SecretAccessKey", secret), ("SessionToken", token), ("Expiration", lent["Expiration"]))) +
        "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>")
    replies = {"/keys": lent, "/latest/api/token": "metadata-token", "/latest/meta-data/iam/security-credentials/": "a-role", "/latest/meta-data/iam/security-credentials/a-role": lent, "/": xml_reply}
    server = TokenServer(lambda: (200, replies[server.asked[-1][0]]) if server.asked[-1][0] in replies else (404, {}))
    for name, text in (("identity", "web-identity-token"), ("credentials", f"[lent]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\naws_session_token = {token}\n"
                                                            f"[source]\naws_access_key_id = {S3_KEY}\naws_secret_access_key = {S3_SECRET}\n"),
                       ("config", f"[profile reader]\nrole_arn = {ROLE}\nsource_profile = source\nregion = us-east-1\n")):
        with open(f"{work}/{name}", "w") as file:
            file.write(text)
    files = {"AWS_SHARED_CREDENTIALS_FILE": f"{work}/credentials", "AWS_CONFIG_FILE": f"{work}/config", "AWS_EC2_METADATA_DISABLED": "true"}
    none = {"AWS_SHARED_CREDENTIALS_FILE": f"{work}/no-file", "AWS_CONFIG_FILE": f"{work}/no-file"}
    for label, arguments, environment, asked in (
        ("arguments", f", '{key}', '{secret}', '{token}'", {}, []),
        ("arguments and format", f", '{key}', '{secret}', '{token}', 'Parquet'", {}, []),
        ("named arguments", f", access_key_id = '{key}', secret_access_key = '{secret}', session_token = '{token}'", {}, []),
        ("environment", "", {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token}, []),
        ("profile", "", {**files, "AWS_PROFILE": "lent"}, []),
        ("profile with a role", "", {**files, "AWS_PROFILE": "reader", "AWS_ENDPOINT_URL_STS": f"http://127.0.0.1:{store.port}"}, []),
        ("role_arn and the environment's keys", f", role_arn = '{ROLE}'", {"AWS_ACCESS_KEY_ID": S3_KEY, "AWS_SECRET_ACCESS_KEY": S3_SECRET}, []),
        ("web identity", "", {**none, "AWS_WEB_IDENTITY_TOKEN_FILE": f"{work}/identity", "AWS_ROLE_ARN": ROLE, "AWS_ENDPOINT_URL_STS": server.url}, ["/"]),
        ("container", "", {**none, "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url + "/keys", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "container-token"}, ["/keys"]),
        ("instance", "", {**none, "AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url}, [p for p in replies if p.startswith("/latest")]),
    ):
        server.asked.clear()
        proxy.reset()
        answer = suite.gives(f"keys: {label}", f"{count}('{at}'{arguments})", "11", env=plain_environment(AWS_REGION="us-east-1", **environment))
        suite.check(f"keys: {label}: what was asked", [path for path, _, _ in server.asked] == asked, str(server.asked))
        heads = [h for h, (method, _, _) in zip(proxy.heads, proxy.log) if method == "GET"]
        own = re.compile("Credential=" + ("(?!" + S3_KEY + "/)" if "role" in label else re.escape(key) + "/"))
        suite.check(f"keys: {label}: whose they are", heads and all(own.search(h.get("authorization", "")) and h.get("x-amz-security-token") for h in heads), str(heads[:1]))
        suite.check(f"keys: {label}: no secret", secret not in answer.err and token not in answer.err, answer.err)
        if label == "container":
            suite.check("keys: container: its token is sent", server.asked[0][2].get("Authorization") == "container-token", str(server.asked[0][2]))
        if label == "web identity":
            suite.check("keys: web identity: what is sent", server.asked[0][1].get("WebIdentityToken") == "web-identity-token" and server.asked[0][1].get("RoleArn") == ROLE, str(server.asked[0][1]))
    suite.fails("keys: a token that is not the keys'", f"{count}('{at}', '{key}', '{secret}', '{token[:-8]}AAAAAAAA')", "S3_ERROR", 20)
    suite.fails("keys: a role that nobody may take", f"{count}('{at}', role_arn = '{ROLE}')", "AUTHENTICATION_FAILED", 20, env=plain_environment(**none, AWS_EC2_METADATA_DISABLED="true"))
    own = plain_environment(AWS_ACCESS_KEY_ID=S3_KEY, AWS_SECRET_ACCESS_KEY=S3_SECRET)
    suite.fails("keys: not the environment's", f"{count}('{at}', use_environment_credentials = 0)", "S3_ERROR", 20, env=own)
    server.close()
    proxy.close()


def s3_virtual_hosts(suite, port):
    """Buckets in host names: the server is told that its domain is localhost."""
    keys = f"'{S3_KEY}', '{S3_SECRET}'"
    hosted = "SETTINGS s3_uri_style = 'virtual_hosted'"
    suite.gives("virtual host", f"SELECT count() FROM icebergS3('http://warehouse.localhost:{port}/fixtures/part_days', {keys}) {hosted}", "11")
    suite.gives("virtual host, NOSIGN", f"SELECT count() FROM icebergS3('http://public.localhost:{port}/fixtures/part_days', NOSIGN) {hosted}", "11")
    suite.gives("virtual host, files", f"SELECT count() FROM s3('http://warehouse.localhost:{port}/fixtures/part_days/data/**.parquet', {keys}) {hosted}", "11")
    suite.gives("virtual host, engine", f"SET s3_uri_style = 'virtual_hosted'; CREATE TABLE t ENGINE = IcebergS3('http://warehouse.localhost:{port}/fixtures/part_days', {keys}); "
                "SELECT count() FROM t", "11")
    suite.fails("virtual host, no bucket", f"SELECT count() FROM icebergS3('http://nobucket.localhost:{port}/t', {keys}) {hosted}", "S3_ERROR", 20, says="nobucket")


def elsewhere(suite, store, url, work):
    """Data files in another bucket, delete files outside of the table's folder: read as written; nothing of the local disk is."""
    name, keys = "mor_posdel_v2", f"'{S3_KEY}', '{S3_SECRET}'"
    made, data, out = f"/tmp/iceberg-fixtures/{name}", f"{work}/data-elsewhere", f"{work}/elsewhere"
    relocate(f"{FIXTURES}/{name}", data, f"{made}/data", "s3a://public/of others/data")
    relocate(data, out, made, f"s3://warehouse/elsewhere/{name}")
    put_folder(store, "public", "of others/data", f"{out}/data")
    put_folder(store, "warehouse", f"elsewhere/{name}/metadata", f"{out}/metadata")
    rows = "SELECT * FROM {} ORDER BY ALL"
    at = os.path.dirname(os.path.dirname(url)) + f"/elsewhere/{name}"
    wanted = suite.ask(rows.format(f"icebergLocal('{FIXTURES}/{name}')"))
    suite.check("elsewhere: rows to compare with", wanted.status == 0 and wanted.out, wanted.err)
    suite.gives("elsewhere: another bucket", rows.format(f"icebergS3('{at}', {keys})"), wanted.out.strip())
    suite.gives("elsewhere: _path", f"SELECT DISTINCT _path LIKE 'public/of others/data/%' FROM icebergS3('{at}', {keys})", "1")
    relocate(f"{FIXTURES}/{name}", data, f"{made}/data", f"file://{FIXTURES}/{name}/data")
    relocate(data, out, made, f"s3://warehouse/local/{name}")
    put_folder(store, "warehouse", f"local/{name}/metadata", f"{out}/metadata")
    suite.fails("elsewhere: nothing of the local disk", rows.format(f"icebergS3('{at.replace('/elsewhere/', '/local/')}', {keys})"), "ACCESS_DENIED", 20)
