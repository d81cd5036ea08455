"""HDFS: Hadoop's minicluster, through WebHDFS. It has no Kerberos, so it takes a delegation token without looking at it."""
import json
import os
import urllib.parse

from access_parts import collections_and_disks
from fault_proxy import Fault, FaultProxy
from servers import Service
from stores import Hdfs, put_folder
from suite import FIXTURES, plain_environment, upload


def hdfs_users(suite, hdfs, http_port):
    """A table that its owner alone may read."""
    put_folder(Hdfs(http_port, "root"), "warehouse", "own/part_days", f"{FIXTURES}/part_days")
    for operation, query in (("SETOWNER", {"owner": "alice"}), ("SETPERMISSION", {"permission": "700"})):
        hdfs.operation("PUT", "/warehouse/own", operation, **query)
    at = f"127.0.0.1:{http_port}/warehouse/own/part_days"
    count = "SELECT count() FROM icebergHDFS"
    suite.gives("hdfs: user as an argument", f"{count}('webhdfs://{at}', user = 'alice')", "11")
    suite.gives("hdfs: user in the address", f"{count}('webhdfs://alice@{at}')", "11")
    suite.gives("hdfs: HADOOP_USER_NAME", f"{count}('webhdfs://{at}')", "11", env=plain_environment(HADOOP_USER_NAME="alice"))
    suite.fails("hdfs: another user", f"{count}('webhdfs://{at}', user = 'bob')", "HDFS_ERROR", 20, says="AccessControlException")
    proxy = FaultProxy(http_port)
    through = f"webhdfs://127.0.0.1:{proxy.port}/warehouse/fixtures/part_days"
    for label, arguments, env in (("argument", ", delegation_token = 'a/token+='", plain_environment()),
                                  ("environment", "", plain_environment(HADOOP_DELEGATION_TOKEN="a/token+="))):
        proxy.reset()
        suite.gives(f"hdfs: delegation token, {label}", f"{count}('{through}'{arguments})", "11", env=env)
        queries = [urllib.parse.parse_qs(urllib.parse.urlsplit(p).query) for _, p, _ in proxy.log]
        suite.check(f"hdfs: delegation token instead of a user, {label}", queries and all(q.get("delegation") == ["a/token+="] and "user.name" not in q for q in queries), str(proxy.log))
    proxy.close()
    answer = suite.ask(f"CREATE TABLE t ENGINE = IcebergHDFS('webhdfs://{at}', user = 'alice', delegation_token = 'a-secret-token'); SHOW CREATE TABLE t")
    suite.check("hdfs: engine hides its token", "a-secret-token" not in answer.out + answer.err, answer.out + answer.err)


def hdfs_unreachable(suite, http_port, work):
    """Clusters that firn cannot speak to say so."""
    count = "SELECT count() FROM icebergHDFS"
    for label, name, value, sql in (
            ("WebHDFS that is off", "dfs.webhdfs.enabled", "false", f"{count}('hdfs://127.0.0.1/warehouse/fixtures/part_days')"),
            ("Kerberos", "hadoop.security.authentication", "kerberos", f"{count}('webhdfs://127.0.0.1:{http_port}/warehouse/fixtures/part_days')")):
        conf = f"{work}/hadoop-{name}"
        os.makedirs(conf)
        with open(f"{conf}/core-site.xml", "w") as file:
            file.write(f"<configuration><property><name>{name}</name><value>{value}</value></property></configuration>")
        suite.fails(f"hdfs: {label}", sql, "NOT_IMPLEMENTED", 20, env=plain_environment(HADOOP_CONF_DIR=conf))
    suite.gives("hdfs: Kerberos with a token", sql, "11", env=plain_environment(HADOOP_CONF_DIR=conf, HADOOP_DELEGATION_TOKEN="token"))
    proxy = FaultProxy(http_port)
    proxy.reset(Fault(401, 1000))
    suite.fails("hdfs: a name node that wants Kerberos", f"{count}('webhdfs://127.0.0.1:{proxy.port}/warehouse/fixtures/part_days')", "NOT_IMPLEMENTED", 20, says="Kerberos", env=plain_environment())
    proxy.close()


