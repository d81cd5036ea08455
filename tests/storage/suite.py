"""What the parts of the storage tests share: asking firn, faults, the fixtures, and putting files on servers."""
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, *(os.path.join(ROOT, folder) for folder in ("tests", "tests/fixtures", "tests/docs"))]
import engine  # noqa: E402
from examples import of_server, tidy  # noqa: E402
from fault_proxy import Fault  # noqa: E402
from known import check_elsewhere  # noqa: E402
from relocate import relocate  # noqa: E402
from servers import S3_SECRET, plain_environment  # noqa: E402,F401
from stores import Azure, put_folder  # noqa: E402

FIXTURES = os.path.join(ROOT, "tests/fixtures")


class Suite:
    def __init__(self, firn):
        self.firn, self.passed, self.failed = firn, 0, []

    def check(self, label, good, detail=""):
        if good:
            self.passed += 1
        else:
            self.failed.append(label)
            print(f"FAIL {label}: {detail}"[:600], flush=True)

    def ask(self, sql, arguments=(), env=None, timeout=120):
        return engine.run(self.firn, arguments, sql, timeout, env=env)

    def gives(self, label, sql, wanted, arguments=(), env=None):
        answer = self.ask(sql, arguments, env)
        self.check(label, answer.status == 0 and answer.out.strip() == wanted, f"wanted {wanted}, got {answer.out.strip()!r} {answer.err.strip()[-400:]}")
        return answer

    def fails(self, label, sql, code, within=60, env=None, says=""):
        begin = time.time()
        answer = self.ask(sql, env=env)
        took = time.time() - begin
        good = answer.status > 0 and f"({code})" in answer.err and says in answer.err and took <= within
        self.check(label, good, f"wanted {code} {says!r} in {within} s, after {took:.1f} s: {answer.out.strip()[:100]!r} {answer.err.strip()[-400:]}")
        self.check(label + ": no secret", S3_SECRET not in answer.err and Azure.account_key not in answer.err, answer.err[-300:])
        return answer

    def events(self, sql, arguments=(), env=None):
        answer = self.ask(sql, ["--print-profile-events", *arguments], env)
        found = {name: int(n) for name, n in re.findall(r"\b(\w+): (\d+)", answer.err)}
        if answer.status:
            print(answer.err[-400:])
        return answer, found

    def fixtures(self, label, source, tables, env=None):
        counts, bad = check_elsewhere(self.firn, source, tables, env=env)
        self.check(f"{label}: fixtures", not bad, "\n".join(bad))
        print(f"{label}: {len(tables)} tables, {counts}, {len(bad)} not as known", flush=True)

    def faults(self, label, proxy, sql, code, slow, data=None):
        """Faults that pass give the right answer, those that stay an error of this code. `data` matches what is asked for the
        files' bytes, whose length is known; `slow` are settings by which a hanging server is given up after a second."""
        proxy.reset()
        whole = self.ask(sql).out.strip()
        passing = {"throttled": Fault(503, 4), "429 with Retry-After": Fault(429, 1, headers={"Retry-After": "1"}), "500s": Fault(500, 3), "reset": Fault("reset", 3)}
        staying = {"throttled": (Fault(503, 1000), code), "garbage": (Fault("garbage", 1000), code), "reset": (Fault("reset", 1000), code)}
        if data:
            passing |= {"cut mid-read": Fault("cut", 3, match=data), "short reply": Fault("short", 2, match=data)}
            staying |= {"cut mid-read": (Fault("cut", 1000, match=data), code), "short replies": (Fault("short", 1000, match=data), "CANNOT_READ_ALL_DATA")}
        for name, fault in passing.items():
            proxy.reset(fault)
            self.gives(f"{label}: fault, then right: {name}", sql, whole)
            self.check(f"{label}: fault was met: {name}", whole and fault.times == 0, str(fault.times))
        few = " SETTINGS s3_max_single_read_retries = 1, azure_sdk_max_retries = 1, http_max_tries = 2"
        for name, (fault, wanted) in staying.items():
            proxy.reset(fault)
            self.fails(f"{label}: fault for ever: {name}", sql + few, wanted, 30)
        proxy.reset(Fault("hang", 1000, seconds=30))
        self.fails(f"{label}: hangs", f"{sql}{few}, {slow}", code, 20)
        proxy.reset()

    def examples(self, page, word, places, env=None):
        """The examples of a page of docs/ that need that server."""
        found = list(of_server(page, word, places))
        self.check(f"docs/{page}: examples of {word}", found)
        for line, sql, answer in found:
            got = self.ask(sql, env=env)
            self.check(f"docs/{page}:{line}", got.status == 0 and (answer is None or tidy(got.out) == tidy(answer)), got.out + got.err)


def upload(store, bucket, scheme_root, tables, work):
    """Puts fixtures below `fixtures/` of the bucket: relocated to scheme_root, so that every path in them is the storage's."""
    store.make_bucket(bucket)
    for name in tables:
        source = f"{FIXTURES}/{name}"
        if not os.path.isdir(source):
            raise SystemExit(f"no fixture '{name}' in {FIXTURES}")
        out = f"{work}/relocated/{name}"
        relocate(source, out, f"/tmp/iceberg-fixtures/{name}", f"{scheme_root}/{name}")
        put_folder(store, bucket, f"fixtures/{name}", out)
    put_folder(store, bucket, "trips", f"{ROOT}/demo/trips")
    # One as it is: its metadata names the disk where it was made, and is read where it lies now.
    put_folder(store, bucket, "moved/part_days", f"{FIXTURES}/part_days")
