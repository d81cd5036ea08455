#!/usr/bin/env python3
"""Runs the conformance corpus and fails when a statement that used to pass no longer does.

usage: ratchet.py [--firn PATH] [--update] [AREA …]
passing.txt beside this file lists the statements known to pass, a line a file: `AREA/NAME 1 2 5-9`, statements counted from 1.
--update adds what passes now (and, with --forget, drops what does not). Prints the counts of each area.
"""
import argparse
import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
PASSING = os.path.join(HERE, "passing.txt")
DATA = "/tmp/iceberg-conformance"

spec = importlib.util.spec_from_file_location("run_cases", os.path.join(HERE, "run_cases.py"))
corpus = importlib.util.module_from_spec(spec)
spec.loader.exec_module(corpus)


def load():
    """{case: set of statement numbers}"""
    known = {}
    if os.path.exists(PASSING):
        for line in open(PASSING):
            name, *ranges = line.split()
            known[name] = set()
            for r in ranges:
                first, _, last = r.partition("-")
                known[name].update(range(int(first), int(last or first) + 1))
    return known


def save(known):
    with open(PASSING, "w") as f:
        for name in sorted(known):
            ranges, numbers = [], sorted(known[name])
            for n in numbers:
                if ranges and ranges[-1][1] == n - 1:
                    ranges[-1][1] = n
                else:
                    ranges.append([n, n])
            if ranges:
                f.write(name + " " + " ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges) + "\n")


def run_case(name, argv, timeout):
    """(numbers that pass, {number: what differs}) of one case file."""
    path = f"{HERE}/cases/{name}"
    todo = corpus.plan(open(path + ".sql", encoding="utf-8").read())
    wanted = corpus.parse_expected(open(path + ".expected", encoding="utf-8", newline="").read())
    good, bad = set(), {}
    for number, ((sets, statement), want) in enumerate(zip(todo, wanted), 1):
        got, err = corpus.run_cmd(argv, sets, statement, timeout)
        if got == want:
            good.add(number)
        else:
            bad[number] = (statement, want, got, err)
    return good, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=os.path.join(HERE, "../../build/release/firn"))
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--forget", action="store_true")
    parser.add_argument("areas", nargs="*")
    args = parser.parse_args()
    if not os.path.exists(DATA):
        subprocess.run(["tar", "xzf", os.path.join(HERE, "tables.tar.gz"), "-C", "/"], check=True)
    argv = [os.path.abspath(args.firn), "local", "--multiquery"]
    names = sorted(f"{area}/{f[:-4]}" for area in os.listdir(f"{HERE}/cases") for f in os.listdir(f"{HERE}/cases/{area}") if f.endswith(".sql"))
    names = [n for n in names if not args.areas or n.split("/")[0] in args.areas or n in args.areas]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(names, pool.map(lambda n: run_case(n, argv, 30), names)))
    known, lost, counts = load(), [], {}
    for name, (good, bad) in results.items():
        area = counts.setdefault(name.split("/")[0], [0, 0])
        area[0] += len(good)
        area[1] += len(good) + len(bad)
        for number in sorted(known.get(name, set()) & set(bad)):
            # Once more, alone: a busy machine can make a statement late.
            if number not in run_case(name, argv, 120)[0]:
                lost.append((name, number, *bad[number]))
    for area, (good, total) in sorted(counts.items()):
        print(f"{area:14s} {good:5d} of {total}")
    for name, number, statement, want, got, err in lost:
        print(f"LOST {name} statement {number}: {statement[:200]!r}\n     want {want[:200]!r}\n     got  {got[:200]!r} {err[:200]!r}")
    if args.update:
        for name, (good, _) in results.items():
            known[name] = good if args.forget else known.get(name, set()) | good
        save(known)
    gained = sum(len(good - known.get(name, set())) for name, (good, _) in results.items())
    if gained:
        print(f"{gained} statements pass that passing.txt does not list: tests/conformance/ratchet.py --update")
    print(f"{sum(g for g, _ in counts.values())} passed, {sum(t - g for g, t in counts.values())} failed, {len(lost)} of them passed before")
    return 1 if lost else 0


sys.exit(main())
