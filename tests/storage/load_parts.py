"""Over SeaweedFS: what no output may show, many queries at once, round trips beside the peers."""
import round_trips
from fault_proxy import FaultProxy
from many_at_once import ASKED, many_at_once
from relocate import relocate
from secrets_kept import no_secret
from servers import S3_KEY, S3_SECRET, Service
from stores import S3, put_folder
from suite import FIXTURES, plain_environment, upload


def seaweedfs():
    return Service("s3-seaweedfs", "--buckets", "warehouse", ports=12)


def part_secrets(suite, work, tables):
    service = seaweedfs()
    try:
        upload(S3(service.port()), "warehouse", "s3://warehouse/fixtures", ["part_days"], work)
        no_secret(suite, service.port(), work, plain_environment())
    finally:
        service.stop()


def upload_made(store, work):
    """The tables of round_trips.py, below trips/ of the bucket; returns their local folder."""
    folder = f"{work}/made"
    for name in round_trips.make_tables(folder):
        relocate(f"{folder}/{name}", f"{work}/relocated/{name}", f"{folder}/{name}", f"s3://warehouse/trips/{name}")
        put_folder(store, "warehouse", f"trips/{name}", f"{work}/relocated/{name}")
    return folder


def part_many(suite, work, tables):
    service = seaweedfs()
    proxy = FaultProxy(service.port(), latency=0.005)
    try:
        store = S3(service.port())
        upload(store, "warehouse", "s3://warehouse/fixtures", list(ASKED), work)
        made = upload_made(store, work)
        places = {name: (f"warehouse/fixtures/{name}", f"{FIXTURES}/{name}") for name in ASKED}
        places["lineitem"] = ("warehouse/trips/lineitem", f"{made}/lineitem")
        many_at_once(suite, proxy, places, f"'{S3_KEY}', '{S3_SECRET}'")
    finally:
        proxy.close()
        service.stop()


def part_trips(suite, work, tables):
    service = seaweedfs()
    proxy = FaultProxy(service.port(), latency=round_trips.LATENCY)
    try:
        upload_made(S3(service.port()), work)
        round_trips.compare(suite, proxy)
    finally:
        proxy.close()
        service.stop()
