"""Two hundred queries in one process, at once, over one S3 service: each right, memory bounded, connections few and used again."""
import os
import re
import subprocess


QUERIES = 200
MAX_MEMORY = 128 << 20  # of each query
PEAK_RSS = 1 << 30  # of them all
# As storage's HTTP engine bounds them for a host (docs/storage.md).
MOST_CONNECTIONS = 64

# {fixture} -> queries of a line each.
ASKED = {
    "part_days": ("SELECT count(), min(id), max(id) FROM {table}", "SELECT sum(cityHash64(toString(tuple(*)))) FROM {table}"),
    "mor_posdel_v2": ("SELECT count(), sum(cityHash64(toString(tuple(*)))) FROM {table}",),
    "dv_v3": ("SELECT count(), sum(cityHash64(toString(tuple(*)))) FROM {table}",),
    "eqdel_mixed": ("SELECT count(), sum(cityHash64(toString(tuple(*)))) FROM {table}",),
    "mid_events": ("SELECT count() FROM {table}", "SELECT sum(cityHash64(toString(tuple(*)))) FROM {table}"),
}
ASKED_OF_LARGE = ("SELECT count(), sum(l_quantity), max(l_shipdate) FROM {table}", "SELECT l_discount, count() FROM {table} GROUP BY l_discount ORDER BY 1",
                  "SELECT uniqExact(l_orderkey) FROM {table}", "SELECT l_comment FROM {table} ORDER BY l_extendedprice DESC, l_comment LIMIT 3")


def many_at_once(suite, proxy, places, keys):
    """places: {fixture or "lineitem": (path in the bucket's URL, local folder)}; the local folders' answers are the right ones."""
    program = f"{os.path.dirname(suite.firn)}/tests/storage/many_queries"
    if not os.path.exists(program):
        suite.check("many at once", False, f"{program} is not built (FIRN_TESTS=ON)")
        return
    asked, right = [], []
    for name, (path, folder) in places.items():
        for sql in ASKED.get(name, ASKED_OF_LARGE):
            local = suite.ask(sql.format(table=f"icebergLocal('{folder}')"))
            suite.check(f"many at once: {name}, local", local.status == 0, local.err)
            right.append(re.sub(r"[\t\n]", " ", local.out).rstrip())
            asked.append(sql.format(table=f"icebergS3('http://127.0.0.1:{proxy.port}/{path}', {keys})"))
    lines = [i % len(asked) for i in range(QUERIES)]
    proxy.reset()
    done = subprocess.run([program, str(MAX_MEMORY)], input="".join(asked[i] + "\n" for i in lines), capture_output=True, text=True, timeout=600)
    answers = done.stdout.splitlines()
    suite.check("many at once: ended well", done.returncode == 0 and len(answers) == QUERIES + 1, f"status {done.returncode}, {len(answers)} lines, {done.stderr[-400:]}")
    if len(answers) != QUERIES + 1:
        return
    wrong = [f"{asked[i]}: {answer!r}, right is {right[i]!r}" for i, answer in zip(lines, answers) if answer.rstrip() != right[i]]
    suite.check("many at once: all right", not wrong, f"{len(wrong)} wrong; {wrong[:2]}")
    peak, requests, connections = int(answers[-1].split()[1]), len(proxy.log), proxy.connections
    print(f"many at once: {QUERIES} queries, {requests} requests over {connections} connections, at most {proxy.most_open} at a time, peak {peak >> 20} MiB", flush=True)
    suite.check("many at once: memory", peak <= PEAK_RSS, f"{peak >> 20} MiB")
    suite.check("many at once: connections are bounded", proxy.most_open <= MOST_CONNECTIONS, f"{proxy.most_open}")
    suite.check("many at once: connections are used again", connections <= 2 * MOST_CONNECTIONS and requests >= 5 * connections, f"{requests} requests, {connections} connections")
