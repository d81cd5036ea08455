"""A proxy between firn and a real server that hurts requests on purpose.

FaultProxy(target_port) listens on a port of its own. `latency` seconds are added to each request. `faults` is a list of
Fault, each for so many matching requests: later ones pass. `log` has (method, path, Range header) of every request since
reset(), `heads` the headers of each, with names in small letters; `connections` counts those that were made since then,
`most_open` is the largest number of them at one time. `host`, where set, is the Host that the server hears. Functions that a
test may set: `path(path)`, what is asked for in its place; `refuse(method, path, headers, body)`, (status, body) or None;
`body(path, body)` and `header(name, value)` of replies.
"""
import http.client
import re
import socket
import socketserver
import ssl
import threading
import time


SLOW_DOWN = "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


class Fault:
    """kind: a status (503) with `body`, "cut" (half the body, then the connection ends), "short" (half the body, and a head
    that says so), "hang" (no reply for `seconds`), "reset" (no reply at all), "garbage" (no HTTP). For requests that `match`
    the path, and for which `when` of the headers is true."""

    def __init__(self, kind, times=1, match="", method=None, headers=None, seconds=5.0, body=SLOW_DOWN, when=None):
        self.kind, self.times, self.match, self.method, self.headers, self.seconds = kind, times, match, method, headers or {}, seconds
        self.body, self.when = body.encode(), when

    def wants(self, method, path, headers):
        if self.times <= 0 or (self.method and self.method != method) or not re.search(self.match, path):
            return False
        if self.when and not self.when(headers):
            return False
        self.times -= 1
        return True


class FaultProxy:
    def __init__(self, target_port, latency=0.0, certificate=None):
        """certificate: (certificate file, key file): clients speak TLS."""
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
        self.target, self.latency, self.faults, self.log, self.heads = target_port, latency, [], [], []
        self.host = self.path = self.refuse = self.body = self.header = None
        self.lock = threading.Lock()
        self.connections = self.open = self.most_open = 0
        proxy = self

        class Handler(socketserver.StreamRequestHandler):
            disable_nagle_algorithm = True

            def handle(self):
                proxy.opened(1)
                try:
                    proxy.serve(self)
                finally:
                    proxy.opened(-1)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address, daemon_threads, request_queue_size = True, True, 256

            def get_request(self):
                connection, address = super().get_request()
                return (context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) if context else connection), address

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def reset(self, *faults):
        with self.lock:
            self.faults, self.log, self.heads = list(faults), [], []
            self.connections, self.most_open = 0, self.open

    def opened(self, more):
        with self.lock:
            self.open += more
            self.connections += max(0, more)
            self.most_open = max(self.most_open, self.open)

    def fault_for(self, method, path, headers):
        with self.lock:
            self.log.append((method, path, headers.get("range", "")))
            self.heads.append(headers)
            return next((f for f in self.faults if f.wants(method, path, headers)), None)

    def serve(self, handler):
        upstream = http.client.HTTPConnection("127.0.0.1", self.target, timeout=60)
        try:
            while True:
                line = handler.rfile.readline()
                if not line:
                    return
                method, path = line.decode("latin-1").split()[:2]
                headers, names = {}, []
                while (head := handler.rfile.readline().decode("latin-1").rstrip("\r\n")):
                    name, value = head.split(":", 1)
                    headers[name.lower()] = value.strip()
                    names.append((name, value.strip()))
                body = handler.rfile.read(int(headers.get("content-length", 0)))
                if self.latency:
                    time.sleep(self.latency)
                fault = self.fault_for(method, path, headers)
                if fault and not self.hurt_before(handler, fault):
                    return
                if fault and (isinstance(fault.kind, int) or fault.kind == "hang"):
                    continue
                refusal = self.refuse and self.refuse(method, path, headers, body)
                if refusal:
                    self.answer(handler, *refusal)
                    continue
                upstream.putrequest(method, self.path(path) if self.path else path, skip_host=True, skip_accept_encoding=True)
                for name, value in names:
                    if not (self.body and name.lower() == "accept-encoding"):
                        upstream.putheader(name, self.host if self.host and name.lower() == "host" else value)
                upstream.endheaders(body or None)
                if not self.reply(handler, upstream.getresponse(), method, path, fault):
                    return
        except (OSError, ValueError, http.client.HTTPException):
            pass
        finally:
            upstream.close()

    def hurt_before(self, handler, fault):
        """False where the connection ends here."""
        if isinstance(fault.kind, int):
            self.answer(handler, fault.kind, fault.body, fault.headers)
        elif fault.kind == "hang":
            time.sleep(fault.seconds)
            return False
        elif fault.kind == "reset":
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            return False
        elif fault.kind == "garbage":
            handler.wfile.write(b"\0\1\2 no HTTP at all\r\n\r\n")
            return False
        return True

    @staticmethod
    def answer(handler, status, body, headers=None):
        extra = "".join(f"{k}: {v}\r\n" for k, v in (headers or {}).items())
        handler.wfile.write(f"HTTP/1.1 {status} Fault\r\nContent-Length: {len(body)}\r\n{extra}\r\n".encode() + body)

    def reply(self, handler, reply, method, path, fault):
        body = reply.read()
        if self.body and method != "HEAD":
            body = self.body(path, body)
        length = reply.getheader("Content-Length") if method == "HEAD" else len(body)
        if fault and fault.kind == "short" and method != "HEAD":
            body = body[:len(body) // 2]
            length = len(body)
        lines = [f"HTTP/1.1 {reply.status} {reply.reason}"]
        lines += [f"{k}: {self.header(k, v) if self.header else v}" for k, v in reply.getheaders() if k.lower() not in ("content-length", "transfer-encoding", "connection")]
        if length is not None:
            lines.append(f"Content-Length: {length}")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if fault and fault.kind == "cut":
            handler.wfile.write(head + body[:len(body) // 2])
            return False
        handler.wfile.write(head + (b"" if method == "HEAD" else body))
        return True
