#!/usr/bin/env python3
"""Runs the SQL tests: NAME.sql here or in a folder below, with its answers in NAME.expected.

usage: run.py [--firn PATH] [--set NAME=VALUE …] [--update] [-v] [NAME …]

All statements of a file go to one process at a time, each ended by `;` at the end of a line; the answers are joined by a
line `---`. A statement that must fail has `Code: N (NAME)` for its answer. Statements that give nothing by themselves
(SET, CREATE, DROP, USE) have no answer and are repeated before every later statement of the file, so that each
statement can be run, and can fail, alone. `{fixtures}` and `{tests}` stand for the folders of the fixture tables and of all tests.
--set gives every statement a setting, which must not change its answer.
--update writes the answers that firn gives now; read them before committing.
"""
import argparse
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import engine  # noqa: E402

SEPARATOR = "---\n"
SILENT = re.compile(r"(SET|CREATE|DROP|USE|DETACH|ALTER NAMED)\b", re.I)


def statements(text):
    """[(statements before it that it needs, statement)]"""
    text = "".join(line for line in text.splitlines(True) if not line.startswith("--"))
    text = text.replace("{fixtures}", os.path.dirname(HERE) + "/fixtures").replace("{tests}", os.path.dirname(HERE))
    before, out = [], []
    for statement in re.split(r";[ \t]*(?:\n|$)", text):
        statement = statement.strip()
        if not statement:
            continue
        if SILENT.match(statement):
            before.append(statement)
        else:
            out.append((list(before), statement))
    return out


def answer(firn, settings, before, statement):
    done = engine.run(firn, ["--format", "TSV", *settings], "".join(s + ";\n" for s in [*before, statement]))
    if done.status:
        return done.error() + "\n", done.err
    return done.out if not done.out or done.out.endswith("\n") else done.out + "\n", done.err


def run(firn, settings, name):
    """(answers wanted or None, [(statement, answer, standard error)])"""
    path = os.path.join(HERE, name)
    got = [(s, *answer(firn, settings, before, s)) for before, s in statements(open(path + ".sql", encoding="utf-8").read())]
    wanted = None
    if os.path.exists(path + ".expected"):
        text = open(path + ".expected", encoding="utf-8", newline="").read()
        wanted = re.split(r"^---\n", text, flags=re.M)
    return wanted, got


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=engine.DEFAULT)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    names = sorted(os.path.relpath(os.path.join(base, f), HERE)[:-4] for base, _, files in os.walk(HERE) for f in files if f.endswith(".sql"))
    names = [n for n in names if not args.names or any(n == a or n.startswith(a + "/") for a in args.names)]
    passed = failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (wanted, got) in zip(names, pool.map(lambda n: run(args.firn, ["--" + s for s in args.set], n), names)):
            if args.update:
                with open(os.path.join(HERE, name + ".expected"), "w", encoding="utf-8", newline="") as f:
                    f.write(SEPARATOR.join(text for _, text, _ in got))
                continue
            if wanted is None or len(wanted) != len(got):
                failed += 1
                print(f"FAIL {name}: {len(got)} statements, {0 if wanted is None else len(wanted)} answers")
                continue
            for number, ((statement, text, err), want) in enumerate(zip(got, wanted), 1):
                if text == want:
                    passed += 1
                    continue
                failed += 1
                size = 100000 if args.v else 300
                print(f"FAIL {name} statement {number}: {statement[:size]}\n     want {want[:size]!r}\n     got  {text[:size]!r} {err[:size]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
