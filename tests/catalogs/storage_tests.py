"""Tables on S3 by name: keys that catalogs lend or that the database has, every fixture, the examples of docs/catalogs.md."""
import json
import os
import re
import time
import urllib.parse

import examples
import hive
import house
import known
import relocate
import stores
import unity
from fault_proxy import Fault, FaultProxy
from house import (CREDENTIAL, FILLED, FIXTURES, GLUE, HIVE, NESSIE, PLAIN_REST, REST, S3, TABLES, TESTS, VENDING_REST, Rest, all_fixtures, ask, bad, filled_glue, filled_rest, glue, glue_on_s3,
                   good, metadata_file, nessie_branch, nessie_database, nessie_prefix, reads_from_s3, request, rest_database, s3_catalog, same, table_on_s3)
from servers import PLACE, S3_KEY, S3_SECRET, Service


def test_lent_keys():
    fixtures = "snap_appends", "part_days", "mor_posdel_v2"
    create = rest_database(s3_catalog(VENDING_REST, *fixtures))
    reads_from_s3(create, "c", *fixtures)
    done = ask(create + "SELECT DISTINCT _path FROM c.`db.snap_appends` LIMIT 1")
    assert "lake/tables/snap_appends/data/" in done.out, done.out + done.err


def held_by(proxy):
    """Ids of the keys that requests through the proxy were signed with, in the order met."""
    found = []
    for head in proxy.heads:
        key = re.search(r"Credential=([^/]+)/", head.get("authorization", ""))
        if key and key.group(1) not in found:
            found.append(key.group(1))
    return found


def lending(expires_in):
    """(proxy of a REST catalog whose keys are said to expire in so many seconds, proxy of the storage, statement that makes a database c)"""
    rest = s3_catalog(VENDING_REST, "snap_appends", "mor_posdel_v2")
    catalog, storage = FaultProxy(VENDING_REST.port()), FaultProxy(S3.port())
    catalog.body = lambda path, body: re.sub(rb'"s3.session-token-expires-at-ms":"\d+"', b'"s3.session-token-expires-at-ms":"%d"' % ((time.time() + expires_in) * 1000), body)
    create = rest_database(rest, storage_endpoint=f"http://127.0.0.1:{storage.port}").replace(f":{VENDING_REST.port()}'", f":{catalog.port}'")
    return catalog, storage, create


def test_lent_keys_are_renewed_before_they_expire():
    """Keys of a short life are renewed at half of it: a query that goes on longer asks the catalog for more."""
    catalog, storage, create = lending(4)
    storage.latency = 1.2  # manifest list, manifests, and more than the two seconds later the files
    same(create + "SELECT * FROM c.`db.mor_posdel_v2` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/mor_posdel_v2') ORDER BY ALL")
    loads = [p for _, p, _ in catalog.log if "/tables/" in p]
    assert len(held_by(storage)) > 1 and len(loads) > 1, (held_by(storage), loads)
    assert S3_KEY not in held_by(storage), held_by(storage)
    catalog.close()
    storage.close()
    catalog, storage, create = lending(3600)
    storage.latency = 0.7
    good("12\n", create + "SELECT uniqExact(tuple(*)) FROM c.`db.snap_appends`")
    assert len(held_by(storage)) == 1 and len([p for _, p, _ in catalog.log if "/tables/" in p]) == 1, (held_by(storage), catalog.log)
    catalog.close()
    storage.close()


def test_lent_keys_that_are_refused():
    """The storage says that the first keys have expired, whatever the catalog said: others are asked for. Where it says so of
    all, that is an error."""
    expired = "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
    catalog, storage, create = lending(3600)
    first = []

    def is_first(headers):
        key = re.search(r"Credential=([^/]+)/", headers.get("authorization", "")).group(1)
        first[:] = first or [key]
        return key == first[0]

    storage.reset(Fault(400, 1000, body=expired, when=is_first))
    good("12\n", create + "SELECT uniqExact(tuple(*)) FROM c.`db.snap_appends`")
    assert len(held_by(storage)) == 2, held_by(storage)
    storage.reset(Fault(400, 1000, body=expired))
    bad("Code: 499 (S3_ERROR)", create + "SELECT * FROM c.`db.snap_appends`", "ExpiredToken")
    catalog.close()
    storage.close()


