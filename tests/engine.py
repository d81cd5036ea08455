"""How the tests speak to firn: one process, what went in, what came out."""
import os
import re
import subprocess

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


def run(firn, arguments=(), sql=None, timeout=60, cwd="/tmp", env=None):
    """Runs `firn local ARGUMENTS` with sql on standard input."""
    try:
        done = subprocess.run([os.path.abspath(firn), "local", *arguments], input=(sql or "").encode(), capture_output=True, timeout=timeout, cwd=cwd, env=env)
    except subprocess.TimeoutExpired as late:
        return Answer(-14, late.stdout or b"", (late.stderr or b"") + b"\ntimeout")
    return Answer(done.returncode, done.stdout, done.stderr)
