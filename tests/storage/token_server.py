"""A server of OAuth2 tokens on loopback, as tenants and machines have them."""
import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class TokenServer:
    """`answer()` gives (status, what the reply's JSON says, or its text). `asked` has (path, fields, headers) of each request, of whose query
    or form the fields are."""

    def __init__(self, answer):
        outer = self
        self.asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.reply(urllib.parse.urlsplit(self.path).query)

            def do_POST(self):
                self.reply(self.rfile.read(int(self.headers["Content-Length"])).decode())

            def do_PUT(self):
                self.reply("")

            def reply(self, query):
                fields = {k: v[0] for k, v in urllib.parse.parse_qs(query).items()}
                outer.asked.append((urllib.parse.urlsplit(self.path).path, fields, dict(self.headers)))
                status, said = answer()
                body = (said if isinstance(said, str) else json.dumps(said)).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = "http://" + self.address
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
