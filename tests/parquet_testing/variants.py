"""The variant files of parquet-testing: what they say a value means, against the JSON that firn gives for it."""
import base64
import datetime
import json
import math
import re
import struct
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq


def listed(case):
    """The descriptions of a case's rows: one, or a list in one text, `[null, Variant(…), …]`."""
    if "variants" not in case:
        return [case.get("variant")]
    text = case["variants"]
    if isinstance(text, list):
        return text
    starts = [m.start() for m in re.finditer(r"(?<=[\[ ])(null(?=[,\]])|Variant\(metadata=)", text)]
    parts = [re.sub(r"[,\]]\s*$", "", text[a:b]) for a, b in zip(starts, starts[1:] + [len(text)])]
    return [None if part == "null" else part for part in parts]


class Scalar:
    def __init__(self, kind, text):
        self.kind, self.text = kind, text


def parse(text):
    """`Variant(metadata=…, value=…)` as None, Scalar, list or dict."""
    at = 0

    def eat(word):
        nonlocal at
        assert text.startswith(word, at), (word, text[at:at + 40])
        at += len(word)

    def value():
        nonlocal at
        if text.startswith("Variant(metadata=", at):
            at = text.index(", value=", at) + len(", value=")
            inner = value()
            eat(")")
            return inner
        if text.startswith("VariantArray([", at):
            eat("VariantArray([")
            items = []
            while text[at] != "]":
                items.append(value())
                if text.startswith(", ", at):
                    at += 2
            eat("])")
            return items
        if text.startswith("VariantObject(fields={", at):
            eat("VariantObject(fields={")
            fields = {}
            while text[at] != "}":
                end = text.index(": ", at)
                name, at = text[at:end], end + 2
                fields[name] = value()
                if text.startswith(", ", at):
                    at += 2
            eat("})")
            return fields
        found = re.compile(r"Variant\(type=(\w+), value=([^)]*)\)").match(text, at)
        at = found.end()
        return Scalar(found.group(1), found.group(2))

    return value()


def clock(text):
    """A date or time in one spelling: in UTC, no T, no zone, no trailing zeros of the fraction."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)?[T ]?(\d\d:\d\d:\d\d)?(?:[.:](\d+))?(Z|[+-]\d\d:\d\d)?", str(text))
    if not found:
        return text
    date, time, part, zone = found.groups()
    if zone not in (None, "Z", "+00:00"):
        moved = datetime.datetime.fromisoformat(f"{date}T{time}{zone}").astimezone(datetime.timezone.utc)
        date, time = moved.strftime("%Y-%m-%d %H:%M:%S").split(" ")
    return (date, time, (part or "").rstrip("0"))


def same(want, got):
    """Whether a parsed description and firn's JSON value agree."""
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(same, want, got))
    if isinstance(want, dict):
        return isinstance(got, dict) and want.keys() == got.keys() and all(same(want[k], got[k]) for k in want)
    if want is None:
        return got is None
    if not isinstance(want, Scalar):  # a value of data_dictionary.json
        if isinstance(want, (float, Decimal)) and not isinstance(got, (str, list, dict, bool, type(None))):
            return math.isclose(float(want), float(got), rel_tol=1e-6)
        if isinstance(want, str) and re.match(r"\d\d\d\d-|\d\d:", want):
            return clock(want) == clock(got)
        return want == got
    kind, text = want.kind, want.text
    if kind == "NULL":
        return got is None
    if kind.startswith("BOOLEAN"):
        return got is (text == "true")
    if kind in ("FLOAT", "DOUBLE"):
        return isinstance(got, (int, float, Decimal)) and struct.pack("f", float(text)) == struct.pack("f", float(got))
    if kind.startswith(("INT", "DECIMAL")):
        return not isinstance(got, bool) and got is not None and Decimal(str(got)) == Decimal(text)
    if kind == "BINARY":
        raw = bytes.fromhex(text)
        return got in (base64.b64encode(raw).decode(), raw.hex(), raw.hex().upper())
    if kind.startswith(("TIME", "DATE")):
        return clock(text) == clock(got)
    return got == text


def meaning(value):
    """firn gives a variant as JSON text (or as a JSON value)."""
    if isinstance(value, str):
        try:
            return json.loads(value, parse_float=Decimal)
        except ValueError:
            return value
    return value


def write(path, metadata, value):
    """A Parquet file with one variant `var`. pyarrow cannot annotate the group, so its schema element is amended."""
    kind = pa.struct([pa.field("metadata", pa.binary(), False), pa.field("value", pa.binary(), False)])
    pq.write_table(pa.table({"var": pa.array([{"metadata": metadata, "value": value}], kind)}), path, store_schema=False)
    data = open(path, "rb").read()
    size = struct.unpack("<I", data[-8:-4])[0]
    body, footer = data[:-8 - size], data[-8 - size:-8]
    plain = b"\x18\x03var\x15\x04\x00"  # name, number of children, end of the element
    assert footer.count(plain) == 1
    footer = footer.replace(plain, plain[:-1] + b"\x5c\x0c\x20\x00\x00\x00")  # logicalType = VARIANT {}
    open(path, "wb").write(body + footer + struct.pack("<I", len(footer)) + b"PAR1")
