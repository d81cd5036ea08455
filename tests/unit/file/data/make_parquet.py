"""Makes the Parquet files of this folder, with pyarrow: one table in several encodings, so that all have the same rows.
parquet_types.tsv is what firn gave when its every cell had been compared with what ClickHouse reads."""
import datetime
import decimal
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

random.seed(11)
ROWS = 500
chance, number = random.random, random.randint


def column(make, kind, nulls=0.1):
    return pa.array([None if chance() < nulls else make(i) for i in range(ROWS)], kind)


def decimal_of(digits, scale):
    return lambda i: decimal.Decimal(number(-10**digits + 1, 10**digits - 1)).scaleb(-scale, decimal.Context(prec=80))


def table():
    day = datetime.timedelta(days=1)
    struct = pa.struct([("p", pa.int64()), ("q", pa.struct([("r", pa.string())]))])
    pairs = pa.list_(pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))]))
    return pa.table({
        "i8": column(lambda i: number(-128, 127), pa.int8()),
        "u8": column(lambda i: number(0, 255), pa.uint8(), 0),
        "i16": column(lambda i: number(-32768, 32767), pa.int16()),
        "u32": column(lambda i: number(0, 2**32 - 1), pa.uint32()),
        "up": column(lambda i: i * 3, pa.int32(), 0),
        "i64": column(lambda i: number(-2**63, 2**63 - 1), pa.int64()),
        "u64": column(lambda i: number(0, 2**64 - 1), pa.uint64()),
        "few": column(lambda i: number(0, 5), pa.int64(), 0),
        "runs": column(lambda i: i // 90, pa.int64(), 0),
        "same": column(lambda i: 42, pa.int32(), 0),
        "nothing": column(lambda i: 1, pa.int32(), 1),
        "clumps": pa.array([None if i % 200 < 120 else i % 7 for i in range(ROWS)], pa.int32()),
        "f32": column(lambda i: number(-1000, 1000) / 8, pa.float32()),
        "f64": column(lambda i: number(-10**9, 10**9) / 16, pa.float64()),
        "b": column(lambda i: chance() < 0.3, pa.bool_()),
        "words": column(lambda i: "word%d" % number(0, 20), pa.string()),
        "text": column(lambda i: "t%d" % number(0, 10**6) * number(0, 2), pa.string()),
        "fix": column(lambda i: bytes([97 + i % 9] * 3), pa.binary(3)),
        "d4": column(decimal_of(9, 2), pa.decimal128(9, 2)),
        "d8": column(decimal_of(17, 4), pa.decimal128(18, 4)),
        "d16": column(decimal_of(30, 10), pa.decimal128(38, 10)),
        "d32": column(decimal_of(60, 20), pa.decimal256(70, 20)),
        "dt": column(lambda i: datetime.date(1970, 1, 1) + number(-20000, 20000) * day, pa.date32()),
        "ts": column(lambda i: number(-10**15, 10**15), pa.timestamp("us")),
        "ns": column(lambda i: number(-10**18, 10**18), pa.timestamp("ns", "UTC")),
        "list": column(lambda i: [None if chance() < 0.2 else number(0, 9) for _ in range(number(0, 4))], pa.list_(pa.int64())),
        "lists": column(lambda i: [["x%d" % number(0, 3)] * number(0, 2) for _ in range(number(0, 3))], pa.list_(pa.list_(pa.string()))),
        "map": column(lambda i: [("k%d" % j, number(0, 99)) for j in range(number(0, 3))], pa.map_(pa.string(), pa.int32())),
        "struct": column(lambda i: {"p": number(0, 9), "q": {"r": "r%d" % number(0, 5)} if chance() < 0.7 else None}, struct),
        "pairs": column(lambda i: [{"a": j, "b": ["z"] * number(0, 2)} for j in range(number(0, 3))], pairs),
    })


def main():
    rows = table()
    # Small pages, page indexes and checksums; two row groups.
    pq.write_table(rows, "parquet_dictionary_v1.parquet", compression="snappy", data_page_size=400, write_page_index=True,
                   write_page_checksum=True, row_group_size=300, write_batch_size=64)
    pq.write_table(rows, "parquet_dictionary_v2.parquet", compression="zstd", data_page_version="2.0", data_page_size=400,
                   row_group_size=300, write_batch_size=64)
    pq.write_table(rows, "parquet_plain.parquet", compression="none", use_dictionary=False, data_page_size=2048)
    # A dictionary that becomes too large midway: plain pages follow.
    pq.write_table(rows, "parquet_fallback.parquet", compression="gzip", dictionary_pagesize_limit=300, data_page_size=400,
                   write_batch_size=32)
    integers = ["i8", "u8", "i16", "u32", "up", "i64", "u64", "runs", "same", "clumps", "dt", "ts", "ns", "list.list.element", "struct.p"]
    encodings = {name: "DELTA_BINARY_PACKED" for name in integers}
    encodings |= {name: "BYTE_STREAM_SPLIT" for name in ["f32", "f64", "few", "fix", "d16", "d32"]}
    encodings |= {"b": "RLE", "words": "DELTA_BYTE_ARRAY", "text": "DELTA_LENGTH_BYTE_ARRAY", "d8": "DELTA_BYTE_ARRAY",
                  "map.key_value.key": "DELTA_BYTE_ARRAY", "lists.list.element.list.element": "DELTA_LENGTH_BYTE_ARRAY"}
    pq.write_table(rows, "parquet_encodings.parquet", compression="brotli", use_dictionary=False, column_encoding=encodings,
                   data_page_version="2.0", data_page_size=1024)
    late_nulls()


def late_nulls():
    """Optional columns of a dictionary whose first NULL comes in the midst of a row group and of a page."""
    absent = lambda i: i >= 350 and i % 3 == 0
    pq.write_table(pa.table({
        "number": pa.array([None if absent(i) else i % 7 for i in range(600)], pa.int32()),
        "word": pa.array([None if absent(i) else "w%d" % (i % 7) for i in range(600)]),
        "struct": pa.array([None if absent(i) else {"word": "w%d" % (i % 7)} for i in range(600)], pa.struct([("word", pa.string())])),
        "list": pa.array([[None if absent(i) else "w%d" % (i % 7)] for i in range(600)], pa.list_(pa.string())),
    }), "parquet_late_nulls.parquet", data_page_size=100, write_batch_size=100)


if __name__ == "__main__":
    sys.exit(main())