def test_settings_of_the_storage():
    """Tries and time-outs of a statement are those of its storage, also where a catalog leads to it."""
    catalog, storage, create = lending(3600)
    select = create + "SELECT * FROM c.`db.snap_appends` SETTINGS "
    for retries in (0, 2):
        storage.reset(Fault(503, 1000))
        bad("Code: 499 (S3_ERROR)", f"{select} s3_max_single_read_retries = {retries}", "SlowDown")
        assert len(storage.log) == retries + 1, storage.log
    storage.reset(Fault("hang", 1000, seconds=30))
    begin = time.time()
    bad("Code: 499 (S3_ERROR)", f"{select} s3_max_single_read_retries = 0, s3_request_timeout_ms = 1000")
    assert time.time() - begin < 5, time.time() - begin
    storage.reset()
    count = "SELECT uniqExact(tuple(*)) FROM c.`db.snap_appends` SETTINGS s3_request_timeout_ms = "
    good("12\n" * 3, f"{create} {count} 20000; {count} 20000; {count} 30000")
    assert len(held_by(storage)) == 2, "the store is kept while the settings are the same: " + str(held_by(storage))
    catalog.close()
    storage.close()


def test_a_warm_loop_asks_for_no_metadata():
    """With iceberg_metadata_staleness_ms the catalog is asked once, and the storage once for each file; without it the catalog is
    asked each time. The metadata are those of the catalog's reply: no file of them is fetched."""
    catalog, storage, create = lending(3600)
    query = "SELECT count(), uniqExact(tuple(*)) FROM c.`db.snap_appends`"
    for settings, loads in ((" SETTINGS iceberg_metadata_staleness_ms = 600000;", 1), (";", 5)):
        catalog.reset()
        storage.reset()
        good("12\t12\n" * 5, create + (query + settings) * 5)
        assert len([p for _, p, _ in catalog.log if "/tables/" in p]) == loads, catalog.log
        files = [path for _, path, _ in storage.log if "/metadata/" in path]
        assert files and len(files) == len(set(files)) and not any("metadata.json" in f for f in files), files
    catalog.close()
    storage.close()


def test_keys_by_prefix():
    """Keys that are lent for a folder of the table are used for the files in it and for no others."""
    catalog, storage, create = lending(3600)
    lent = catalog.body

    def by_folder(path, body):
        reply = json.loads(lent(path, body))
        if "/tables/" in path:
            if state["folders"]:
                [whole] = reply["storage-credentials"] or [{"config": {k: v for k, v in reply["config"].items() if k.startswith("s3.")}}]
                root = reply["metadata"]["location"]
                other = dict(whole["config"], **{"s3.access-key-id": "nobody"})
                reply["config"] = {k: v for k, v in reply["config"].items() if "key" not in k and "token" not in k}
                reply["storage-credentials"] = [{"prefix": root + "/metadata", "config": whole["config"]},
                                                {"prefix": root + "/data", "config": whole["config"] if state["right"] else other}]
        return json.dumps(reply).encode()

    catalog.body = by_folder
    state = {"folders": True, "right": True}
    sql = create + "SELECT * FROM c.`db.snap_appends` ORDER BY ALL"
    same(sql, f"SELECT * FROM icebergLocal('{TABLES}/snap_appends') ORDER BY ALL")
    state["right"] = False
    storage.reset()
    bad("Code: 499 (S3_ERROR)", sql)
    used = {(re.search(r"Credential=([^/]+)/", head["authorization"]).group(1) == "nobody", "/data/" in path) for head, (_, path, _) in zip(storage.heads, storage.log)}
    assert used == {(False, False), (True, True)}, used
    catalog.close()
    storage.close()


