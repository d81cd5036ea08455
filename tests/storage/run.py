#!/usr/bin/env python3
"""Reads tables from real servers: the fixtures' answers, every form of naming, and what becomes of faults.

usage: run.py [--firn PATH] [--only PART,…] [--tables NAME,…]
Parts: seaweedfs versitygw azurite gcs hdfs; over SeaweedFS secrets, many (queries at once) and trips (round trips beside the
peers, where they are installed). A server that cannot be installed fails its part. Needs fastavro and pyarrow.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from suite import FIXTURES, Suite, engine  # noqa: E402
from azure_part import part_azurite  # noqa: E402
from gcs_part import part_gcs  # noqa: E402
from hdfs_part import part_hdfs  # noqa: E402
from load_parts import part_many, part_secrets, part_trips  # noqa: E402
from s3_parts import part_seaweedfs, part_versitygw  # noqa: E402

# Every kind of file and delete, each format, each way a path can stand; --tables all takes them all.
SOME = ("types_v2_parquet,types_v2_orc,part_days,part_evolution,schema_evolution_orc,schema_mixed_formats,mor_posdel_v2,mor_posdel_partitioned,"
        "mor_posdel_orc_data_orc_deletes,mor_posdel_avro_data_parquet_deletes,eqdel_mixed,eqdel_avro,dv_v3,dv_partitioned,dv_large,"
        "snap_appends,snap_branches_tags,snap_gzip_metadata,snap_no_version_hint,snap_manifests_merged,snap_empty,mid_events,"
        "file_parquet_row_groups,file_object_store_layout,file_orc_codecs,layout_catalog_metadata,part_identity_string")

PARTS = {"seaweedfs": part_seaweedfs, "versitygw": part_versitygw, "azurite": part_azurite, "gcs": part_gcs, "hdfs": part_hdfs,
         "secrets": part_secrets, "many": part_many, "trips": part_trips}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=engine.DEFAULT)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, by comma")
    parser.add_argument("--tables", default=SOME, help="fixtures, by comma, or all")
    args = parser.parse_args()
    suite = Suite(os.path.abspath(args.firn))
    tables = sorted(n for n in os.listdir(FIXTURES) if os.path.isdir(f"{FIXTURES}/{n}/metadata")) if args.tables == "all" else args.tables.split(",")
    for name in args.only.split(","):
        work = tempfile.mkdtemp(prefix="firn-storage-")
        begin = time.time()
        try:
            PARTS[name](suite, work, tables)
        except Exception as error:  # the other parts still run
            suite.check(name, False, f"{type(error).__name__}: {error}")
        finally:
            shutil.rmtree(work, ignore_errors=True)
        print(f"{name}: {time.time() - begin:.0f} s", flush=True)
    print(f"{suite.passed} passed, {len(suite.failed)} failed")
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
