#!/usr/bin/env python3
"""Runs the examples in README.md, CHANGELOG.md and docs/*.md, so that they stay true.

usage: run.py [--firn PATH] [FILE …]
A block ```sql is run by `firn local` in the checkout; a block ```text right after it holds the answer, byte for byte up to
spaces at line ends. Without an answer the statements only have to succeed. ```sql config is run with each of the page's
```xml and ```yaml configurations. ```sql skip is not run, nor ```sql s3 and the like,
which tests/storage and tests/catalogs run. A block ```console holds lines `$ command`, each followed by what it prints; `firn`
there is the program under test.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import engine  # noqa: E402
from examples import configurations, examples, tidy  # noqa: E402


def console(firn, body):
    """What is wrong with a console block, or None."""
    env = dict(os.environ, PATH=os.path.dirname(os.path.abspath(firn)) + os.pathsep + os.environ["PATH"])
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        command, _, want = part.partition("\n")
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=engine.ROOT, env=env, timeout=120)
        got = tidy(done.stdout + done.stderr)
        if got != tidy(want):
            return f"$ {command}\nwanted:\n{tidy(want)}\ngot:\n{got}"
    return None


def statements(firn, arguments, body, answer):
    done = engine.run(firn, arguments, body, cwd=engine.ROOT)
    if done.status:
        return done.err
    if answer is not None and tidy(done.out) != tidy(answer):
        return f"wanted:\n{tidy(answer)}\ngot:\n{tidy(done.out)}"
    return None


def configured(firn, path, body, answer):
    found = configurations(path)
    if not found:
        return "the page shows no configuration"
    for ending, text in found:
        with tempfile.NamedTemporaryFile("w", suffix="." + ending) as file:
            file.write(re.sub(r' from_env="\w+"', "", text))
            file.flush()
            wrong = statements(firn, ["--config-file", file.name], body, answer)
        if wrong:
            return f"with the {ending}: {wrong}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=engine.DEFAULT)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    files = args.files or [os.path.join(engine.ROOT, "README.md"), *sorted(glob.glob(os.path.join(engine.ROOT, "docs/**/*.md"), recursive=True))]
    passed = failed = 0
    for path in files:
        for line, kind, words, body, answer in examples(path):
            if words.strip() not in ("", "config"):
                continue
            if kind == "console":
                wrong = console(args.firn, body)
            elif words.strip() == "config":
                wrong = configured(args.firn, path, body, answer)
            else:
                wrong = statements(args.firn, [], body, answer)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong is not None:
                print(f"FAIL {os.path.relpath(path, engine.ROOT)}:{line}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
