#!/usr/bin/env python3
"""Asks every fixture table's questions with settings varied: all ways of getting an answer must give the same one.

usage: run.py [--firn PATH] [--short] [--every N] [--only NAME,…] [-v]
A process for each table and variation, all statements on its standard input; rows are compared sorted.
--short: only a few variations, --every: only every Nth table, for slow (sanitized) builds.
"""
import argparse
import glob
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(os.path.dirname(HERE), "fixtures")
sys.path[:0] = [os.path.dirname(HERE), FIXTURES]
import check_fixtures  # noqa: E402
import engine  # noqa: E402

# Every operator spills to disk whenever it is asked.
SPILLING = {"max_bytes_before_external_" + what: 1 for what in ("group_by", "distinct", "sort", "join")}
VARIATIONS = [
    {},
    {"use_iceberg_partition_pruning": 0},
    {"use_iceberg_metadata_files_cache": 0},
    {"max_threads": 1},
    {"max_threads": 4},
    {"firn_force_flat_vectors": 1},
    {"max_block_size": 3},
    {"use_iceberg_partition_pruning": 0, "firn_force_flat_vectors": 1, "max_block_size": 3, "max_threads": 4},
    SPILLING,
    {**SPILLING, "temporary_files_codec": "ZSTD"},
    {**SPILLING, "temporary_files_codec": "NONE", "max_block_size": 100, "max_threads": 4},
]
SHORT = [VARIATIONS[0], VARIATIONS[7], VARIATIONS[10]]
MARK = "@@next@@"


def questions(name, expected):
    """The table's statements: all rows, and count and rows of every predicate that its answers know."""
    inner = ""
    if name.startswith("layout_catalog_metadata"):
        inner = ", SETTINGS iceberg_metadata_file_path = 'metadata/%s'" % os.path.basename(expected["metadata_file"])
    source = f"icebergLocal('{FIXTURES}/{name}'{inner})"
    fields = [f for f in expected["iceberg_schema"]["fields"] if f["type"] not in ("variant", "unknown", "geometry", "geography")]
    columns = ", ".join("`%s`" % f["name"].replace("`", "\\`") for f in fields)
    out = [f"SELECT count() FROM {source}", f"SELECT {columns} FROM {source}"]
    for query in expected.get("queries", []):
        if "where" in query:
            where = check_fixtures.clickhouse(query["where"])
            out.append(f"SELECT count() FROM {source} WHERE {where}")
            out.append(f"SELECT {columns} FROM {source} WHERE {where}")
    for f in fields:
        if isinstance(f["type"], str):
            column = "`%s`" % f["name"].replace("`", "\\`")
            out.append(f"SELECT min({column}), max({column}), count({column}) FROM {source}")
            out.append(f"SELECT {column}, count() FROM {source} GROUP BY {column}")
            out.append(f"SELECT DISTINCT {column} FROM {source}")
            out.append(f"SELECT count() FROM {source} AS a JOIN {source} AS b USING ({column})")
            out.append(f"SELECT a.{column}, b.{column} FROM {source} AS a FULL JOIN (SELECT * FROM {source} ORDER BY {column} LIMIT 3) AS b USING ({column}) ORDER BY a.{column}, b.{column}")
    return out


def ask(firn, name, statements, settings):
    """A list of sorted answers, or an error text."""
    arguments = ["--format", "TSV"] + [f"--{k}={v}" for k, v in settings.items()]
    sql = f";\nSELECT '{MARK}';\n".join(statements) + ";\n"
    done = engine.run(firn, arguments, sql, timeout=300)
    answers = [sorted(part.split("\n")) for part in re.split(rf"^{MARK}\n", done.out, flags=re.M)]
    if done.status:
        return f"{done.error()} at: {statements[len(answers) - 1]}: {done.err.strip()[-200:]}"
    return answers


def check(firn, name, variations):
    """What differs, as lines."""
    expected = json.load(open(f"{FIXTURES}/{name}.expected.json"))
    statements = questions(name, expected)
    base, wrong, compared = None, [], 0
    for settings in variations:
        answers = ask(firn, name, statements, settings)
        if isinstance(answers, str):
            wrong.append(f"{name} with {settings}: {answers}")
            if base is None:
                break
        elif base is None:
            base = answers
        else:
            for statement, want, got in zip(statements, base, answers):
                compared += 1
                if want != got:
                    wrong.append(f"{name} with {settings}: {statement}\n     {len(want)} rows and {len(got)}; "
                                 f"{[r for r in want if r not in got][:1]} became {[r for r in got if r not in want][:1]}")
    return compared, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=engine.DEFAULT)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    names = sorted(os.path.basename(p)[: -len(".expected.json")] for p in glob.glob(f"{FIXTURES}/*.expected.json"))
    names = [n for n in names if not args.only or n in args.only.split(",")][:: args.every]
    total = failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for compared, wrong in pool.map(lambda n: check(args.firn, n, SHORT if args.short else VARIATIONS), names):
            total += compared
            failed += len(wrong)
            for line in wrong if args.v else wrong[:3]:
                print("FAIL", line)
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
