#!/usr/bin/env python3
"""Checks the rules of the tree, prints what breaks them and exits 1 if anything does.

- A room of src/firn includes only itself and rooms to its left (the list stands in cmake/FirnRooms.cmake).
- Arrow and Parquet headers are included only by sources of the room `file`, never by a header.
- Headers stay light: no <iostream>, no <regex>; every header begins with #pragma once.
- No source is longer than LINES lines; one that is nearly so is reported.
"""
import os
import re
import subprocess
import sys

LINES = 900
LONG = 600
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def rooms():
    text = open("cmake/FirnRooms.cmake").read()
    return re.search(r"set\(FIRN_ROOMS ([^)]*)\)", text).group(1).split() + ["server", "cli", "client", "capi"]


def sources():
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "src", "include"], capture_output=True, text=True, check=True)
    return [f for f in out.stdout.splitlines() if f.endswith((".h", ".cpp", ".inc")) and os.path.exists(f)]


def main():
    order = {room: i for i, room in enumerate(rooms())}
    ends = {"server", "cli", "client", "capi"}  # the last four never know each other
    wrong, long = [], []
    for path in sources():
        text = open(path, encoding="utf-8").read()
        parts = path.split("/")
        room = parts[2] if parts[0] == "src" and len(parts) > 3 else None
        header = path.endswith(".h")
        if room and room not in order:
            wrong.append(f"{path}: '{room}' is no room of cmake/FirnRooms.cmake")
            continue
        if header and "#pragma once" not in text:
            wrong.append(f"{path}: no #pragma once")
        for quote, name in INCLUDE.findall(text):
            if re.match(r"(arrow|parquet)/", name) and (header or room != "file"):
                wrong.append(f"{path}: includes {name}; only sources of file/ may")
            if header and name in ("iostream", "regex"):
                wrong.append(f"{path}: includes <{name}>, too heavy for a header")
            if room and name.startswith("firn/") and name.count("/") > 1:
                other = name.split("/")[1]
                if other not in order:
                    wrong.append(f"{path}: includes {name}, of no room")
                elif other != room and (order[other] > order[room] or (room in ends and other in ends)):
                    wrong.append(f"{path}: {room} may not know {other} ({name})")
            if room and quote == '"' and name.startswith(".."):
                wrong.append(f"{path}: includes {name}; write it from firn/")
        lines = text.count("\n")
        if path.endswith(".inc"):
            continue  # a table, one entry a line
        if lines > LINES:
            wrong.append(f"{path}: {lines} lines, more than {LINES}")
        elif lines > LONG:
            long.append(f"{path}: {lines} lines")
    for line in long:
        print("long:", line)
    for line in wrong:
        print("WRONG:", line)
    print(f"{len(sources())} sources looked at, {len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main())
