#!/usr/bin/env python3
"""Counts what queries do (files opened, pages decoded, bytes decompressed and allocated, what was skipped) and compares with
the counts recorded beside this file: a guard of speed that no clock decides.

usage: run.py [--firn PATH] [--update] [QUERY …]

Fails where a count of work grew, or a count of what was skipped fell, by more than a tenth. A count that shrank is only
reported: record it with --update, so that it cannot grow back unseen. --update writes recorded.tsv (a line `query, count,
value`; a count that is not there is 0); read the difference before committing it, and say in the commit why a count grew.

Every query runs alone, with one thread, on tables that the tree carries, so that the counts do not depend on the machine.
Where `perf stat` can count instructions these are printed too; they depend on the machine, so nothing is decided by them.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
ROOT = os.path.dirname(TESTS)
sys.path.insert(0, TESTS)
import engine  # noqa: E402

RECORDED = os.path.join(HERE, "recorded.tsv")
TPCH = ["q01", "q03", "q06", "q09", "q18", "q21"]  # joins, groups, sums; of bench/queries/tpch
WORK = [
    "EngineFileLikeReadFiles", "IcebergManifestFilesRead", "IcebergDeleteFilesRead", "ParquetReadRowGroups", "ParquetDecodedPages",
    "ParquetDecompressedBytes", "ReadBytesFromStorage", "StorageReadRequests", "ScannedRows", "SelectedRows", "MemoryAllocatedBytes", "MemoryPeak",
]
SKIPPED = [
    "IcebergPartitionPrunedFiles", "IcebergPartitionPrunedManifestFiles", "IcebergMinMaxIndexPrunedFiles", "IcebergFilesAnsweredFromMetadata",
    "ParquetPrunedRowGroups", "ParquetBloomPrunedRowGroups", "ParquetDictionaryPrunedRowGroups", "ParquetPrunedPages", "ParquetSkippedPages",
    "RuntimeFilterPrunedFiles",
]
TOLERANCE = 0.10
SLACK = {"MemoryAllocatedBytes": 1 << 16, "MemoryPeak": 1 << 16}  # bytes more that small queries may take


def queries():
    """{name: statements}, the last of which is the one that counts."""
    found = {}
    for name in TPCH:
        sql = open(f"{ROOT}/bench/queries/tpch/{name}.sql").read().strip()
        tables = [t for t in sorted(os.listdir(f"{TESTS}/tpch")) if re.search(rf"\b{t}\b", sql)]
        found[name] = "".join(f"CREATE TABLE {t} ENGINE = IcebergLocal('{TESTS}/tpch/{t}');\n" for t in tables) + sql + ";\n"
    text = open(f"{HERE}/queries.sql").read().replace("{tests}", TESTS)
    for name, sql in re.findall(r"^-- (\w+)\n((?:[^-].*\n)+)", text, re.M):
        found[name] = sql
    return found


def count(firn, sql):
    """{count: value} of the last statement."""
    done = engine.run(firn, ["--max_threads=1", "--print-profile-events"], sql)
    if done.status:
        sys.exit(f"a query failed: {sql}\n{done.err}")
    return {name: int(value) for name, value in re.findall(r"^(\w+): (\d+)$", done.err, re.M)}  # later statements' lines win


def instructions(firn, sql):
    """Instructions of the whole process in user mode; None where they cannot be counted."""
    if not shutil.which("perf"):
        return None
    command = ["perf", "stat", "-x,", "-e", "instructions:u", os.path.abspath(firn), "local", "--max_threads=1"]
    done = subprocess.run(command, input=sql.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    found = re.search(rb"^(\d+),[^,]*,instructions:u", done.stderr, re.M)
    return int(found.group(1)) if found else None


def load():
    recorded = {}
    if os.path.exists(RECORDED):
        for line in open(RECORDED):
            query, name, value = line.split("\t")
            recorded.setdefault(query, {})[name] = int(value)
    return recorded


def save(recorded):
    with open(RECORDED, "w") as out:
        for query in queries():
            for name in WORK + SKIPPED:
                if recorded.get(query, {}).get(name):
                    out.write(f"{query}\t{name}\t{recorded[query][name]}\n")


def compare(query, before, now):
    """(what is worse, what is better), as lines."""
    worse, better = [], []
    for name in WORK + SKIPPED:
        old, new = before.get(name, 0), now.get(name, 0)
        slack = SLACK.get(name, 0)
        grew, fell = new > old * (1 + TOLERANCE) + slack, new < old * (1 - TOLERANCE) - slack
        if grew or fell:
            change = f" ({(new - old) / old:+.0%})" if old else ""
            bad = grew if name in WORK else fell
            (worse if bad else better).append(f"{query}: {name} {'grew' if grew else 'fell'} from {old} to {new}{change}")
    return worse, better


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=engine.DEFAULT)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    todo = {name: sql for name, sql in queries().items() if not args.names or name in args.names}
    if not todo:
        sys.exit(f"no such query; there are: {' '.join(queries())}")
    recorded, worse, better = load(), [], []
    counted = instructions(args.firn, "SELECT 1") is not None
    for name, sql in todo.items():
        now = count(args.firn, sql)
        missing = [c for c in WORK + SKIPPED if c not in now]
        if missing:
            sys.exit(f"--print-profile-events does not print {', '.join(missing)}")
        if name not in recorded and not args.update:
            worse.append(f"{name}: nothing is recorded; record it with --update")
        else:
            w, b = compare(name, recorded[name], now) if name in recorded else ([f"{name}: new"], [])
            worse += w
            better += b
        recorded[name] = now
        spent = f"  {instructions(args.firn, sql):>14,} instructions" if counted else ""
        print(f"{name:20s} {now['ParquetDecodedPages']:5d} pages  {now['ParquetDecompressedBytes']:9d} bytes decompressed  "
              f"{now['MemoryAllocatedBytes']:10d} allocated  {now['EngineFileLikeReadFiles']:4d} files{spent}")
    if args.update:
        save(recorded)
        print("\n".join(worse + better) or "nothing changed by more than a tenth")
        return 0
    for line in better:
        print("BETTER, record it with --update:", line)
    for line in worse:
        print("WORSE:", line)
    print(f"{len(todo)} queries, {len(worse)} counts worse, {len(better)} better")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
