#!/usr/bin/env python3
"""Where a query's time goes: perf's samples of firn, by function.

usage: profile.py WAREHOUSE QUERY… [--firn PATH] [--repeat 20] [--top 12] [--threads 1]

Runs each query (a name of compare.py: q09, w16, f02_one_day) so many times in one process and prints a Markdown table of the
functions that take most of the time. The clock is sampled, so it works without a processor's counters; needs Linux' perf.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402


def find(name):
    """(suite, statement)"""
    for suite in compare.TABLES:
        for query, sql in compare.queries(suite, []).items():
            if query == name or query.split("_")[0] == name:
                return suite, sql
    sys.exit(f"no query {name}")


def profile(args, name):
    suite, sql = find(name)
    tables = "".join(f"create table {t} engine = IcebergLocal('{place}');\n" for t, place in compare.places(args.warehouse, suite, sql).items())
    with tempfile.TemporaryDirectory() as place:
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "2000", "-o", f"{place}/data", args.firn, "local", f"--max_threads={args.threads}"]
        done = subprocess.run(record, input=tables + (sql + ";\n") * args.repeat, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr.strip()[-300:]}")
        report = ["perf", "report", "-i", f"{place}/data", "--stdio", "--no-children", "-F", "overhead,dso,symbol", "--percent-limit", "0.5"]
        text = subprocess.run(report, capture_output=True, text=True).stdout
    shares = {}
    for share, library, kind, symbol in re.findall(r"^\s+([\d.]+)%\s+(\S+)\s+\[(.)\] (.*?)\s*$", text, re.M):
        name_of = spell(os.path.basename(args.firn), library, kind, symbol)
        shares[name_of] = shares.get(name_of, 0) + float(share)
    print(f"**{name}**\n\n| share | function |\n| --- | --- |")
    for symbol, share in sorted(shares.items(), key=lambda item: -item[1])[: args.top]:
        print(f"| {share:.0f} % | {symbol} |")
    print()


def spell(own, library, kind, symbol):
    """A function's name without its namespace and arguments; the library's alone where it has no names."""
    if kind == "k":
        return "the kernel"
    if symbol.startswith("0x"):
        return library
    short = re.sub(r"firn::|\(anonymous namespace\)::", "", symbol)
    handler = re.match(r"std::_Function_handler<.*?, (.*)>::_M_invoke", short)
    short = re.sub(r"\{lambda.*", "{lambda}", handler[1] if handler else short)
    return re.sub(r"[(\[].*|^[\w:<>]+ (?=\w+::)", "", short).strip() + ("" if library == own else f" ({library})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warehouse")
    parser.add_argument("queries", nargs="+")
    parser.add_argument("--firn", default="./build/release/firn")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--top", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    args.warehouse, args.firn = os.path.abspath(args.warehouse), os.path.abspath(args.firn)
    for name in args.queries:
        profile(args, name)


if __name__ == "__main__":
    main()
