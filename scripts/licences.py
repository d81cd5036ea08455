#!/usr/bin/env python3
"""Puts the licences of the libraries that an installed firn carries into PREFIX/share/doc/firn/licences.

usage: licences.py PREFIX
Each library under PREFIX/lib/firn comes from a Debian package, whose copyright file is copied, or from the pyarrow wheel.
"""
import glob
import os
import shutil
import subprocess
import sys


def package_of(library):
    """The Debian package that owns a library of this name."""
    for folder in ("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"):
        place = os.path.join(folder, library)
        if os.path.exists(place):
            for path in (place, os.path.realpath(place)):
                found = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True)
                if found.returncode == 0:
                    return found.stdout.split(":")[0]
    return None


def main():
    prefix = sys.argv[1]
    target = os.path.join(prefix, "share/doc/firn/licences")
    os.makedirs(target, exist_ok=True)
    wheel = os.environ.get("FIRN_PYARROW") or ".deps/pyarrow"
    arrow = (glob.glob(wheel + "/LICENSE.txt") + glob.glob(wheel + "/../pyarrow-*.dist-info/licenses/LICENSE.txt") + [""])[0]
    for path in sorted(glob.glob(os.path.join(prefix, "lib/firn/*.so*"))):
        library = os.path.basename(path)
        if library.startswith("libarrow"):
            if os.path.exists(arrow):
                shutil.copy(arrow, os.path.join(target, "arrow.txt"))
            continue
        package = package_of(library)
        text = "/usr/share/doc/%s/copyright" % package
        if package and os.path.exists(text):
            shutil.copy(text, os.path.join(target, package + ".txt"))
        else:
            print("no licence text found for", library, file=sys.stderr)


main()
