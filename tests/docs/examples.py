"""The examples in README.md and docs/: blocks ```sql and ```console. Words behind `sql` say more: `skip`, that a block is not
run; `config`, that it is run with each configuration of the page; any other the server that it needs, `s3`, `azure`, `rest` …, which the tests of storages and catalogs start."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^```(sql|console)([^\n]*)\n(.*?)^```[ \t]*\n(?:\s*^```text[^\n]*\n(.*?)^```[ \t]*$)?", re.M | re.S)


CONFIGURATION = re.compile(r"^```(xml|yaml)\n(.*?)^```[ \t]*$", re.M | re.S)


def tidy(text):
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


WORDS = {"", "skip", "config", "s3", "gcs", "azure", "hdfs", "rest", "nessie", "glue", "unity", "hive"}


def examples(path):
    """(line, kind, words after it, body, answer or None)"""
    text = open(path, encoding="utf-8").read()
    for found in BLOCK.finditer(text):
        if found[2].strip() not in WORDS:  # it would be an example that nothing runs
            raise AssertionError(f"{path}: nobody knows ```{found[1]}{found[2]}")
        yield text.count("\n", 0, found.start()) + 1, *found.groups()


def configurations(path):
    """(ending, text) of each configuration file that the page shows."""
    return CONFIGURATION.findall(open(path, encoding="utf-8").read())


def of_server(page, word, places):
    """The examples of docs/`page` that need that server: (line, statements, answer or None), where `places` are put in, a map
    of what stands in the text to what the tests have."""
    for line, kind, words, body, answer in examples(os.path.join(ROOT, "docs", page)):
        if kind == "sql" and words.split() == [word]:
            for old, new in places.items():
                if old not in body:
                    raise AssertionError(f"docs/{page}:{line}: {old} does not stand in the example")
                body = body.replace(old, new)
            yield line, body, answer
