#!/usr/bin/env python3
"""Tests of `firn local` as a command: what it takes, where it prints what, how it ends.

usage: run.py [--firn PATH] [-v] [NAME …]       a NAME is the name of a test function, without test_
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import engine  # noqa: E402

FIXTURES = os.path.join(os.path.dirname(HERE), "fixtures")
ENDLESS = "SELECT count() FROM numbers(1000000000000) WHERE number % 7 = 9"
FIRN = engine.DEFAULT


def local(*arguments, sql=None, **more):
    return engine.run(FIRN, arguments, sql, **more)


def good(want, *arguments, sql=None):
    """The run ends well, prints exactly want, and nothing on standard error."""
    done = local(*arguments, sql=sql)
    assert (done.status, done.out, done.err) == (0, want, ""), (done.status, done.out[:300], done.err[:300])


def bad(code, name, *arguments, sql=None, out=""):
    """The run ends with status 1, one error of this code and name, and only this output before it."""
    done = local(*arguments, sql=sql)
    assert done.status == 1, (done.status, done.out[:300], done.err[:300])
    assert done.out == out, done.out[:300]
    text = done.err.strip()
    assert re.match(rf"Code: {code}\. DB::Exception: ", text) and text.endswith(f"({name})"), text[:300]
    assert text.count("DB::Exception") == 1, text[:300]


# What is asked, and how

def test_query_argument():
    good("1\n", "-q", "SELECT 1")
    good("1\n", "--query", "SELECT 1")
    good("1\n", "--query=SELECT 1;")
    good("1\n2\n", "-q", "SELECT 1; SELECT 2")
    good("1\n2\n", "-q", "SELECT 1;\nSELECT 2;\n")


def test_standard_input():
    good("1\n", sql="SELECT 1")
    good("1\n", sql="SELECT 1;\n")
    good("1\n2\n", sql="SELECT 1; SELECT 2;")
    good("1\n2\n", "--multiquery", sql="SELECT 1;\n\nSELECT 2\n")


def test_nothing_to_do():
    good("", sql="")
    good("", sql="\n -- only a comment\n")
    good("1\n", sql=";;\nSELECT 1;; ;\n")


def test_semicolons_in_quotes_and_comments():
    good("a;b\n1\n", sql="SELECT 'a;b'; -- one; two\nSELECT /* ; */ 1;\n")


def test_queries_file():
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as f:
        f.write("SELECT 1;\nSELECT 2\n")
        f.flush()
        good("1\n2\n", "--queries-file", f.name)
        good("1\n2\n", "--queries-file=" + f.name)
    done = local("--queries-file", "/nowhere/at/all.sql")
    assert done.status == 1 and "/nowhere/at/all.sql" in done.err, (done.status, done.err)


def test_implicit_select():
    good("2\n", "-q", "1 + 1")


def test_parameters():
    good("7\tx\\'y\n", "--param_n=7", "--param_s=x'y", "-q", "SELECT {n:UInt8}, {s:String}")
    bad(456, "UNKNOWN_QUERY_PARAMETER", "-q", "SELECT {n:UInt8}")


def test_settings():
    good("1\n", "--max_threads=1", "-q", "SELECT getSetting('max_threads')")
    good("1\n", "--max_threads", "1", "-q", "SELECT getSetting('max_threads')")
    good("3\n", sql="SET max_threads = 3; SELECT getSetting('max_threads')")
    good("4\n3\n", sql="SET max_threads = 3; SELECT getSetting('max_threads') SETTINGS max_threads = 4; SELECT getSetting('max_threads')")
    done = local("--no_such_setting=1", "-q", "SELECT 1")
    assert done.status != 0 and done.out == "" and "no_such_setting" in done.err, (done.status, done.out, done.err)
    bad(115, "UNKNOWN_SETTING", sql="SET no_such_setting = 1")


def test_formats():
    good("1\ta\n", "-q", "SELECT 1, 'a'")
    good('1,"a"\n', "--format", "CSV", "-q", "SELECT 1, 'a'")
    good('1,"a"\n', "--format=CSV", "-q", "SELECT 1, 'a'")
    good('{"x":1}\n', "--format", "CSV", "-q", "SELECT 1 AS x FORMAT JSONEachRow")
    good("", "-q", "SELECT 1 FORMAT Null")
    bad(73, "UNKNOWN_FORMAT", "-q", "SELECT 1 FORMAT NoSuchFormat")


def test_time_zone_is_utc():
    env = dict(os.environ, TZ="Asia/Tokyo")
    done = local("-q", "SELECT toDateTime(0), timezone()", env=env)
    assert done.out in ("1970-01-01 00:00:00\tUTC\n",), done.out


# How it ends

def test_errors():
    bad(62, "SYNTAX_ERROR", "-q", "SELEC 1")
    bad(47, "UNKNOWN_IDENTIFIER", "-q", "SELECT nothing_of_this_name")
    bad(46, "UNKNOWN_FUNCTION", "-q", "SELECT noSuchFunction(1)")
    bad(60, "UNKNOWN_TABLE", "-q", "SELECT * FROM no_such_table")


def test_stops_at_first_error():
    bad(46, "UNKNOWN_FUNCTION", sql="SELECT 1; SELECT noSuchFunction(1); SELECT 3;", out="1\n")
    bad(62, "SYNTAX_ERROR", sql="SELECT 1; SELECT FROM WHERE; SELECT 3;", out="1\n")
    bad(46, "UNKNOWN_FUNCTION", "-q", "SELECT 1; SELECT noSuchFunction(1); SELECT 3", out="1\n")


def test_damaged_table_is_named():
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(FIXTURES + "/snap_appends", place + "/t")
        newest = sorted(f for f in os.listdir(place + "/t/metadata") if f.startswith("snap-"))
        for f in newest:
            open(f"{place}/t/metadata/{f}", "wb").write(b"Obj\x01 no avro")
        done = local("-q", f"SELECT count() FROM icebergLocal('{place}/t')")
        assert done.status == 1 and any(f in done.err for f in newest), done.err


def test_missing_table():
    bad(107, "FILE_DOESNT_EXIST", "-q", "SELECT * FROM icebergLocal('/tmp/there/is/no/table/here')")


def test_help_and_version():
    done = engine.run(FIRN, ["--help"])
    assert done.status == 0 and "--query" in done.out and done.err == "", (done.status, done.out[:200], done.err[:200])
    version = subprocess.run([FIRN, "--version"], capture_output=True, text=True)
    assert version.returncode == 0 and re.search(r"\d+\.\d+\.\d+", version.stdout), version
    usage = subprocess.run([FIRN, "--help"], capture_output=True, text=True)
    assert usage.returncode == 0 and "local" in usage.stdout, usage


def test_unknown_option():
    done = subprocess.run([FIRN, "local", "-Z"], capture_output=True, text=True, input="")
    assert done.returncode == 1 and done.stdout == "" and done.stderr, done


# What goes to standard error on request

def test_time():
    with_table = f"CREATE TABLE t ENGINE = IcebergLocal('{FIXTURES}/part_days'); SELECT count() FROM t; DROP TABLE t; SET max_threads = 1;"
    done = local("--time", "--format", "TSV", "--multiquery", sql=with_table)
    assert done.status == 0 and done.out == "11\n", (done.status, done.out, done.err)
    lines = done.err.splitlines()
    assert len(lines) == 4 and all(re.fullmatch(r"\d+\.\d{6}", line) for line in lines), lines


def test_profile_events():
    done = local("--print-profile-events", "-q", f"SELECT * FROM icebergLocal('{FIXTURES}/part_identity_int') FORMAT Null")
    assert done.status == 0 and done.out == "", done.err
    files = re.findall(r"\bEngineFileLikeReadFiles: (\d+)", done.err)
    assert files and int(files[-1]) > 0, done.err
    pruned = local("--print-profile-events", "-q", f"SELECT * FROM icebergLocal('{FIXTURES}/part_days') WHERE dt = '2024-02-29' FORMAT Null")
    found = dict(re.findall(r"\b([A-Z]\w+): (\d+)", pruned.err))
    kept = int(found.get("EngineFileLikeReadFiles", -1))
    dropped = sum(int(found.get(n, 0)) for n in ("IcebergPartitionPrunedFiles", "IcebergMinMaxIndexPrunedFiles", "IcebergPartitionPrunedManifestFiles"))
    assert 0 <= kept <= 2 and dropped > 0, pruned.err


# Spilling

SPILLS = "SELECT count(), sum(c) FROM (SELECT toString(number) AS s, count() AS c FROM numbers(600000) GROUP BY s)"


def test_groups_used_twice_are_made_once():
    trips = "icebergLocal('" + os.path.join(os.path.dirname(HERE), os.pardir, "demo", "trips") + "')"
    query = (f"WITH r AS (SELECT rider, sum(fare) AS total FROM {trips} GROUP BY rider) "
             "SELECT rider FROM r WHERE total = (SELECT max(total) FROM r)")

    def scanned(sql):
        done = local("--print-profile-events", "-q", sql)
        assert done.status == 0, done.err
        return int(re.search(r"ScannedRows: (\d+)", done.err).group(1))

    once = scanned(f"SELECT rider, sum(fare) FROM {trips} GROUP BY rider")
    assert once > 0 and scanned(query) == once
    assert scanned(query.replace("FROM r)", f"FROM (SELECT rider, sum(fare) AS total FROM {trips} WHERE electric GROUP BY rider))")) > once


def test_spilling_leaves_nothing():
    with tempfile.TemporaryDirectory() as place:
        for how in (["--firn_temporary_directory", place], []):
            done = local("--max_memory_usage", "20000000", "--print-profile-events", *how, "-q", SPILLS, env=dict(os.environ, TMPDIR=place))
            assert (done.status, done.out) == (0, "600000\t600000\n"), (done.status, done.out, done.err)
            found = dict(re.findall(r"\b([A-Z]\w+): (\d+)", done.err))
            for name in ("ExternalAggregationWritePart", "ExternalProcessingCompressedBytesTotal", "ExternalProcessingUncompressedBytesTotal"):
                assert int(found[name]) > 0, (name, done.err)
            assert os.listdir(place) == [], os.listdir(place)


def test_full_disk_while_spilling():
    with tempfile.TemporaryDirectory() as place:
        command = f"ulimit -f 100; exec '{FIRN}' local --max_memory_usage 20000000 --firn_temporary_directory '{place}' -q '{SPILLS}'"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "Code: 243." in done.stderr and place in done.stderr and "NOT_ENOUGH_SPACE" in done.stderr, (done.returncode, done.stderr)
        assert os.listdir(place) == [], os.listdir(place)


def spilling_in(place):
    """A process that has begun to spill there and would go on for long, and the name of its directory."""
    endless = "SELECT number FROM numbers(10000000000) ORDER BY cityHash64(number) FORMAT Null"
    process = subprocess.Popen([FIRN, "local", "--max_memory_usage", "20000000", "--firn_temporary_directory", place, "-q", endless], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # under nohup it would stay ignored
    end = time.time() + 30
    while not os.listdir(place) and time.time() < end:
        time.sleep(0.05)
    [left] = os.listdir(place)
    return process, left


def test_spilling_after_a_crash():
    with tempfile.TemporaryDirectory() as place:
        arguments = ["--firn_temporary_directory", place, "-q"]
        process, left = spilling_in(place)
        local("--max_memory_usage", "20000000", *arguments, SPILLS)  # takes nothing away from a living process
        assert os.listdir(place) == [left], os.listdir(place)
        process.kill()
        process.wait()
        assert os.listdir(place) == [left] and os.listdir(os.path.join(place, left)) == ["lock"], os.listdir(place)
        local(*arguments, "SELECT 1")  # the next start removes it, whether it spills or not
        assert os.listdir(place) == [], os.listdir(place)


def test_signals_leave_no_spilled_data():
    for signals in ([signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGINT, signal.SIGTERM]):
        with tempfile.TemporaryDirectory() as place:
            process, _ = spilling_in(place)
            for number in signals:
                process.send_signal(number)
            status = process.wait(timeout=20)
            assert os.listdir(place) == [], (signals, status, os.listdir(place))
            if signals == [signal.SIGINT]:
                assert status == 1, status
            elif signals[0] != signal.SIGINT:
                assert status == -signals[0], (signals, status)


def test_reader_goes_away_from_spilled_rows():
    with tempfile.TemporaryDirectory() as place:
        sql = "SELECT number FROM numbers(3000000) ORDER BY number + 1"
        process = subprocess.Popen([FIRN, "local", "--max_memory_usage", "20000000", "--firn_temporary_directory", place, "-q", sql], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout.readline() == b"0\n" and len(os.listdir(place)) == 1
        process.stdout.close()
        process.stderr.read()
        status = process.wait(timeout=20)
        assert status == -signal.SIGPIPE and os.listdir(place) == [], (status, os.listdir(place))


def test_hangup_stays_ignored():
    """As nohup asks for."""
    process = subprocess.Popen(["sh", "-c", f"trap '' HUP; exec '{FIRN}' local -q \"{ENDLESS}\""], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1.0)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert process.poll() is None
    process.terminate()
    assert process.wait(timeout=20) == -signal.SIGTERM


# Tables

def test_table_statements():
    place = FIXTURES + "/part_days"
    sql = f"""CREATE TABLE t ENGINE = IcebergLocal('{place}');
