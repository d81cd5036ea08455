"""A stand-in for Unity Catalog: answers as its replies in tests/services/unity-replies, for one table of the fixtures."""
import json
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

REPLIES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "services/unity-replies")


def reply(name):
    """(status, body) of a reply as it was written down."""
    text = open(os.path.join(REPLIES, name + ".txt"), encoding="utf-8").read()
    body, status = re.fullmatch(r"(.*)\nHTTP (\d+)\n*", text, re.S).groups()
    return int(status), body


class Unity:
    """Serves http://127.0.0.1:port/api/2.1/unity-catalog. `metadata`: of the Iceberg table default.t; token: what callers must bear."""

    def __init__(self, metadata, token):
        outer = self
        self.token, self.metadata = token, metadata

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = outer.answer(urlsplit(self.path), self.headers)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/api/2.1/unity-catalog" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, url, headers):
        if headers.get("Authorization") != "Bearer " + self.token:
            return 401, json.dumps({"error_code": "UNAUTHENTICATED", "message": "who are you"})
        path, query = url.path.removeprefix("/api/2.1/unity-catalog"), parse_qs(url.query)
        if path == "/schemas":
            return reply("schemas")
        if path == "/tables":
            if query.get("page_token"):
                return 200, json.dumps({"tables": [], "next_page_token": None})
            return reply("tables")
        if path == "/tables/unity.default.delta_only":
            return reply("table")
        if path.startswith("/tables/"):
            return reply("table_missing")
        if path == "/iceberg/v1/config":
            return reply("ice_config")
        if path == "/iceberg/v1/catalogs/unity/namespaces/default/tables/t":
            status, body = reply("ice_table")
            return status, json.dumps(dict(json.loads(body), metadata=self.metadata))
        if path.startswith("/iceberg/v1/catalogs/unity/namespaces/"):
            return reply("ice_table_missing")
        return 404, ""

    def close(self):
        self.server.shutdown()
