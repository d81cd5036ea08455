#!/usr/bin/env python3
"""Fills a folder with seed inputs for a fuzz target, from the fixture tables, the cases and the SQL corpus.

usage: seeds.py TARGET FOLDER
Small files of the target's kind, each content once; what a fuzzer found worth keeping stands in tests/fuzz/corpus/TARGET.
"""
import gzip
import hashlib
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
LARGEST = 48 * 1024
MOST = 400
# A word in the target's name, and which files it reads.
KINDS = [
    (r"avro|manifest", r"\.avro$"),
    (r"metadata|json|schema", r"metadata\.json$"),
    (r"parquet|page", r"\.parquet$"),
    (r"puffin|vector|deletion", r"\.(puffin|bin)$"),
    (r"orc", r"\.orc$"),
    (r"sql|parser|lexer", r"\.sql$"),
]


def folders_walked():
    yield from os.walk(TESTS)
    if "FIRN_PARQUET_TESTING" in os.environ:  # more encodings than the fixtures have
        yield from os.walk(os.environ["FIRN_PARQUET_TESTING"])


def contents(pattern):
    for base, folders, files in folders_walked():
        folders.sort()
        for name in sorted(files):
            path = os.path.join(base, name)
            if not re.search(pattern, name) or os.path.getsize(path) > 16 * LARGEST:
                continue
            data = open(path, "rb").read()
            if name.endswith(".sql"):
                yield from (s.strip() for s in re.split(rb";[ \t]*\n", data))
            elif ".gz.metadata.json" in name or data[:2] == b"\x1f\x8b":
                yield data
                yield gzip.decompress(data)
            else:
                yield data


def main():
    target, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    wanted = [files for words, files in KINDS if re.search(words, target)]
    kept = {}
    for pattern in wanted:
        for data in contents(pattern):
            if 0 < len(data) <= LARGEST:
                kept.setdefault(hashlib.sha1(data).hexdigest(), data)
    step = max(1, len(kept) // MOST)
    for name, data in sorted(kept.items())[::step]:
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    print(f"{len(kept)} seeds for {target}" + (f", every {step}th used" if step > 1 else ""))


main()
