"""Makes the ORC and Avro files of this folder, with pyarrow and fastavro. The rows beside them (.tsv) are what firn gave
for each file when its every cell had been compared with what pyarrow and fastavro read."""
import datetime
import decimal
import random
import uuid

import fastavro
import pyarrow as pa
import pyarrow.orc

random.seed(5)
ROWS = 400


def column(make, kind, nulls=0.1):
    return pa.array([None if random.random() < nulls else make(i) for i in range(ROWS)], kind)


def table():
    chance, number = random.random, random.randint
    day = datetime.timedelta(days=1)
    struct = pa.struct([("p", pa.int64()), ("q", pa.struct([("r", pa.string())]))])
    pairs = pa.list_(pa.struct([("a", pa.int64()), ("b", pa.string())]))
    return pa.table({
        "i8": column(lambda i: number(-128, 127), pa.int8()),
        "i16": column(lambda i: number(-32768, 32767), pa.int16()),
        "up": column(lambda i: i * 3, pa.int32(), 0),
        "i32": column(lambda i: number(-2**31, 2**31 - 1), pa.int32()),
        "patched": column(lambda i: number(0, 100) if chance() < 0.95 else number(0, 2**45), pa.int64(), 0),
        "signed": column(lambda i: number(-100, 100) if chance() < 0.95 else number(-2**60, 2**60), pa.int64(), 0),
        "down": column(lambda i: 10**9 - i * i, pa.int64(), 0),
        "repeats": column(lambda i: i // 7, pa.int64(), 0),
        "f32": column(lambda i: number(-1000, 1000) / 8, pa.float32()),
        "f64": column(lambda i: number(-10**9, 10**9) / 16, pa.float64()),
        "b": column(lambda i: chance() < 0.3, pa.bool_()),
        "words": column(lambda i: "s%d" % number(0, 20), pa.string()),
        "text": column(lambda i: "u%d" % number(0, 10**6) * number(0, 2), pa.string()),
        "bin": column(lambda i: bytes(number(97, 122) for _ in range(number(0, 5))), pa.binary()),
        "d9": column(lambda i: decimal.Decimal(number(-10**9 + 1, 10**9 - 1)).scaleb(-2), pa.decimal128(9, 2)),
        "d38": column(lambda i: decimal.Decimal(number(-10**28, 10**28)).scaleb(-10, decimal.Context(prec=50)), pa.decimal128(38, 10)),
        "dt": column(lambda i: datetime.date(1, 1, 1) + number(0, 3000000) * day, pa.date32()),
        "ts": column(lambda i: random.choice([number(-9 * 10**18, 9 * 10**18), number(-10**9, 10**9) * 10**9, number(-10**12, 10**12) * 10**6]), pa.timestamp("ns")),
        "tz": column(lambda i: number(-10**15, 10**15) * 1000, pa.timestamp("ns", "UTC")),
        "l": column(lambda i: [number(0, 9) if chance() < 0.8 else None for _ in range(number(0, 4))], pa.list_(pa.int32())),
        "ls": column(lambda i: [None if chance() < 0.2 else {"a": number(0, 9), "b": None if chance() < 0.3 else "x%d" % i} for _ in range(number(0, 2))], pairs),
        "st": column(lambda i: {"p": None if chance() < 0.2 else i, "q": {"r": None if chance() < 0.5 else "r%d" % (i % 7)}}, struct),
        "m": column(lambda i: [("k%d" % j, number(0, 99) if chance() < 0.7 else None) for j in range(number(0, 3))], pa.map_(pa.string(), pa.int32())),
        "none": pa.array([None] * ROWS, pa.int32()),
    })


UTC = datetime.timezone.utc


def avro_schema():
    def named(name, kind, **more):
        return {"name": name, "type": ["null", kind], **more}

    def logical(kind, name, **more):
        return {"type": kind, "logicalType": name, **more}

    inner = {"type": "record", "name": "r3", "fields": [{"name": "x", "type": "string"}, {"name": "y", "type": {"type": "array", "items": "double"}}]}
    entry = {"type": "record", "name": "k1", "fields": [{"name": "key", "type": "int", "field-id": 21}, {"name": "value", "type": ["null", "string"], "field-id": 22}]}
    return {"type": "record", "name": "t", "fields": [
        {"name": "i", "type": "int", "field-id": 1},
        {"name": "l", "type": ["long", "null"], "field-id": 2},
        named("f", "float"), {"name": "d", "type": "double"}, named("b", "boolean"), named("s", "string"), {"name": "by", "type": "bytes"},
        named("fx", {"type": "fixed", "name": "fx5", "size": 5}),
        named("e", {"type": "enum", "name": "en", "symbols": ["A", "B", "C"]}),
        named("dec", logical("bytes", "decimal", precision=20, scale=3)),
        named("dt", logical("int", "date")), named("tm", logical("long", "time-micros")),
        named("ts", {**logical("long", "timestamp-micros"), "adjust-to-utc": True}),
        named("tsm", logical("long", "timestamp-millis")), named("lts", logical("long", "local-timestamp-micros")),
        named("u", logical("string", "uuid")),
        named("arr", {"type": "array", "items": ["null", "int"], "element-id": 9}),
        named("m", {"type": "map", "values": ["null", "long"]}),
        named("lm", {**logical("array", "map"), "items": entry}),
        named("st", {"type": "record", "name": "r2", "fields": [named("a", "int"), named("in", inner)]}),
        {"name": "n", "type": "null"}]}


def avro_row(i):
    number = random.randint
    epoch = datetime.datetime(1970, 1, 1)

    def maybe(value):
        return None if random.random() < 0.15 else value

    return {
        "i": i, "l": maybe(number(-2**63, 2**63 - 1)), "f": maybe(number(-999, 999) / 8), "d": number(-10**9, 10**9) / 16,
        "b": maybe(i % 3 == 0), "s": maybe("s%d" % i), "by": bytes(number(97, 122) for _ in range(number(0, 5))), "fx": maybe(b"%05d" % i),
        "e": maybe("ABC"[i % 3]), "dec": maybe(decimal.Decimal(number(-10**15, 10**15)).scaleb(-3)),
        "dt": maybe(datetime.date(1, 1, 1) + datetime.timedelta(number(0, 3000000))),
        "tm": maybe(datetime.time(number(0, 23), 5, 6, number(0, 999999))),
        "ts": maybe(epoch.replace(tzinfo=UTC) + datetime.timedelta(microseconds=number(-10**15, 10**15))),
        "tsm": maybe(epoch.replace(tzinfo=UTC) + datetime.timedelta(milliseconds=number(-10**12, 10**12))),
        "lts": maybe(epoch + datetime.timedelta(microseconds=number(-10**15, 10**15))), "u": maybe(uuid.UUID(int=random.getrandbits(128))),
        "arr": maybe([maybe(j) for j in range(number(0, 4))]), "m": maybe({"k%d" % j: maybe(j) for j in range(number(0, 3))}),
        "lm": maybe([{"key": j, "value": maybe("v%d" % j)} for j in range(number(0, 3))]),
        "st": maybe({"a": maybe(i), "in": maybe({"x": "x%d" % i, "y": [1.5] * number(0, 2)})}), "n": None}


def main():
    rows = table()
    for codec in ["uncompressed", "zlib", "zstd"]:
        pa.orc.write_table(rows, f"types_{codec}.orc", compression=codec, row_index_stride=100, dictionary_key_size_threshold=0.5)
    pa.orc.write_table(rows, "types_rle1.orc", compression="snappy", row_index_stride=100, file_version="0.11")
    names = [c for c in rows.column_names if not pa.types.is_nested(rows.schema.field(c).type)]
    pa.orc.write_table(rows.select(names), "bloom.orc", compression="zlib", row_index_stride=100,
                       bloom_filter_columns=list(range(1, len(names) + 1)), bloom_filter_fpp=0.01)
    variant = pa.struct([pa.field("metadata", pa.binary()), pa.field("value", pa.binary())])
    attributes = {"iceberg.id": "2", "iceberg.struct-type": "VARIANT"}
    values = [{"metadata": b"\1\1\0\1a", "value": b"\2\1\0\0\2\x0c" + bytes([i])} if i % 3 else None for i in range(7)]
    pa.orc.write_table(pa.table([pa.array(range(7), pa.int32()), pa.array(values, variant)],
                                schema=pa.schema([pa.field("id", pa.int32()), pa.field("v", variant, metadata=attributes)])), "variant.orc")
    with open("types.avro", "wb") as out:
        fastavro.writer(out, avro_schema(), [avro_row(i) for i in range(ROWS)], codec="deflate", sync_interval=5000)


main()