SHOW TABLES;
SELECT count() FROM t;
DESCRIBE t FORMAT TSV;
SHOW CREATE TABLE t FORMAT TSVRaw;
DROP TABLE t;
SHOW TABLES;
SELECT count() FROM icebergLocal('{place}');
"""
    done = local(sql=sql)
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0:2] == ["t", "11"] and lines[-1] == "11", lines
    assert any(line.startswith("dt\tNullable(Date32)") for line in lines), lines
    assert "IcebergLocal(" in done.out and "CREATE TABLE" in done.out, done.out
    assert os.path.exists(place + "/metadata/version-hint.text"), "DROP TABLE must leave the data"
    bad(60, "UNKNOWN_TABLE", sql=f"CREATE TABLE t ENGINE = IcebergLocal('{place}'); DROP TABLE t; SELECT * FROM t")
    bad(57, "TABLE_ALREADY_EXISTS", sql=f"CREATE TABLE t ENGINE = IcebergLocal('{place}'); CREATE TABLE t ENGINE = IcebergLocal('{place}');")


def test_deletes_found_by_earlier_queries():
    # Deleted rows are kept from one query to the next: of this snapshot and these delete files, not of others.
    for table in ("eqdel_mixed", "eqdel_basic", "eqdel_partitioned", "eqdel_schema_change", "eqdel_reinsert", "dv_partitioned"):
        place = os.path.join(FIXTURES, table)
        with open(place + ".expected.json", encoding="utf-8") as f:
            snapshots = [s["snapshot_id"] for s in json.load(f)["snapshots"]]
        asked = [f"SELECT * FROM icebergLocal('{place}'){where} ORDER BY ALL SETTINGS iceberg_snapshot_id = {s}"
                 for s in snapshots + snapshots[::-1] for where in ("", " WHERE id % 2 = 0")]
        alone = "".join(local("--use_iceberg_metadata_files_cache=0", "-q", query).out for query in asked)
        assert alone
        good(alone, sql=";\n".join(asked))
        good(alone, "--max_threads=1", "--max_block_size=2", sql=";\n".join(asked))
    place = os.path.join(FIXTURES, "eqdel_basic")
    done = local("--print-profile-events", sql=f"SELECT v FROM icebergLocal('{place}') FORMAT Null;" * 2)
    first, second = map(int, re.findall(r"ParquetDecodedPages: (\d+)", done.err))
    assert second < first, (first, second)  # the keys are not read again


def test_file_function():
    data = sorted(os.path.join(b, f) for b, _, fs in os.walk(FIXTURES + "/part_days/data") for f in fs if f.endswith(".parquet"))
    done = local("-q", f"SELECT count() > 0 FROM file('{data[0]}')")
    assert (done.status, done.out) == (0, "1\n"), (done.out, done.err)
    done = local("-q", f"SELECT count() > 0 FROM file('{data[0]}', Parquet)")
    assert (done.status, done.out) == (0, "1\n"), (done.out, done.err)


def test_relative_paths():
    done = local("-q", "SELECT count() FROM icebergLocal('part_days')", cwd=FIXTURES)
    assert (done.status, done.out) == (0, "11\n"), (done.out, done.err)


# Signals and pipes

def interrupted(signal_number):
    process = subprocess.Popen([FIRN, "local", "-q", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.0)
    assert process.poll() is None, process.communicate()
    begin = time.monotonic()
    process.send_signal(signal_number)
    out, err = process.communicate(timeout=20)
    return time.monotonic() - begin, process.returncode, out.decode(), err.decode()


def test_interrupt_stops_at_once():
    # 100 ms are promised; best of three, since the machine may be busy.
    runs = [interrupted(signal.SIGINT) for _ in range(3)]
    took, status, out, err = min(runs)
    assert took < 0.1, f"{took:.3f} s"
    assert status != 0 and out == "", (status, out, err)


def test_out_files_appear_whole():
    with tempfile.TemporaryDirectory() as place:
        def into(name, rest="", sql="SELECT 1 AS a, 'x' AS b"):
            return local("-q", f"{sql} INTO OUTFILE '{place}/{name}' {rest}")

        def text(name):
            with open(f"{place}/{name}") as file:
                return file.read()

        for name, wanted in (("a.csv", '1,"x"\n'), ("a.tsv", "1\tx\n"), ("a", "1\tx\n"), ("a.jsonl", '{"a":1,"b":"x"}\n')):
            assert into(name).status == 0 and text(name) == wanted, (name, text(name))
        assert into("a.csv", "FORMAT TSV").err.count("(CANNOT_OPEN_FILE)") == 1
        assert into("a.csv", "APPEND", "SELECT 2").status == 0 and text("a.csv") == '1,"x"\n2\n', text("a.csv")
        # What fails leaves what was there, and nothing else.
        assert "(FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)" in into("a.csv", "TRUNCATE", "SELECT throwIf(number = 5) FROM numbers(9)").err
        assert "(UNKNOWN_FORMAT)" in into("a.csv", "TRUNCATE FORMAT Nonsense").err
        assert text("a.csv") == '1,"x"\n2\n', text("a.csv")
        assert into("a.csv", "TRUNCATE").status == 0 and text("a.csv") == '1,"x"\n', text("a.csv")
        # Names that promise what is not written yet.
        for name in ("b.parquet", "b.csv.gz", "b.orc"):
            assert "(NOT_IMPLEMENTED)" in into(name).err, name
        assert into("c.csv.gz", "COMPRESSION 'none'").status == 0 and text("c.csv.gz") == '1,"x"\n'
        assert into("d.parquet", "FORMAT CSV").status == 0 and text("d.parquet") == '1,"x"\n'
        assert sorted(os.listdir(place)) == ["a", "a.csv", "a.jsonl", "a.tsv", "c.csv.gz", "d.parquet"], os.listdir(place)
        # Links and devices are written to as they are.
        os.symlink(f"{place}/a", f"{place}/link")
        assert into("link", "TRUNCATE", "SELECT 7").status == 0 and text("a") == "7\n" and os.path.islink(f"{place}/link")
        done = local("-q", "SELECT 8 INTO OUTFILE '/dev/stdout' TRUNCATE")
        assert (done.status, done.out) == (0, "8\n"), done


def test_terminate_stops_at_once():
    took, status, _, _ = min(interrupted(signal.SIGTERM) for _ in range(3))
    assert took < 0.1 and status != 0, (took, status)


def test_reader_goes_away():
    process = subprocess.Popen([FIRN, "local", "-q", "SELECT number FROM numbers(100000000)"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"0\n"
    process.stdout.close()
    err = process.stderr.read().decode()
    status = process.wait(timeout=20)
    assert status in (1, -signal.SIGPIPE, 141), (status, err)


def test_output_flows():
    """A statement's rows come before the next statement ends."""
    process = subprocess.Popen([FIRN, "local", "-q", "SELECT 'first'; " + ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    begin = time.monotonic()
    line = process.stdout.readline()
    took = time.monotonic() - begin
    process.kill()
    process.communicate()
    assert line == b"first\n" and took < 5, (line, took)


def test_terminal_gets_pretty_output():
    master, slave = pty.openpty()
    process = subprocess.Popen([FIRN, "local", "-q", "SELECT 1 AS x, 'a' AS y"], stdin=slave, stdout=slave, stderr=slave, env=dict(os.environ, TERM="xterm"))
    os.close(slave)
    out = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    assert process.wait(timeout=20) == 0, out
    assert "┌" in out.decode("utf-8", "replace") and b"1\ta" not in out, out


def test_interrupts_in_the_shell():
    """Every Ctrl-C cancels the statement of its time; the shell goes on."""
    pid, master = pty.fork()
    if pid == 0:
        os.execve(FIRN, [FIRN, "local"], dict(os.environ, TERM="dumb", HOME="/nonexistent"))
    out = b""

    def wait_for(text, count=1):
        nonlocal out
        while out.count(text) < count:
            assert select.select([master], [], [], 20)[0], out
            out += os.read(master, 65536)

    wait_for(b":)")
    for i in range(1, 4):
        os.write(master, ENDLESS.encode() + b";\n")
        time.sleep(1.0)
        os.write(master, b"\x03")
        wait_for(b"QUERY_WAS_CANCELLED", i)
    os.write(master, b"SELECT 40 + 2;\n")
    wait_for(b"42")
    os.write(master, b"exit\n")
    assert os.waitpid(pid, 0)[1] == 0, out
    os.close(master)


sys.exit(engine.run_tests(globals(), __doc__))