def test_lent_sas_on_azure():
    """SAS that a catalog lends, for Azurite: the reference server's reply with paths on Azure and a SAS put in. One of a short
    life is renewed at half of it."""
    with Service("azurite") as azurite:
        azure, host = stores.Azure(azurite.port()), "devstoreaccount1.dfs.core.windows.net"
        azure.make_bucket("warehouse")
        place = f"abfss://warehouse@{host}/tables/mor_posdel_v2"
        relocate.relocate(f"{FIXTURES}/mor_posdel_v2", os.path.join(PLACE, "azure"), f"{TABLES}/mor_posdel_v2", place)
        stores.put_folder(azure, "warehouse", "tables/mor_posdel_v2", os.path.join(PLACE, "azure"))
        filled_rest()
        catalog, storage = FaultProxy(REST.port()), FaultProxy(azurite.port())
        state = {"seconds": 600}

        def with_sas(path, body):
            if "/tables/" not in path:
                return body
            reply = json.loads(body.replace(b"file:" + TABLES.encode(), TABLES.encode()).replace(f"{TABLES}/mor_posdel_v2".encode(), place.encode()))
            reply["storage-credentials"] = [{"prefix": place, "config": {
                "adls.sas-token." + host: azure.shared_access("warehouse", state["seconds"]),
                "adls.sas-token-expires-at-ms." + host: str(int((time.time() + state["seconds"]) * 1000))}}]
            return json.dumps(reply).encode()

        catalog.body = with_sas
        create = rest_database(Rest(REST, CREDENTIAL), storage_endpoint=f"http://127.0.0.1:{storage.port}/devstoreaccount1").replace(f":{REST.port()}'", f":{catalog.port}'")
        for seconds, latency, renewed in ((600, 0, False), (4, 1.2, True)):
            state["seconds"], storage.latency = seconds, latency
            storage.reset()
            same(create + "SELECT * FROM c.`db.deletes` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/mor_posdel_v2') ORDER BY ALL")
            signatures = {urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)["sig"][0] for _, path, _ in storage.log}
            assert (len(signatures) > 1) == renewed, storage.log
        storage.latency, state["seconds"] = 0, -60
        bad("Code: 500 (AZURE_BLOB_STORAGE_ERROR)", create + "SELECT * FROM c.`db.deletes`")
        catalog.close()
        storage.close()


def test_keys_of_the_database():
    rest = s3_catalog(PLAIN_REST, "snap_appends")
    settings = f"SETTINGS catalog_type = 'rest', vended_credentials = 0, storage_endpoint = '{S3.url()}/lake', region = 'us-east-1'"
    create = f"CREATE DATABASE c ENGINE = DataLakeCatalog('{rest.url}/v1', '{S3_KEY}', '{S3_SECRET}') {settings};\n"
    reads_from_s3(create, "c", "snap_appends")
    done = ask(create + "SHOW CREATE DATABASE c FORMAT TSVRaw; EXPLAIN SELECT * FROM c.`db.snap_appends`; SELECT * FROM system.databases")
    assert f"'{S3_KEY}', '[HIDDEN]'" in done.out and S3_SECRET not in done.out, done.out + done.err
    wrong = create.replace(f"'{S3_SECRET}'", "'wrong-storage-secret'")
    done = ask(wrong + "SELECT * FROM c.`db.snap_appends`")
    assert done.status == 1 and "wrong-storage-secret" not in done.err, done.err


def test_nessie_and_its_branches():
    url = NESSIE.url()
    prefix = nessie_prefix()
    dev = nessie_branch("dev")
    for at in (prefix, dev):
        request(f"{url}/iceberg/v1/{at}/namespaces", {"namespace": ["db"], "properties": {}})
    for at, fixture in [(prefix, "snap_appends"), (dev, "part_days")]:
        request(f"{url}/iceberg/v1/{at}/namespaces/db/register", {"name": "t", "metadata-location": table_on_s3(fixture)})
    for address, fixture in [("/iceberg/", "snap_appends"), ("/iceberg/main", "snap_appends"), ("/iceberg/dev", "part_days")]:
        create = nessie_database(url + address)
        good("db.t\n", create + "SHOW TABLES FROM n LIKE 'db.%'")
        same(f"{create} SELECT * FROM n.`db.t` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/{fixture}') ORDER BY ALL")


