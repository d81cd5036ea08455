#!/usr/bin/env python3
"""Writes a .tsv for each .txt here: each line of it and what ClickHouse (chdb) answers to it."""
import re
from pathlib import Path

from chdb import session

here = Path(__file__).parent
chdb = session.Session()
for source in sorted(here.glob("*expressions.txt")):
    lines = []
    for line in source.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            lines.append(line)
            continue
        try:
            name = str(chdb.query(f"select toTypeName({line})", "TSVRaw")).rstrip("\n")
            value = str(chdb.query(f"select {line}", "TSVRaw")).rstrip("\n")
            null = str(chdb.query(f"select isNull({line})", "TSVRaw")).strip() == "1"
            name = re.sub(r"Tuple\(\s+", "Tuple(", name).replace(",\n    ", ", ")
            lines.append(line + "\t" + name + "\t" + ("\\N" if null else value.replace("\n", "\\n")))
        except Exception as error:
            code = re.search(r"Code: (\d+)", str(error))
            lines.append(line + "\tCode: " + (code.group(1) if code else "?"))
    source.with_suffix(".tsv").write_text("\n".join(lines) + "\n")
