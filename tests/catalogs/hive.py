"""What the tests need of a Hive metastore: databases and tables made through Thrift's binary protocol, by hand."""
import socket
import struct
import threading

STOP, BOOL, I32, STRING, STRUCT, MAP, LIST = 0, 2, 8, 11, 12, 13, 15


def text(value):
    data = value.encode()
    return struct.pack(">i", len(data)) + data


def field(kind, number, body):
    return struct.pack(">bh", kind, number) + body


def text_map(values):
    return struct.pack(">bbi", STRING, STRING, len(values)) + b"".join(text(k) + text(v) for k, v in values.items())


def struct_of(*fields):
    return b"".join(fields) + bytes([STOP])


class Metastore:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)

    def call(self, method, *fields):
        name = text(method)
        self.socket.sendall(struct.pack(">I", 0x80010001) + name + struct.pack(">i", 1) + struct_of(*fields))
        head = self.read(4 + 4 + len(method) + 4)
        assert head[3] == 2, (method, head)  # a reply, no exception of the protocol
        kind = self.read(1)[0]
        if kind == STOP:
            return
        number = struct.unpack(">h", self.read(2))[0]
        self.socket.settimeout(1)
        rest = self.socket.recv(65536)
        assert number == 0, (method, number, rest)

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            assert more, "the metastore closed the connection"
            data += more
        return data

    def create_database(self, name, location):
        database = struct_of(field(STRING, 1, text(name)), field(STRING, 2, text("")), field(STRING, 3, text(location)),
                             field(MAP, 4, text_map({})))
        self.call("create_database", field(STRUCT, 1, database))

    def create_table(self, database, name, location, parameters):
        serde = struct_of(field(STRING, 1, text("")), field(STRING, 2, text("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe")), field(MAP, 3, text_map({})))
        column = struct_of(field(STRING, 1, text("id")), field(STRING, 2, text("int")), field(STRING, 3, text("")))
        storage = struct_of(field(LIST, 1, struct.pack(">bi", STRUCT, 1) + column), field(STRING, 2, text(location)),
                            field(STRING, 3, text("org.apache.hadoop.mapred.FileInputFormat")), field(STRING, 4, text("org.apache.hadoop.mapred.FileOutputFormat")),
                            field(BOOL, 5, b"\0"), field(I32, 6, struct.pack(">i", 0)), field(STRUCT, 7, serde),
                            field(LIST, 8, struct.pack(">bi", STRING, 0)), field(LIST, 9, struct.pack(">bi", STRUCT, 0)), field(MAP, 10, text_map({})))
        table = struct_of(field(STRING, 1, text(name)), field(STRING, 2, text(database)), field(STRING, 3, text("tests")), field(I32, 4, struct.pack(">i", 0)),
                          field(I32, 5, struct.pack(">i", 0)), field(I32, 6, struct.pack(">i", 0)), field(STRUCT, 7, storage),
                          field(LIST, 8, struct.pack(">bi", STRUCT, 0)), field(MAP, 9, text_map(parameters)), field(STRING, 12, text("EXTERNAL_TABLE")))
        self.call("create_table", field(STRUCT, 1, table))


class Relay:
    """Hands bytes on to a metastore and back, of each connection the first `answers` calls; later ones are heard and not answered."""

    def __init__(self, target, answers):
        self.target, self.answers, self.connections = target, answers, 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        try:
            while True:
                connection, _ = self.server.accept()
                self.connections += 1
                threading.Thread(target=self.relay, args=(connection,), daemon=True).start()
        except OSError:  # closed
            pass

    def relay(self, connection):
        with connection, socket.create_connection(("127.0.0.1", self.target)) as upstream:
            threading.Thread(target=self.back, args=(upstream, connection), daemon=True).start()
            calls = 0
            while data := connection.recv(65536):
                calls += data[:2] == b"\x80\x01"  # the version that each call begins with
                if calls <= self.answers:
                    upstream.sendall(data)

    @staticmethod
    def back(upstream, connection):
        try:
            while data := upstream.recv(65536):
                connection.sendall(data)
        except OSError:  # the other side is gone
            pass

    def close(self):
        self.server.close()
