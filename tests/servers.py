"""Real servers for the tests, by the scripts of tests/services: started at first use on free ports of 127.0.0.1, ended at exit."""
import atexit
import inspect
import os
import re
import shutil
import socket
import subprocess
import tempfile

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "services")
PLACE = tempfile.mkdtemp(prefix="firn-servers-")
atexit.register(shutil.rmtree, PLACE, True)


def free_ports(count=1):
    """The first of `count` ports in a row on which nothing listens."""
    for _ in range(100):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            first = s.getsockname()[1]
        if first + count > 65535:
            continue
        try:
            for port in range(first + 1, first + count):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise RuntimeError("no free ports")


class Service:
    """One server. `ports`: how many it takes, one after the other. An option may be a function, called at the start: of the
    first port where it takes an argument. In a with statement it is stopped at its end, however that comes."""

    def __init__(self, script, *options, ports=1):
        self.command, self.options, self.ports = [os.path.join(SCRIPTS, script + ".sh")], options, ports
        self.name, self.started = script, None

    def port(self):
        if self.started is None:
            port = free_ports(self.ports)
            data = os.path.join(PLACE, f"{self.name}-{port}")
            options = [self.value(o, port) for o in self.options]
            subprocess.run([*self.command, "start", "--port", str(port), "--data", data, *options], check=True, stdout=subprocess.DEVNULL)
            atexit.register(self.stop)
            self.started = port, data
        return self.started[0]

    @staticmethod
    def value(option, port):
        if not callable(option):
            return str(option)
        return str(option(port) if inspect.signature(option).parameters else option())

    def url(self):
        return f"http://127.0.0.1:{self.port()}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.started:
            _, data = self.started
            subprocess.run([*self.command, "stop", "--data", data], stdout=subprocess.DEVNULL)
            shutil.rmtree(data, ignore_errors=True)
            self.started = None


def plain_environment(**more):
    """The environment without what would give firn keys, addresses or certificates."""
    return {**{k: v for k, v in os.environ.items() if not re.match(r"(AWS|AZURE|IDENTITY|GOOGLE|GCE|CLOUDSDK|HADOOP|STORAGE|SSL|CURL)_", k)}, **more}


def certificate_of(folder):
    """(certificate, key) of 127.0.0.1, signed by itself."""
    os.makedirs(folder, exist_ok=True)
    certificate, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=firn tests", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


# The keys that the S3 servers are started with, and that catalogs lend.
S3_KEY, S3_SECRET = "testkey", "testsecret"
