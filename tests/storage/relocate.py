"""Writes copies of Iceberg tables whose metadata names another location, in every file where paths stand.

relocate(folder, out, old, new): the table in `folder`, whose paths begin with `old`, becomes one in `out` with `new`.
Needs fastavro and pyarrow.
"""
import gzip
import io
import json
import os
import shutil

import fastavro
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

POSITION_DELETE_PATH = 2147483546


def changed(value, old, new):
    if isinstance(value, str):
        for spelling in (old, "file:" + old, "file://" + old):
            if value == spelling or value.startswith(spelling + "/"):
                return new + value[len(spelling):]
        return value
    if isinstance(value, dict):
        return {k: changed(v, old, new) for k, v in value.items()}
    if isinstance(value, list):
        return [changed(v, old, new) for v in value]
    return value


def relocate_json(path, out, old, new):
    opener = gzip.open if ".gz" in path else open
    with opener(path, "rb") as file:
        metadata = json.loads(file.read())
    with opener(out, "wb") as file:
        file.write(json.dumps(changed(metadata, old, new)).encode())


def plain_avro(path):
    """An Avro file with its blocks decompressed where fastavro needs more packages for their codec than pyarrow does."""
    with open(path, "rb") as file:
        reader = fastavro.block_reader(file)
        codec, head = reader.codec, file.tell()
        if codec not in ("snappy", "zstandard"):
            file.seek(0)
            return io.BytesIO(file.read())
        file.seek(0)
        data = file.read()
    out = io.BytesIO(data[:head].replace(b"avro.codec" + bytes([2 * len(codec)]) + codec.encode(), b"avro.codec\x08null"))
    sync, at = data[head - 16:head], io.BytesIO(data[head:])
    out.seek(0, io.SEEK_END)
    while (count := read_long(at)) is not None:
        block = at.read(read_long(at))
        at.read(len(sync))
        if codec == "snappy":
            plain = pa.Codec("snappy").decompress(block[:-4], read_varint(io.BytesIO(block)), asbytes=True)
        else:
            plain = pa.input_stream(pa.BufferReader(block), compression="zstd").read()
        out.write(write_long(count) + write_long(len(plain)) + plain + sync)
    out.seek(0)
    return out


def read_varint(file):
    value = shift = 0
    while True:
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 127) << shift
        shift += 7
        if byte[0] < 128:
            return value


def read_long(file):
    value = read_varint(file)
    return None if value is None else (value >> 1) ^ -(value & 1)


def write_long(value):
    value, out = value << 1, b""  # of what is not negative
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def relocate_avro(path, out, old, new, sizes):
    with plain_avro(path) as file:
        reader = fastavro.reader(file)
        records, schema, metadata = list(reader), reader.writer_schema, reader.metadata
    names = {f["name"] for f in schema["fields"]} if isinstance(schema, dict) else set()
    for record in records:
        if "manifest_length" in names:
            record["manifest_length"] = sizes.get(os.path.basename(record["manifest_path"]), record["manifest_length"])
        elif "data_file" in record:
            data = record["data_file"]
            data["file_size_in_bytes"] = sizes.get(os.path.basename(data["file_path"]), data["file_size_in_bytes"])
            # Bounds of file_path in position delete files are paths too: they would be wrong now.
            for key in ("lower_bounds", "upper_bounds"):
                if data.get("content") == 1 and data.get(key):
                    data[key] = [b for b in data[key] if b["key"] != POSITION_DELETE_PATH]
    kept = {k: v for k, v in metadata.items() if k not in ("avro.schema", "avro.codec")}
    with open(out, "wb") as file:
        fastavro.writer(file, fastavro.parse_schema(schema), changed(records, old, new), codec="deflate", metadata=kept)


def relocate_deletes(path, out, old, new):
    """A position delete file: true where it was one."""
    if path.endswith(".parquet"):
        table = pa.parquet.read_table(path)
        if "file_path" not in table.column_names:
            return False
        column = pa.array([changed(p, old, new) for p in table.column("file_path").to_pylist()], pa.string())
        at = table.column_names.index("file_path")
        pa.parquet.write_table(table.set_column(at, table.schema.field(at).with_type(pa.string()), column), out)
        return True
    if path.endswith(".orc"):
        table = pa.orc.read_table(path)
        if "file_path" not in table.column_names:
            return False
        at = table.column_names.index("file_path")
        column = pa.array([changed(p, old, new) for p in table.column("file_path").to_pylist()], pa.string())
        pa.orc.write_table(table.set_column(at, table.schema.field(at), column), out)  # the field carries its id
        return True
    if path.endswith(".avro"):
        with open(path, "rb") as file:
            reader = fastavro.reader(file)
            if not any(f["name"] == "file_path" for f in reader.writer_schema.get("fields", [])):
                return False
        relocate_avro(path, out, old, new, {})
        return True
    return False


def relocate(folder, out, old, new):
    shutil.rmtree(out, ignore_errors=True)
    sizes = {}
    every = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    # Manifests after the delete files and lists after manifests: each names the sizes of those before.
    def rank(path):
        name = os.path.basename(path)
        if "/metadata/" not in path:
            return 0
        return 3 if ".metadata.json" in name else 2 if name.startswith("snap-") else 1
    for path in sorted(every, key=rank):
        target = os.path.join(out, os.path.relpath(path, folder))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        level = rank(path)
        try:
            if level == 3:
                relocate_json(path, target, old, new)
            elif level and path.endswith(".avro"):
                relocate_avro(path, target, old, new, sizes)
            elif level or not relocate_deletes(path, target, old, new):
                shutil.copyfile(path, target)
        except (ValueError, KeyError, pa.ArrowInvalid):
            shutil.copyfile(path, target)  # orphans of a fixture are no files of their kind
        sizes[os.path.basename(path)] = os.path.getsize(target)