def test_lent_keys_of_nessie():
    """Over moto's S3 and STS, which look at no signature: a proxy sees whose keys are used."""
    with Service("iceberg-nessie", "--warehouse", "s3://lent/nessie", "--s3", GLUE.url, "--sts", "1", ports=2) as nessie:
        moto = stores.S3(GLUE.port(), "AKIDMOTO", "moto-secret")
        moto.make_bucket("lent")
        out = os.path.join(PLACE, "lent")
        relocate.relocate(f"{FIXTURES}/part_days", out, f"{TABLES}/part_days", "s3://lent/tables/part_days")
        stores.put_folder(moto, "lent", "tables/part_days", out)
        config = request(nessie.url() + "/iceberg/v1/config?warehouse=warehouse")
        prefix = config["overrides"].get("prefix") or config["defaults"]["prefix"]
        request(f"{nessie.url()}/iceberg/v1/{prefix}/namespaces", {"namespace": ["db"], "properties": {}})
        metadata = "s3://lent/tables/part_days/metadata/" + os.path.basename(metadata_file("part_days"))
        request(f"{nessie.url()}/iceberg/v1/{prefix}/namespaces/db/register", {"name": "days", "metadata-location": metadata})
        proxy = FaultProxy(GLUE.port())
        create = (f"CREATE DATABASE n ENGINE = DataLakeCatalog('{nessie.url()}/iceberg/') SETTINGS catalog_type = 'rest', warehouse = 'warehouse', "
                  f"storage_endpoint = 'http://127.0.0.1:{proxy.port}';\n")
        same(f"{create} SELECT * FROM n.`db.days` ORDER BY ALL", f"SELECT * FROM icebergLocal('{TABLES}/part_days') ORDER BY ALL")
        assert len(held_by(proxy)) == 1 and held_by(proxy)[0] != S3_KEY, held_by(proxy)
        assert all(head.get("x-amz-security-token") for head in proxy.heads), proxy.heads
        proxy.close()


# Every fixture by name

def each_by_name(label, create, source, tables, present=False):
    counts, wrong = known.check_elsewhere(house.FIRN, source, tables, create, present=present)
    print(f"{label}: {len(tables)} tables, {counts}", flush=True)
    assert not wrong, "\n".join(wrong)


def test_every_fixture_of_the_rest_catalog():
    """Registered in the reference server, OAuth2 on and keys lent by STS."""
    tables = all_fixtures()
    each_by_name("REST", rest_database(s3_catalog(VENDING_REST, *tables)), "c.`db.{name}`", tables)


def test_every_fixture_of_glue():
    create = glue_on_s3()
    tables = all_fixtures()
    if "glue fixtures" not in FILLED:
        glue("CreateDatabase", DatabaseInput={"Name": "every"})
        for name in tables:
            glue("CreateTable", DatabaseName="every", TableInput={
                "Name": name, "TableType": "EXTERNAL_TABLE", "StorageDescriptor": {"Location": f"s3://lake/tables/{name}"},
                "Parameters": {"table_type": "ICEBERG", "metadata_location": table_on_s3(name)}})
        FILLED["glue fixtures"] = True
    each_by_name("Glue", create, "g.`every.{name}`", tables)
    glue("DeleteDatabase", Name="every")