def cluster_of(work, first, second):
    """An environment in which hdfs://cluster is a name service of two nodes, by their HTTP ports."""
    conf = f"{work}/cluster-{first}-{second}"
    os.makedirs(conf)
    properties = {"dfs.nameservices": "cluster", "dfs.ha.namenodes.cluster": "a,b", "dfs.namenode.http-address.cluster.a": f"127.0.0.1:{first}",
                  "dfs.namenode.http-address.cluster.b": f"127.0.0.1:{second}"}
    with open(f"{conf}/hdfs-site.xml", "w") as file:
        file.write("<configuration>" + "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in properties.items()) + "</configuration>")
    return plain_environment(HADOOP_CONF_DIR=conf)


def hdfs_two_name_nodes(suite, http_port, work):
    """A name service of two nodes, of which the first is on standby, or nobody listens there: the other is asked."""
    proxy = FaultProxy(http_port)
    said = {"RemoteException": {"exception": "StandbyException", "javaClassName": "org.apache.hadoop.ipc.StandbyException", "message": "Operation category READ is not supported in state standby"}}
    proxy.reset(Fault(403, 1000, body=json.dumps(said)))
    for label, first in (("on standby", proxy.port), ("down", 1)):
        suite.gives(f"hdfs: a name node {label}", "SELECT count() FROM icebergHDFS('hdfs://cluster/warehouse/fixtures/part_days')", "11", env=cluster_of(work, first, http_port))
    suite.check("hdfs: the node on standby was asked", proxy.log, str(proxy.log))
    proxy.close()


def hdfs_faults(suite, http_port, work):
    """A proxy before the name node, which sends on to another before the data node."""
    probe = Hdfs(http_port)
    location = probe.redirect("/warehouse/fixtures/part_days/metadata/version-hint.text")
    names, data = FaultProxy(http_port), FaultProxy(location.port)
    names.header = lambda name, value: value.replace(f"{location.hostname}:{location.port}", f"127.0.0.1:{data.port}") if name.lower() == "location" else value
    sql = f"SELECT sum(length(toString(tuple(*)))) FROM icebergHDFS('webhdfs://127.0.0.1:{names.port}/warehouse/fixtures/file_parquet_row_groups')"
    suite.faults("hdfs, data node", data, sql, "HDFS_ERROR", "http_receive_timeout = 1", data="/data/")
    suite.ask(sql)
    suite.check("hdfs: both nodes are asked", names.log and data.log, f"{names.log} {data.log}")
    suite.faults("hdfs, name node", names, sql, "HDFS_ERROR", "http_receive_timeout = 1")
    # A data node that cuts connections is no reason to leave the name node for the other.
    standby = FaultProxy(http_port)
    names.reset()
    data.reset(Fault("reset", 2, "/data/"))
    in_cluster = sql.replace(f"webhdfs://127.0.0.1:{names.port}", "hdfs://cluster")
    done, wanted = suite.ask(in_cluster, env=cluster_of(work, names.port, standby.port)), suite.ask(sql)
    suite.check("hdfs: a data node fails in a cluster", done.out and done.out == wanted.out, done.err)
    suite.check("hdfs: the other name node is left alone", names.log and not standby.log, str(standby.log))
    standby.close()
    names.close()
    data.close()


def part_hdfs(suite, work, tables):
    service = Service("hdfs", "--http-port", lambda port: port + 1, ports=2)
    port = service.port()
    http_port = port + 1
    try:
        hdfs = Hdfs(http_port)
        upload(hdfs, "warehouse", f"hdfs://127.0.0.1:{port}/warehouse/fixtures", tables, work)
        base = f"webhdfs://127.0.0.1:{http_port}/warehouse/fixtures"
        suite.gives("hdfs: table", f"SELECT count() FROM icebergHDFS('{base}/part_days')", "11")
        suite.gives("hdfs: hdfs:// with its HTTP address", f"SELECT count() FROM icebergHDFS('hdfs://127.0.0.1:{port}/warehouse/fixtures/part_days', webhdfs_url = 'http://127.0.0.1:{http_port}')", "11")
        conf = f"{work}/hadoop-conf"
        os.makedirs(conf, exist_ok=True)
        with open(f"{conf}/hdfs-site.xml", "w") as file:
            file.write(f"<configuration><property><name>dfs.namenode.http-address</name><value>127.0.0.1:{http_port}</value></property></configuration>")
        suite.gives("hdfs: HADOOP_CONF_DIR", f"SELECT count() FROM icebergHDFS('hdfs://127.0.0.1:{port}/warehouse/fixtures/part_days', 'Parquet')", "11", env={**os.environ, "HADOOP_CONF_DIR": conf})
        suite.gives("hdfs: files", f"SELECT count() > 0 FROM hdfs('{base}/part_days/data/**.parquet')", "1")
        suite.fails("hdfs: no table", f"SELECT count() FROM icebergHDFS('{base}/none')", "FILE_DOESNT_EXIST", 20)
        suite.fails("hdfs: nothing listening", "SELECT count() FROM icebergHDFS('webhdfs://127.0.0.1:1/t')", "HDFS_ERROR", 20)
        collections_and_disks(suite, "hdfs", work, "icebergHDFS", {"url": base + "/"}, {"type": "hdfs", "endpoint": base + "/"}, None)
        hdfs_users(suite, hdfs, http_port)
        hdfs_unreachable(suite, http_port, work)
        hdfs_two_name_nodes(suite, http_port, work)
        hdfs_faults(suite, http_port, work)
        suite.examples("storage.md", "hdfs", {"127.0.0.1:9870": f"127.0.0.1:{http_port}"})
        suite.fixtures("hdfs", f"icebergHDFS('{base}/{{name}}'{{inner}})", tables)
    finally:
        service.stop()
