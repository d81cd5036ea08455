"""Putting files on the servers, with Python's standard library alone."""
import base64
import datetime
import hashlib
import hmac
import http.client
import os
import urllib.parse


class S3:
    def __init__(self, port, key="testkey", secret="testsecret", region="us-east-1"):
        self.port, self.key, self.secret, self.region = port, key, secret, region

    def request(self, method, path, body=b"", query="", service="s3", more=None):
        """more: headers, names in small letters."""
        host = f"127.0.0.1:{self.port}"
        path = urllib.parse.quote(path, safe="/-._~")
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(body).hexdigest()
        headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now, **(more or {})}
        signed = ";".join(sorted(headers))
        canonical = "\n".join([method, path, query, *(f"{k}:{headers[k]}" for k in sorted(headers)), "", signed, digest])
        scope = f"{now[:8]}/{self.region}/{service}/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + self.secret).encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={self.key}/{scope}, SignedHeaders={signed}, Signature={signature}"
        return send(self.port, method, path + ("?" + query if query else ""), headers, body)

    def make_bucket(self, bucket):
        self.request("PUT", f"/{bucket}")

    def put(self, bucket, key, body):
        status, text = self.request("PUT", f"/{bucket}/{key}", body)
        if status != 200:
            raise RuntimeError(f"put {bucket}/{key}: {status} {text[:200]}")


class Azure:
    account = "devstoreaccount1"
    account_key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

    def __init__(self, port, tls=None):
        """tls: an ssl.SSLContext, where the server speaks it."""
        self.port, self.tls = port, tls

    def shared_access(self, container, seconds, permissions="rl"):
        """A SAS of a container, good for so many seconds from now."""
        expiry = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
        version = "2021-12-02"
        text = "\n".join([permissions, "", expiry, f"/blob/{self.account}/{container}", "", "", "", version, "c", "", "", "", "", "", "", ""])
        signature = base64.b64encode(hmac.new(base64.b64decode(self.account_key), text.encode(), hashlib.sha256).digest()).decode()
        return urllib.parse.urlencode({"sv": version, "se": expiry, "sr": "c", "sp": permissions, "sig": signature})

    def request(self, method, path, body=b"", query=None, headers=None):
        query, path = query or {}, f"/{self.account}" + urllib.parse.quote(path, safe="/-._~")
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
        headers = {"x-ms-date": now, "x-ms-version": "2021-12-02", **(headers or {})}
        own = "".join(f"{k}:{headers[k]}\n" for k in sorted(headers))
        resource = f"/{self.account}{path}" + "".join(f"\n{k}:{query[k]}" for k in sorted(query))
        text = f"{method}\n\n\n{len(body) or ''}\n\n\n\n\n\n\n\n\n{own}{resource}"
        signature = base64.b64encode(hmac.new(base64.b64decode(self.account_key), text.encode(), hashlib.sha256).digest()).decode()
        headers["Authorization"] = f"SharedKey {self.account}:{signature}"
        return send(self.port, method, path + ("?" + urllib.parse.urlencode(query) if query else ""), headers, body, tls=self.tls)

    def make_bucket(self, container):
        self.request("PUT", f"/{container}", query={"restype": "container"})

    def put(self, container, key, body):
        status, text = self.request("PUT", f"/{container}/{key}", body, headers={"x-ms-blob-type": "BlockBlob"})
        if status != 201:
            raise RuntimeError(f"put {container}/{key}: {status} {text[:200]}")


class Gcs:
    def __init__(self, port):
        self.port = port

    def make_bucket(self, bucket):
        send(self.port, "POST", "/storage/v1/b?project=tests", {"Content-Type": "application/json"}, ('{"name": "%s"}' % bucket).encode())

    def put(self, bucket, key, body):
        query = urllib.parse.urlencode({"uploadType": "media", "name": key})
        status, text = send(self.port, "POST", f"/upload/storage/v1/b/{bucket}/o?{query}", {"Content-Type": "application/octet-stream"}, body)
        if status != 200:
            raise RuntimeError(f"put {bucket}/{key}: {status} {text[:200]}")


class Hdfs:
    def __init__(self, port, user="root"):
        self.port, self.user = port, user

    def make_bucket(self, folder):
        pass

    def operation(self, method, path, operation, **query):
        """(status, body) of an operation that is not redirected."""
        query = urllib.parse.urlencode({"op": operation, "user.name": self.user, **query})
        return send(self.port, method, f"/webhdfs/v1{path}?{query}", {}, b"")

    def redirect(self, path):
        """The address of the data node that a file is read from, split."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/webhdfs/v1{path}?op=OPEN&user.name={self.user}")
        return urllib.parse.urlsplit(connection.getresponse().getheader("Location"))

    def put(self, folder, key, body):
        path = urllib.parse.quote(f"/webhdfs/v1/{folder}/{key}", safe="/-._~")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("PUT", f"{path}?op=CREATE&overwrite=true&user.name={self.user}")
        reply = connection.getresponse()
        reply.read()
        at = urllib.parse.urlsplit(reply.getheader("Location"))
        status, text = send(at.port, "PUT", f"{at.path}?{at.query}", {"Content-Type": "application/octet-stream"}, body, host=at.hostname)
        if status != 201:
            raise RuntimeError(f"put {folder}/{key}: {status} {text[:200]}")


def send(port, method, path, headers, body, host="127.0.0.1", tls=None):
    connection = http.client.HTTPSConnection(host, port, timeout=60, context=tls) if tls else http.client.HTTPConnection(host, port, timeout=60)
    connection.putrequest(method, path, skip_host="host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body or None)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    return reply.status, text


def put_folder(store, bucket, prefix, folder):
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                store.put(bucket, f"{prefix}/{os.path.relpath(path, folder)}", file.read())
