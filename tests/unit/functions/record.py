#!/usr/bin/env python3
"""Writes expressions.tsv: each line of expressions.txt and what ClickHouse (chdb) answers to it."""
import re
from pathlib import Path

from chdb import session

here = Path(__file__).parent
chdb = session.Session()
lines = []
for line in (here / "expressions.txt").read_text().splitlines():
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
(here / "expressions.tsv").write_text("\n".join(lines) + "\n")
