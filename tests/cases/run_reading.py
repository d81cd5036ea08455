#!/usr/bin/env python3
"""Runs the cases that only read (those without check.py), with their limits on files opened.

usage: run_reading.py [--firn PATH]
"""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--firn", default=os.path.join(HERE, "../../build/release/firn"))
    args = parser.parse_args()
    names = [n for n in sorted(os.listdir(HERE)) if os.path.exists(f"{HERE}/{n}/case.sql") and not os.path.exists(f"{HERE}/{n}/check.py")]
    only = "^(" + "|".join(map(re.escape, names)) + ")$"
    command = os.path.abspath(args.firn) + " local --multiquery"
    return subprocess.run([sys.executable, f"{HERE}/run_cases.py", "--cmd", command, "--cases", HERE, "--only", only, "--pruned"]).returncode


sys.exit(main())
