"""How the tests speak to firn: one process, what went in, what came out."""
import argparse
import os
import re
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
DEFAULT = os.path.join(ROOT, "build/release/firn")


class Answer:
    """A finished run: exit status (negative: the signal that ended it), standard output and error as bytes and text."""

    def __init__(self, status, out, err):
        self.status, self.out_bytes, self.err_bytes = status, out, err
        self.out, self.err = out.decode("utf-8", "backslashreplace"), err.decode("utf-8", "replace")

    def error(self):
        """`Code: N (NAME)` of a failed run, or what else happened."""
        if self.status < 0:
            return "CRASH: signal %d" % -self.status
        code = re.search(r"Code: (\d+)", self.err)
        names = re.findall(r"\(([A-Z][A-Z0-9_]+)\)", self.err)
        return "Code: %s (%s)" % (code.group(1) if code else "?", names[-1] if names else "?")


SECONDS = float(os.environ.get("FIRN_TEST_SECONDS", "60"))  # that a statement may take; sanitized builds are given more


def run(firn, arguments=(), sql=None, timeout=SECONDS, cwd="/tmp", env=None):
    """Runs `firn local ARGUMENTS` with sql on standard input."""
    try:
        done = subprocess.run([os.path.abspath(firn), "local", *arguments], input=(sql or "").encode(), capture_output=True, timeout=timeout, cwd=cwd, env=env)
    except subprocess.TimeoutExpired as late:
        return Answer(-14, late.stdout or b"", (late.stderr or b"") + b"\ntimeout")
    return Answer(done.returncode, done.stdout, done.stderr)


def run_tests(tests, doc, prepare=None):
    """A test program's main: functions test_NAME of `tests`, a module's globals, in the order written; --firn becomes its FIRN,
    and is what `prepare` is called with before. The exit status."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firn", default=DEFAULT)
    parser.add_argument("-v", action="store_true", help="print each test and how long it took")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a test function, without test_")
    args = parser.parse_args()
    tests["FIRN"] = os.path.abspath(args.firn)
    if prepare:
        prepare(tests["FIRN"])
    passed = failed = 0
    for name, test in list(tests.items()):
        if not name.startswith("test_") or (args.names and name[5:] not in args.names):
            continue
        begin = time.time()
        try:
            test()
            passed += 1
            if args.v:
                print(f"ok   {name[5:]} ({time.time() - begin:.1f} s)", flush=True)
        except Exception as error:  # an assertion, a process that did not end, a server that did not start
            failed += 1
            print(f"FAIL {name[5:]}: {type(error).__name__}: {str(error)[:3000]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
