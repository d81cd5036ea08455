#!/usr/bin/env python3
"""Tests of DataLakeCatalog databases against real catalogs, started by the scripts of tests/services.

usage: run.py [--firn PATH] [-v] [NAME …]       a NAME is the name of a test function, without test_
Tables are the fixtures: on the local disk, registered in each catalog under their own metadata files, and rewritten to S3 with keys
that the catalogs lend. A server is started when the first test wants it; all are stopped at the end. Needs fastavro and pyarrow.
"""
import sys

import house
import other_tests
import rest_tests
import storage_tests


def test_no_secret_was_printed():
    """Run last, over all that was printed."""
    assert house.CAUGHT, "run together with the tests that print"
    everything = "\n".join(house.CAUGHT)
    for secret in ["s3cret-of-the-catalog", "glue-secret-key", "glue-signing-secret", "unity-bearer-token", "wrong-unity-token", "wrong-secret", "no-such-token", "wrong-storage-secret",
                   "rest-signing-secret", "session+token", house.S3_SECRET, *house.GIVEN]:
        assert secret not in everything, secret


if __name__ == "__main__":
    tests = {}
    for module in (rest_tests, other_tests, storage_tests, sys.modules["__main__"]):
        tests.update((name, test) for name, test in vars(module).items() if name.startswith("test_"))
    sys.exit(house.engine.run_tests(tests, __doc__, house.prepare))
