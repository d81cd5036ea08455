#!/usr/bin/env python3
"""Makes the tables of docs/performance.md from what compare.py --json wrote.

usage: tables.py RESULTS.json [--into docs/performance.md]

Prints the tables: whole suites; each query's times and ratios; each query's peak RSS. --into replaces what stands between
the lines `<!-- suites -->`, `<!-- queries -->`, `<!-- memory -->` of the file and the next `<!-- end -->`.
"""
import argparse
import json
import math
import re
import sys

ENGINES = {"firn": "firn", "chdb": "ClickHouse", "duckdb": "DuckDB"}
SUITES = {"q": "tpch", "w": "web", "f": "files", "p": "plan", "d": "deletes"}


def times(results, query, engine):
    """(cold, hot) in seconds; None where the engine cannot run the query."""
    got = results[query].get(engine, {}).get("times")
    return (got[0], min(got[1:] or got)) if got else None


def ratios(results, query):
    """firn's (cold, hot) by the better peer's; None where one of them has no answer."""
    own = times(results, query, "firn")
    peers = [t for t in (times(results, query, e) for e in ENGINES if e != "firn") if t]
    return tuple(own[i] / min(p[i] for p in peers) for i in (0, 1)) if own and peers else None


def table(head, rows):
    return "\n".join(["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]])


def suites(results):
    rows = []
    for suite in dict.fromkeys(SUITES[q[0]] for q in results):
        found = {q: r for q in results if SUITES[q[0]] == suite and (r := ratios(results, q))}
        if not found:
            continue
        row = [suite]
        for which in (1, 0):
            worst = max(found, key=lambda q: found[q][which])
            mean = math.exp(sum(math.log(r[which]) for r in found.values()) / len(found))
            row += [f"{mean:.2f}", f"{worst.split('_')[0]} {found[worst][which]:.2f}"]
        lost = [q for q in results if SUITES[q[0]] == suite and not times(results, q, "firn")]
        rows.append(row + [", ".join(lost) or "none"])
    return table(["suite", "hot", "worst, hot", "cold", "worst, cold", "not answered"], rows)


def queries(results):
    rows = []
    for query in results:
        row = [query]
        for engine in ENGINES:
            got = times(results, query, engine)
            row += [f"{t * 1e3:.1f}" for t in got] if got else ["cannot" if engine in results[query] else "", ""]
        both = ratios(results, query)
        rows.append(row + ([f"{both[1]:.2f}", f"{both[0]:.2f}"] if both else ["", ""]))
    head = ["query", *(f"{name} {which}".strip() for name in ENGINES.values() for which in ("cold", "hot"))]
    return table([*head, "firn / better peer, hot", "cold"], rows)


def memory(results):
    rows = []
    for query in results:
        peaks = [results[query].get(e, {}).get("peak_rss") for e in ENGINES]
        if any(peaks):
            rows.append([query, *(f"{p / 2**20:.0f}" if p else "" for p in peaks)])
    return table(["query", *ENGINES.values()], rows) if rows else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--into")
    args = parser.parse_args()
    results = json.load(open(args.results))
    made = {"suites": suites(results), "queries": queries(results), "memory": memory(results)}
    if not args.into:
        print("\n\n".join(made.values()))
        return
    text = open(args.into, encoding="utf-8").read()
    for name, content in made.items():
        text, count = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + content + "\n" + m[2], text, count=1, flags=re.S)
        if not count:
            sys.exit(f"{args.into}: there is no line <!-- {name} --> with a line <!-- end --> behind it")
    open(args.into, "w", encoding="utf-8").write(text)


if __name__ == "__main__":
    main()
