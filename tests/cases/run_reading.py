#!/usr/bin/env python3
"""Runs the cases that only read (those without check.py), with their limits on files opened.

usage: run_reading.py [--firn PATH]
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--firn", default=os.path.join(HERE, "../../build/release/firn"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        for name in sorted(os.listdir(HERE)):
            if os.path.exists(f"{HERE}/{name}/case.sql") and not os.path.exists(f"{HERE}/{name}/check.py"):
                os.symlink(f"{HERE}/{name}", f"{place}/{name}")
        done = subprocess.run([sys.executable, f"{HERE}/run_cases.py", "--cmd", os.path.abspath(args.firn) + " local --multiquery", "--cases", place, "--pruned"])
    return done.returncode


sys.exit(main())
