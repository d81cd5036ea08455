#!/usr/bin/env python3
"""Reads the files of Apache Parquet's parquet-testing with `file('…')` and compares with pyarrow and DuckDB.

usage: run.py [--firn PATH] [-v] [PLACE]      PLACE: default $FIRN_PARQUET_TESTING, else ../shared/parquet-testing beside the checkout

data/: firn's rows are those of pyarrow or of DuckDB; an encrypted file may be NOT_IMPLEMENTED. bad_data/: an error or the
rows of a judge, never a crash. variant/, shredded_variant/: the values that their descriptions name.
Needs pyarrow and duckdb. Last line: `N passed, N failed`; `skipped` where the files are absent.
"""
import argparse
import glob
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import engine  # noqa: E402

SETTINGS = ["--output_format_json_quote_64bit_integers=0", "--output_format_json_quote_denormals=1", "--output_format_json_quote_decimals=1"]
# Every judge refuses these as damaged, or should: an error is right, and so are a judge's rows.
MAY_FAIL = re.compile(r"corrupt-checksum|dict-malformed|incorrect_map_schema|unknown-logical-type")

# A file whose two strings take a gibibyte each: their lengths are asked for instead.
HUGE = {"large_string_map.brotli.parquet": ("length(mapKeys(arr)[1]), mapValues(arr)[1]", [[2**30, 1], [2**30, 1]])}


class Wrong(Exception):
    pass


def ask(firn, path, columns="*"):
    quoted = path.replace("'", "\\'")
    return engine.run(firn, ["--format", "JSONCompactEachRow", *SETTINGS, "-q", f"SELECT {columns} FROM file('{quoted}', Parquet)"], timeout=120)


def rows_of(done):
    text = done.out_bytes.decode("utf-8", "surrogateescape")
    return [json.loads(line, parse_float=str) for line in text.split("\n") if line]


def clean_error(done):
    """Raises unless the run ended with an error in firn's own form."""
    if done.status != 1 or not re.match(r"Code: \d+\. DB::Exception: .*\([A-Z_0-9]+\)\s*$", done.err, re.S):
        raise Wrong(f"no clean error: status {done.status}, {done.err.strip()[-200:]!r}")


def check_data(firn, path):
    import judge

    name = os.path.basename(path)
    columns, known = HUGE.get(name, ("*", None))
    done = ask(firn, path, columns)
    if done.status:
        clean_error(done)
        if name.endswith(".encrypted") and "(NOT_IMPLEMENTED)" in done.err:
            return
        if MAY_FAIL.search(name):
            return
        if not name.endswith(".encrypted") and not readable(judge, path):
            return
        raise Wrong(done.err.strip()[-200:])
    got, said = rows_of(done), []
    if known is not None:
        if got != known:
            raise Wrong(f"wanted {known}, got {got!r:.200}")
        return
    for read in (judge.with_pyarrow, judge.with_duckdb):
        try:
            rows = read(path)
        except Exception as error:
            said.append(f"{read.__name__}: {str(error)[:100]}")
            continue
        different = judge.difference(rows, got)
        if different is None:
            return
        said.append(f"{read.__name__}: {different}")
    raise Wrong("; ".join(said))


def readable(judge, path):
    for read in (judge.with_pyarrow, judge.with_duckdb):
        try:
            read(path)
            return True
        except Exception:
            pass
    return False


def check_bad(firn, path):
    """An error. A file that pyarrow has since learned to read as its writer meant it may give those rows."""
    import judge

    done = ask(firn, path)
    if done.status == 0 and judge.difference(judge.with_pyarrow(path), rows_of(done)) is None:
        return
    clean_error(done)


def check_shredded(firn, place, case):
    import variants

    done = ask(firn, os.path.join(place, case["parquet_file"]), "var")
    if "error_message" in case:
        return clean_error(done)
    if done.status and "INVALID" in case["parquet_file"]:
        return clean_error(done)
    if done.status:
        raise Wrong(done.err.strip()[-200:])
    got = [variants.meaning(row[0]) for row in rows_of(done)]
    wanted = [None if text is None else variants.parse(text) for text in variants.listed(case)]
    if len(got) != len(wanted) or not all(map(variants.same, wanted, got)):
        raise Wrong(f"wanted {case.get('variants', case.get('variant'))!r:.300}, got {got!r:.200}")


def check_variant(firn, place, name, want):
    import variants

    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/variant.parquet"
        variants.write(path, *(open(f"{place}/{name}.{part}", "rb").read() for part in ("metadata", "value")))
        done = ask(firn, path, "var")
    if done.status:
        raise Wrong(done.err.strip()[-200:])
    got = variants.meaning(rows_of(done)[0][0])
    if not variants.same(want, got):
        raise Wrong(f"wanted {want!r:.200}, got {got!r:.200}")


def checks(place):
    """(label, function, arguments) of everything that the files ask."""
    for path in sorted(glob.glob(f"{place}/data/**/*.parquet", recursive=True) + glob.glob(f"{place}/data/**/*.parquet.encrypted", recursive=True)):
        yield os.path.relpath(path, place), check_data, (path,)
    for path in sorted(glob.glob(f"{place}/bad_data/*.parquet")):
        yield os.path.relpath(path, place), check_bad, (path,)
    for case in json.load(open(f"{place}/shredded_variant/cases.json")):
        if "parquet_file" in case:
            yield "shredded_variant/" + case["parquet_file"], check_shredded, (f"{place}/shredded_variant", case)
    for name, want in described(place).items():
        yield "variant/" + name, check_variant, (f"{place}/variant", name, want)


def described(place):
    """The meanings of variant/, whose file ends its object with a comma."""
    return json.loads(re.sub(r",\s*}\s*$", "}", open(f"{place}/variant/data_dictionary.json").read()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=engine.DEFAULT)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("place", nargs="?", default=os.environ.get("FIRN_PARQUET_TESTING", os.path.join(engine.ROOT, "../shared/parquet-testing")))
    args = parser.parse_args()
    place = os.path.abspath(args.place)
    if not os.path.isdir(place + "/data"):
        print(f"skipped: no parquet-testing files at {place}")
        return 0
    passed = failed = 0
    for label, check, arguments in checks(place):
        if args.only not in label:
            continue
        try:
            check(args.firn, *arguments)
            passed += 1
        except Exception as error:
            failed += 1
            print(f"FAIL {label}: {'' if isinstance(error, Wrong) else type(error).__name__ + ': '}{error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
