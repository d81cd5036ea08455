"""What pyarrow or DuckDB read in a Parquet file, as plain values, and whether firn's JSON says the same."""
import datetime
import math
import struct
import uuid
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

UNITS = {"s": 1, "ms": 1000, "us": 1000000, "ns": 1000000000}
EPOCH = 719163  # ordinal of 1970-01-01


def ticks_text(ticks, unit):
    """A timestamp as firn prints it: beyond the years 0 to 9999 with a sign."""
    per = UNITS[unit]
    seconds, part = divmod(ticks, per)
    days, of_day = divmod(seconds, 86400)
    cycles, days = divmod(days + EPOCH - 1, 146097)  # 400 years have as many days
    day = datetime.date.fromordinal(days + 1)
    year = day.year + 400 * cycles
    sign = "" if 0 <= year <= 9999 else "-" if year < 0 else "+"
    text = "%s%04d-%02d-%02d %02d:%02d:%02d" % (sign, abs(year), day.month, day.day, of_day // 3600, of_day // 60 % 60, of_day % 60)
    return text + ".%0*d" % (len(str(per)) - 1, part) if per > 1 else text


def plain(scalar):
    """A pyarrow scalar as None, bool, int, float, Decimal, str, bytes, list or tuple."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if isinstance(scalar, pa.ExtensionScalar):
        return plain(scalar.value)
    if pa.types.is_dictionary(kind):
        return plain(scalar.as_py() if isinstance(scalar.as_py(), pa.Scalar) else pa.scalar(scalar.as_py(), kind.value_type))
    if pa.types.is_map(kind):
        return [(plain(item[0]), plain(item[1])) for item in zip(scalar.values.field(0), scalar.values.field(1))]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [plain(v) for v in scalar.values]
    if pa.types.is_struct(kind):
        return tuple(plain(scalar[i]) for i in range(kind.num_fields))
    if pa.types.is_timestamp(kind):
        return ticks_text(scalar.value, kind.unit)
    if pa.types.is_date(kind):
        return scalar.as_py().isoformat()
    if pa.types.is_time(kind):
        return "%s" % scalar.as_py().isoformat() if kind.unit != "ns" else scalar.value
    if pa.types.is_float16(kind):
        return float(scalar.as_py())
    return scalar.as_py()


def with_pyarrow(path):
    """Rows of a file, each a list of plain values."""
    table = pq.ParquetFile(path).read()
    return list(map(list, zip(*[[plain(v) for v in column] for column in table.columns])))


def with_duckdb(path):
    def value(v):
        if isinstance(v, dict):
            return tuple(value(x) for x in v.values())
        if isinstance(v, (list, tuple)):
            return [value(x) for x in v]
        if isinstance(v, datetime.datetime):
            return v.replace(tzinfo=None).isoformat(" ", "microseconds")
        if isinstance(v, (datetime.date, datetime.time)):
            return v.isoformat()
        return v

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return [[value(v) for v in row] for row in connection.execute("SELECT * FROM read_parquet(?)", [path]).fetchall()]


def empty(value):
    """A value that stands for a null list, map or struct: firn has no nulls of those."""
    if isinstance(value, dict):
        return all(empty(v) for v in value.values())
    if isinstance(value, list):
        return all(empty(v) for v in value)
    return value in (None, "", 0, "0", False) or (isinstance(value, str) and set(value) <= set("0-: ."))


def trimmed(text):
    return text.rstrip("0").rstrip(".") if "." in text else text


def same(want, got):
    """Whether firn's JSON value says what the judge read."""
    if want is None:
        return got is None or (isinstance(got, (list, dict)) and empty(got))
    if isinstance(want, uuid.UUID):
        return str(want) == got
    if isinstance(want, bool):
        return got is want or got == int(want)
    if isinstance(want, (bytes, bytearray, memoryview)):
        raw = bytes(want)
        if isinstance(got, str) and len(raw) == 16 and got == str(uuid.UUID(bytes=raw)):
            return True
        return isinstance(got, str) and got.encode("utf-8", "surrogateescape").rstrip(b"\0") == raw.rstrip(b"\0")
    if isinstance(want, tuple):
        have = list(got.values()) if isinstance(got, dict) else got
        return isinstance(have, list) and len(have) == len(want) and all(same(w, h) for w, h in zip(want, have))
    if isinstance(want, dict):
        want = list(want.items())
    if isinstance(want, list):
        if isinstance(got, dict):
            pairs = [list(p) if isinstance(p, (tuple, list)) else [p] for p in want]
            return len(pairs) == len(got) and all(same(w[1], h) and same(w[0], k if isinstance(w[0], (str, bytes)) else number(k)) for w, (k, h) in zip(pairs, got.items()))
        return isinstance(got, list) and len(got) == len(want) and all(same(w, h) for w, h in zip(want, got))
    if isinstance(want, float):
        have = number(got)
        if have is None:
            return False
        if math.isnan(want) or math.isnan(have):
            return math.isnan(want) and math.isnan(have)
        if want == have:
            return True
        return abs(want) < 3.5e38 and abs(have) < 3.5e38 and struct.pack("f", want) == struct.pack("f", have)
    if isinstance(want, (int, Decimal)):
        try:
            return Decimal(str(got)) == Decimal(want)
        except ArithmeticError:
            return False
    if isinstance(got, int) and ":" in want:  # a time of day, as ticks
        clock = want.split(":")
        seconds = int(clock[0]) * 3600 + int(clock[1]) * 60 + Decimal(clock[2])
        return any(seconds * per == got for per in UNITS.values())
    return isinstance(got, str) and (want == got or (want[1:2].isdigit() and trimmed(want.replace("T", " ")) == trimmed(got)))


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def difference(rows, got):
    """None, or the first thing that differs."""
    if len(rows) != len(got):
        return f"{len(rows)} rows wanted, {len(got)} got"
    for number_of_row, (want, have) in enumerate(zip(rows, got)):
        if len(want) != len(have):
            return f"row {number_of_row}: {len(want)} columns wanted, {len(have)} got"
        for column, (w, h) in enumerate(zip(want, have)):
            if not same(w, h):
                return f"row {number_of_row} column {column}: wanted {w!r:.120}, got {h!r:.120}"
    return None