def test_every_fixture_of_nessie():
    """All that Nessie takes: it knows no tables of format version 3, no compressed metadata, no partitioning by nested
    fields. Of a table that is registered it keeps the present snapshot alone, with the schema of that snapshot."""
    url = NESSIE.url()
    prefix = nessie_prefix()
    request(f"{url}/iceberg/v1/{prefix}/namespaces", {"namespace": ["every"], "properties": {}})
    taken, refused, older_schema = [], [], []
    for name in all_fixtures():
        try:
            request(f"{url}/iceberg/v1/{prefix}/namespaces/every/register", {"name": name, "metadata-location": table_on_s3(name)})
        except AssertionError:
            refused.append(name)
            continue
        metadata = request(f"{url}/iceberg/v1/{prefix}/namespaces/every/tables/{name}")["metadata"]
        [schema] = [s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"]]
        wanted = json.load(open(f"{FIXTURES}/{name}.expected.json"))["iceberg_schema"]
        (taken if [f["name"] for f in schema["fields"]] == [f["name"] for f in wanted["fields"]] else older_schema).append(name)
    older = [name for name in refused if json.load(open(f"{FIXTURES}/{name}.expected.json"))["format_version"] < 3]
    print("Nessie refuses:", ", ".join(refused), flush=True)
    assert older == ["part_nested_source", "snap_gzip_metadata"], older
    assert older_schema == ["file_imported_orc", "snap_schema_change"], older_schema
    each_by_name("Nessie", nessie_database(f"{url}/iceberg/"), "n.`every.{name}`", taken, present=True)


# The examples of docs/catalogs.md

def shown(word, places):
    found = list(examples.of_server("catalogs.md", word, places))
    assert found, word
    for line, sql, answer in found:
        done = ask(sql)
        assert done.status == 0 and (answer is None or examples.tidy(done.out) == examples.tidy(answer)), (line, done.out[-300:], done.err[:1000])
        assert done.out, line


def demo_at(place):
    """(a folder with demo/trips rewritten to lie at `place`, the name of its metadata file)"""
    source = os.path.join(os.path.dirname(TESTS), "demo/trips")
    name = max(n for n in os.listdir(source + "/metadata") if n.endswith(".metadata.json"))
    old = json.load(open(f"{source}/metadata/{name}"))["location"]
    out = place if place.startswith("/") else os.path.join(PLACE, "demo")
    relocate.relocate(source, out, re.sub("^file:/+", "/", old), place)
    return out, name


def test_examples():
    folder, name = demo_at("s3://lake/demo/trips")
    stores.put_folder(stores.S3(S3.port(), S3_KEY, S3_SECRET), "lake", "demo/trips", folder)
    metadata = f"s3://lake/demo/trips/metadata/{name}"
    s3 = {"http://127.0.0.1:9000": S3.url(), "key id": S3_KEY, "secret key": S3_SECRET}
    rest = Rest(VENDING_REST, CREDENTIAL)
    rest.namespace("demo")
    rest.register(("demo",), "trips", metadata)
    shown("rest", {"http://127.0.0.1:8181": rest.url, "client-id:client-secret": CREDENTIAL})
    server = unity.Unity(json.load(open(metadata_file("snap_appends"))), "token")
    shown("unity", {"http://127.0.0.1:8080/api/2.1/unity-catalog": server.url})
    server.close()
    parameters = {"table_type": "ICEBERG", "metadata_location": metadata}
    filled_glue()
    glue("CreateDatabase", DatabaseInput={"Name": "demo"})
    glue("CreateTable", DatabaseName="demo", TableInput={"Name": "trips", "Parameters": parameters})
    shown("glue", {"http://127.0.0.1:5000": GLUE.url(), **s3})
    metastore = hive.Metastore(HIVE.port())
    metastore.create_database("demo", "file://" + PLACE + "/hive")
    folder, name = demo_at(os.path.join(PLACE, "local-demo"))
    metastore.create_table("demo", "trips", "file:" + folder, {"table_type": "ICEBERG", "EXTERNAL": "TRUE", "metadata_location": f"file:{folder}/metadata/{name}"})
    shown("hive", {"thrift://127.0.0.1:9083": f"thrift://127.0.0.1:{HIVE.port()}"})
    branch = nessie_branch("dev")
    request(f"{NESSIE.url()}/iceberg/v1/{branch}/namespaces", {"namespace": ["demo"], "properties": {}})
    request(f"{NESSIE.url()}/iceberg/v1/{branch}/namespaces/demo/register", {"name": "trips", "metadata-location": metadata})
    shown("nessie", {"http://127.0.0.1:19120": NESSIE.url(), "key id": S3_KEY, "secret key": S3_SECRET})
