#!/usr/bin/env python3
"""CPU time of scans beside that of decompressing the pages they touch: the floor that no reader of these files gets under.

usage: floor.py WAREHOUSE [--firn PATH] [--floor PATH] [--rounds 5] [--most RATIO]

firn's time: user and system time of a run in a process that has run the query before, without the cache of decompressed
pages. --most: exit 1 where a query takes more than so many times its floor. Build the other program with
`ninja firn_scan_floor`.
"""
import argparse
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# query, table, the columns whose pages it reads
SCANS = [
    ("tpch/q01", "lineitem", "l_shipdate,l_returnflag,l_linestatus,l_quantity,l_extendedprice,l_discount,l_tax"),
    ("tpch/q06", "lineitem", "l_shipdate,l_discount,l_quantity,l_extendedprice"),
    ("web/w16_like_count", "visits", "url"),
]
RUNS = 4


def cpu(firn, statements):
    """Milliseconds of user and system time that one process takes for them."""
    process = subprocess.Popen([firn, "local", "--format", "TSV", "--multiquery"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    process.stdin.write(statements)
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"firn ended with {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warehouse")
    parser.add_argument("--firn", default="./build/release/firn")
    parser.add_argument("--floor", default="./build/release/bench/floor/firn_scan_floor")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float)
    args = parser.parse_args()
    warehouse, above = os.path.abspath(args.warehouse), []
    print(f"{'query':22s}{'firn':>9s}{'floor':>9s}{'ratio':>7s}   (ms of CPU)")
    for query, table, columns in SCANS:
        place = f"{warehouse}/{query.split('/')[0]}/{table}"
        sql = open(f"{HERE}/queries/{query}.sql").read().strip() + ";\n"
        begin = f"set use_uncompressed_cache = 0;\ncreate table {table} engine = IcebergLocal('{place}');\n" + sql
        firn, floor = [], []
        for _ in range(args.rounds):  # in turn, so that both see the same machine
            firn.append((cpu(args.firn, begin + sql * RUNS) - cpu(args.firn, begin)) / RUNS)
            out = subprocess.run([args.floor, columns, *sorted(glob.glob(f"{place}/data/*.parquet"))], check=True, capture_output=True, text=True)
            floor.append(float(out.stdout.split()[0]))
        ratio = min(firn) / min(floor)
        if args.most and ratio > args.most:
            above.append(query)
        print(f"{query:22s}{min(firn):9.1f}{min(floor):9.1f}{ratio:7.2f}", flush=True)
    if above:
        print("above the limit:", ", ".join(above))
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
