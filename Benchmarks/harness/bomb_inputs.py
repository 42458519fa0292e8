"""The inputs of `Benchmarks/run bombs`, each written in a stream."""

import gzip
import io
import random
import subprocess
from dataclasses import dataclass

from . import tools

GB = 1_000_000_000
MB = 1_000_000


@dataclass
class Bomb:
    """An input, how it is loaded, and what may come of it."""

    name: str
    file: str
    make: object  # (path, scale) -> None
    exits: tuple
    options: tuple = ()
    says: tuple = ()  # words that standard error must hold
    schema: str = ""  # SQL that makes the database first
    rows: object = None  # that the table must hold: a number, or what makes it of the scale
    rejected: object = None  # records, likewise
    query: str = ""  # SQL that must answer "ok"
    memory: str | None = None  # instead of the run's
    memories: tuple = ()  # one after the other, where the run names none
    window_mib: int = 0  # of a zstd frame, which comes on top
    is_mirrored: bool = False  # a folder that `upsurge mirror` takes


def repeated(unit, byte_count, level=3, head=b"", tail=b"", options=()):
    """Makes a .zst of `unit` over and over."""
    def make(path, scale):
        block = unit * max(1, (4 << 20) // len(unit))
        with open(path, "wb") as output:
            process = subprocess.Popen(
                [tools.program("zstd", "zstd"), "-q", f"-{level}", "-T2", *options],
                stdin=subprocess.PIPE, stdout=output)
            process.stdin.write(head)
            rest = int(byte_count * scale)
            while rest > 0:
                process.stdin.write(block[:rest])
                rest -= len(block)
            process.stdin.write(tail)
            process.stdin.close()
            if process.wait() != 0:
                raise RuntimeError("zstd failed")
    return make


def gzip_zeros(path, scale):
    """10 GB of zeros in 40 members: one is compressed, and written 40 times."""
    held = io.BytesIO()
    with gzip.GzipFile(fileobj=held, mode="wb", compresslevel=9, mtime=0) as output:
        for _ in range(250):
            output.write(bytes(MB))
    with open(path, "wb") as output:
        for _ in range(max(1, int(40 * scale))):
            output.write(held.getvalue())


def members(unit, count, command):
    """A compressed text, `count` times one after another."""
    def make(path, scale):
        one = subprocess.run([*command, "-c"], input=unit, stdout=subprocess.PIPE, check=True).stdout
        with open(path, "wb") as output:
            for _ in range(int(count * scale) // 1000):
                output.write(one * 1000)
    return make


def lines(generator):
    """Writes what the generator yields."""
    def make(path, scale):
        with open(path, "w", encoding="utf-8", newline="") as output:
            for text in generator(scale):
                output.write(text)
    return make


def wide_header(columns):
    def generate(_):
        yield ",".join(f"c{index}" for index in range(columns)) + "\n"
        for row in range(3):
            yield ",".join(str(row) for _ in range(columns)) + "\n"
    return lines(generate)


def many_keys(record_format):
    def generate(scale):
        yield "[" if record_format == "json" else ""
        yield "{" + ",".join(f'"k{index}":1' for index in range(max(10_000, int(1_000_000 * scale)))) + "}"
        yield "]" if record_format == "json" else "\n"
    return lines(generate)


def new_keys(scale):
    for index in range(int(100_000 * scale)):
        yield f'{{"id":{index},"key_{index}":{index}}}\n'


def skipped_keys(scale):
    for index in range(int(2_000_000 * scale)):
        yield f'{{"id":{index},"key_{index}":{index}}}\n'


def shapes(columns, share):
    def generate(scale):
        rng = random.Random(1)
        names = [f"c{index}" for index in range(columns)]
        for index in range(int(100_000 * scale)):
            taken = "".join(f',"{name}":{rng.randrange(1000)}' for name in names if rng.random() < share)
            yield f'{{"id":{index}{taken}}}\n'
    return lines(generate)


def every_column(columns):
    """Whole records, each key twice."""
    def generate(scale):
        rng = random.Random(2)
        count = max(2, int(2_000 * scale) // 2 * 2)
        for index in range(count):
            taken = "".join(f',"c{name}":{rng.randrange(1000)}' for name in range(columns))
            yield f'{{"id":{index % (count // 2)}{taken}}}\n'
    return lines(generate)


def partial(columns, share, records):
    """Records of as many shapes, each key twice."""
    def generate(scale):
        rng = random.Random(3)
        count = max(2, int(records * scale) // 2 * 2)
        for index in range(count):
            taken = "".join(f',"c{name}":{rng.randrange(1000)}' for name in range(columns) if rng.random() < share)
            yield f'{{"id":{index % (count // 2)}{taken}}}\n'
    return lines(generate)


def wide_rows(scale):
    rng = random.Random(4)
    yield ",".join(f"c{index}" for index in range(1999)) + "\n"
    for row in range(int(3_000 * scale)):
        yield f"{row * 7919 % 3001}," + ",".join(str(rng.randrange(1000)) for _ in range(1998)) + "\n"


def returning_keys(scale):
    """1,990 new columns, and then records that speak of one of them."""
    for index in range(max(4_000, int(100_000 * scale))):
        yield f'{{"id":{index},"key_{index % 1990}":{index}}}\n'


def large_keys(scale):
    """Keys of 3.9 MB, just below a quarter of 16 MiB, each four times."""
    for index in range(24):
        yield '{"id":"%s%d","v":%d}\n' % ("k" * 3_900_000, index % 6, index)


def table_of(columns, more="", declared=""):
    names = ", ".join(f"c{index}{declared}" for index in range(columns))
    return f"CREATE TABLE t (id INTEGER PRIMARY KEY, {names}{more});"


def audited(columns):
    """A table with a trigger for each column."""
    triggers = "".join(
        f"CREATE TRIGGER a{index} AFTER UPDATE OF c{index} ON t WHEN old.c{index} IS NOT new.c{index} "
        f"BEGIN INSERT INTO audit VALUES (new.id, 'c{index}', old.c{index}, new.c{index}); END;"
        for index in range(columns))
    return table_of(columns) + "CREATE TABLE audit (id, name, old, new);" + triggers


def warning_columns(scale):
    columns = int(2_000 * min(scale * 10, 1))
    yield ",".join(f"c{index}" for index in range(columns)) + "\n"
    for row in range(500):
        yield ",".join(("x" if row >= 400 else "7") for _ in range(columns)) + "\n"


def large_rejects(scale):
    """Short records that are stored, and ragged ones of 60 KB."""
    yield "a,b\n1,2\n"
    bad = "x" * 60_000 + "\n"
    for _ in range(int(20_000 * scale)):
        yield bad


def small_rejects(scale):
    yield "a,b\n1,2\n"
    for _ in range(int(50 * scale) or 1):
        yield "bad\n" * 100_000


def huge_field(scale):
    """A field of 2 GB among records that are good."""
    def make(path, scale):
        with open(path, "wb") as output:
            process = subprocess.Popen(
                [tools.program("zstd", "zstd"), "-q", "-1", "-T2"], stdin=subprocess.PIPE, stdout=output)
            process.stdin.write(b"a,b\n" + b"".join(b"%d,good\n" % n for n in range(1000)))
            block = b"x" * (4 << 20)
            process.stdin.write(b"1000,")
            for _ in range(int(512 * scale)):
                process.stdin.write(block)
            process.stdin.write(b"\n" + b"".join(b"%d,good\n" % n for n in range(1001, 2001)))
            process.stdin.close()
            process.wait()
    return make(scale[0], scale[1])


def large_records(escaped):
    """NDJSON records just below a quarter of --memory, twice the same key, so that the second updates the first."""
    def generate(scale):
        for number in range(12):
            unit = "ab\\n" if escaped else "abcd"
            text = unit * ((16 << 20) // 4 - 100)
            yield f'{{"id":{number % 3},"n":{number},"v":"{text}"}}\n'
    return lines(generate)


def many_files(path, scale):
    path.mkdir()
    for index in range(int(10_000 * scale)):
        (path / f"{index:05}.csv").write_text(f"a,b\n{index},x\n", encoding="utf-8")


def folder(extension, count, records):
    """Small files of records, each file's first key the last one of the file before it."""
    def make(path, scale):
        path.mkdir()
        for index, text in zip(range(max(2, int(count * scale))), records()):
            (path / f"{index:05}.{extension}").write_text(text, encoding="utf-8")
    return make


def wide_files():
    header = ",".join(["id", *(f"c{index}" for index in range(1_989))])
    for file in range(1 << 30):
        rows = (",".join([str(row), *(str(row * index % 97) for index in range(1_989))]) for row in range(file * 19, file * 19 + 20))
        yield header + "\n" + "".join(row + "\n" for row in rows)


def partial_files():
    rng = random.Random(4)
    for file in range(1 << 30):
        yield "".join(
            f'{{"id":{row}' + "".join(f',"c{name}":"{name}"' for name in rng.sample(range(1_989), 60)) + "}\n"
            for row in range(file * 49, file * 49 + 50))


def long_null(scale):
    yield "a,b\n"
    for index in range(100_000):
        yield f"{index},{'n' * 100}\n"


def million_byte_keys(scale):
    for index in range(int(300 * scale)):
        yield '{"id":%d,"%s%d":1}\n' % (index, "k" * MB, index)


def scaled(count):
    """So many of the records of an input, which has fewer at a smaller scale."""
    return lambda scale: int(count * scale)


def quarter(text):
    """Each of the three rows is the last of its records, whole."""
    return (f"SELECT CASE WHEN count(*) = 3 AND sum(n) = 30 AND sum(length(v)) = 3 * {(16 << 20) // 4 - 100} * length({text}) "
            f"AND sum(replace(v, {text}, '') = '') = 3 THEN 'ok' END FROM t")


RATIO = ("--max-ratio", "none")
REJECT = ("--on-error", "reject")
EACH_MEMORY = ("16MiB", "64MiB", "512MiB")
NO_CSV_TYPES = ("--infer", "none")

BOMBS = [
    Bomb("zeros.zst", "zeros.csv.zst", repeated(b"\0", 10 * GB), (65,), (), ("header", "--names")),
    Bomb("zeros.zst, NDJSON", "zeros.csv.zst", repeated(b"\0", 10 * GB), (65,), ("--format", "ndjson", *REJECT),
         ("--max-ratio",), schema="CREATE TABLE t (a)"),
    Bomb("zeros.zst, names", "zeros.csv.zst", repeated(b"\0", 10 * GB), (65,), ("--names", "a", "--no-header", *REJECT),
         ("--max-ratio",)),
    Bomb("zeros.gz", "zeros.csv.gz", gzip_zeros, (65,), (), ("header", "--names")),
    Bomb("zeros.gz, names", "zeros.csv.gz", gzip_zeros, (2,), ("--names", "a", "--no-header", *REJECT),
         ("--memory",), rows=0, rejected=1),
    Bomb("zeros.gz, --max-ratio 500", "zeros.csv.gz", gzip_zeros, (65,),
         ("--names", "a", "--no-header", *REJECT, "--max-ratio", "500"), ("--max-ratio",)),
    Bomb("newlines.zst", "newlines.csv.zst", repeated(b"\n", 10 * GB), (65,), (), ("--max-ratio",)),
    Bomb("newlines.zst, any ratio", "newlines1.csv.zst", repeated(b"\n", GB), (65,), RATIO, ("no records",)),
    Bomb("ab.zst", "ab.csv.zst", repeated(b"a,b\n", 10 * GB), (0,), ("--stop-after", "30000000"), rows=30_000_000),
    Bomb("ab.zst, any ratio", "ab.csv.zst", repeated(b"a,b\n", 10 * GB), (0,),
         RATIO + ("--stop-after", "10000000"), rows=10_000_000),
    Bomb("newlines.ndjson.zst", "newlines.ndjson.zst", repeated(b"\n", GB, head=b'{"a":1}\n'), (0,), RATIO, rows=1),
    Bomb("nest, document", "nest.json", lines(lambda s: ["[" * int(10 * MB * s)]), (65,), (), ("1024",)),
    Bomb("nest, document of objects", "nests.json", lines(lambda s: ['{"a":' * int(10 * MB * s)]), (65,),
         ("--format", "json"), ("1024",)),
    Bomb("nest, line", "nest.ndjson", lines(
        lambda s: ['{"a":1}\n', "[" * int(10 * MB * s), "\n", '{"a":2}\n']), (2,), REJECT, ("1024",), rows=2, rejected=1),
    Bomb("nest, value", "nestv.ndjson", lines(
        lambda s: ['{"a":1}\n', '{"a":', "[" * int(10 * MB * s), "\n", '{"a":2}\n']), (2,), REJECT, ("1024",), rows=2, rejected=1),
    Bomb("nest, value of a document", "nestd.json", lines(
        lambda s: ['[{"a":1},', '{"a":', "[" * int(10 * MB * s)]), (65,), REJECT, ("1024",)),
    Bomb("line, CSV", "line.csv.zst", repeated(b"abcdefgh,", 3 * GB), (65,), REJECT + RATIO, ("65536",)),
    Bomb("line, first field", "line1.csv.zst", repeated(b"a", 3 * GB, head=b"a,b\n"), (2,), REJECT + RATIO,
         ("--memory",), rows=0, rejected=1),
    Bomb("line, open quote", "quote.csv.zst", repeated(b"x", 3 * GB, head=b'a,b\n1,2\n3,"', tail=b"\n4,5\n"), (2,),
         REJECT + RATIO, ("--memory",), rows=2, rejected=1),
    Bomb("lines, open quote", "quotes.csv.zst", repeated(b"1,2\n", 400 * MB, head=b'a,b\n1,2\n3,"'), (2,),
         REJECT + RATIO + ("--stop-after", "1000000"), ("--memory", "--quote none"), rows=999_999, rejected=1),
    Bomb("line, NDJSON string", "line.ndjson.zst", repeated(
        b"x", 3 * GB, head=b'{"a":"1"}\n{"a":"', tail=b'"}\n{"a":"2"}\n'), (2,), REJECT + RATIO, ("--memory",), rows=2, rejected=1),
    Bomb("record of a document", "record.json.zst", repeated(b"x", 3 * GB, head=b'[{"a":"', tail=b'"}]'), (65,),
         REJECT + RATIO, ("--memory",)),
    Bomb("field among records", "field.csv.zst", lambda path, scale: huge_field((path, scale)), (2,),
         REJECT + RATIO, ("--memory",), rows=2000, rejected=1),
    Bomb("a million columns", "columns.csv", wide_header(1_000_000), (65,), (), ("65536",)),
    Bomb("..., --columns", "columns.csv", wide_header(1_000_000), (65,), ("--columns", "c3,c7"), ("65536",)),
    Bomb("60,000 columns", "columns60.csv", wide_header(60_000), (65,), (), ("2000",)),
    Bomb("..., --columns", "columns60.csv", wide_header(60_000), (0,), ("--columns", "c3,c7"), rows=3),
    Bomb("..., table exists", "columns60.csv", wide_header(60_000), (4,), (), ("c4",),
         schema="CREATE TABLE t (c1, c2, c3)"),
    Bomb("..., --alter", "columns60.csv", wide_header(60_000), (65,), ("--alter",), ("2000",),
         schema="CREATE TABLE t (c1, c2, c3)"),
    Bomb("60,000 columns of one name", "same.csv", lines(lambda s: [",".join(["name"] * 60_000) + "\n"] * 3), (65,),
         (), ("2000",)),
    Bomb("columns, --ragged extra", "columns.csv", wide_header(1_000_000), (0,),
         ("--names", "a,b,c", "--ragged", "extra", "--header-lines", "0", *REJECT), rows=4),
    Bomb("columns, --ragged pad", "columns.csv", wide_header(1_000_000), (2,),
         ("--names", "a,b,c", "--ragged", "pad", *REJECT), ("expected 3 fields",), rows=0, rejected=3),
    Bomb("columns, quarantined", "columns60.csv", wide_header(60_000), (65,), ("--contract", "quarantine"), ("2000",),
         schema="CREATE TABLE t (c1, c2, c3)"),
    Bomb("keys, NDJSON", "keys.ndjson", many_keys("ndjson"), (65,), (), ("2000",)),
    Bomb("keys, document", "keys.json", many_keys("json"), (65,), (), ("2000",)),
    Bomb("keys, --columns", "keys.ndjson", many_keys("ndjson"), (0,), ("--columns", "k3,k7"), rows=1),
    Bomb("keys, quarantined", "keys.ndjson", many_keys("ndjson"), (65,), ("--contract", "quarantine"), ("2000",),
         schema="CREATE TABLE t (k1, k2, k3)"),
    Bomb("new keys, new table", "newkeys.ndjson", lines(new_keys), (65,), (), ("2000",)),
    Bomb("new keys, rejected", "newkeys.ndjson", lines(new_keys), (2,), REJECT, ("2000",), rows=1999,
         rejected=lambda scale: int(100_000 * scale) - 1999),
    Bomb("new keys, --alter", "newkeys.ndjson", lines(new_keys), (65,), ("--alter",), ("2000",),
         schema="CREATE TABLE t (id INTEGER PRIMARY KEY)"),
    Bomb("new keys, quarantined", "newkeys.ndjson", lines(new_keys), (2,), ("--contract", "quarantine", *REJECT), ("2000",),
         schema="CREATE TABLE t (id INTEGER PRIMARY KEY)", rows=0, rejected=lambda scale: int(100_000 * scale) - 1999,
         query="SELECT CASE count(*) WHEN 1999 THEN 'ok' END FROM upsurge_quarantine"),
    Bomb("new keys, skipped", "skipped.ndjson", lines(skipped_keys), (0,), ("--columns", "id"), rows=scaled(2_000_000)),
    Bomb("keys of 1 MB", "longkeys.ndjson", lines(million_byte_keys), (2,), REJECT, ("1000001 bytes",), rows=1,
         rejected=lambda scale: int(300 * scale) - 1),
    Bomb("keys of 1 MB, skipped", "longkeys.ndjson", lines(million_byte_keys), (0,), ("--columns", "id"), rows=scaled(300)),
    Bomb("shapes, 30 columns", "shapes.ndjson", shapes(30, 0.5), (0,), ("--key", "id"), rows=scaled(100_000)),
    Bomb("shapes, 300 columns", "shapes300.ndjson", shapes(300, 0.1), (0,), ("--key", "id"), rows=scaled(100_000)),
    Bomb("shapes, appended", "shapes.ndjson", shapes(30, 0.5), (0,), rows=scaled(100_000)),
    Bomb("wide, audited, partial", "partial400.ndjson", partial(400, 0.1, 5_000), (0,), ("--key", "id"),
         schema=audited(400), rows=scaled(2_500), memories=EACH_MEMORY),
    Bomb("wide, audited, whole", "whole400.ndjson", every_column(400), (0,), ("--key", "id"), schema=audited(400),
         rows=scaled(1_000), memories=EACH_MEMORY),
    Bomb("wide, checked and computed", "partial400.ndjson", partial(400, 0.1, 5_000), (0,), ("--key", "id"),
         schema=table_of(400, ", g1 AS (c1 + c2), g2 AS (c3 || c4) STORED, CHECK (c1 IS NULL OR c1 < 1000)")
         + "".join(f"CREATE INDEX i{index} ON t (c{index}, c{index + 1});" for index in range(60)), rows=scaled(2_500),
         memories=EACH_MEMORY),
    Bomb("wide, coalesce", "whole1990.ndjson", every_column(1990), (0,), ("--key", "id", "--merge", "coalesce"),
         schema=table_of(1990), rows=scaled(1_000), memories=EACH_MEMORY),
    Bomb("wide, coalesce, partial", "partial1990.ndjson", partial(1990, 0.3, 2_000), (0,),
         ("--key", "id", "--merge", "coalesce"), schema=table_of(1990), rows=scaled(1_000), memories=EACH_MEMORY),
    Bomb("wide, newer, partial", "partial1990.ndjson", partial(1990, 0.3, 2_000), (0,),
         ("--key", "id", "--merge", "newer:c0", "--set", "c1=coalesce"), schema=table_of(1990), rows=scaled(1_000),
         memories=EACH_MEMORY),
    Bomb("wide, replaced, partial", "partial1990.ndjson", partial(1990, 0.3, 2_000), (0,), ("--key", "id"),
         schema=table_of(1990, declared=" INTEGER"), rows=scaled(1_000), memories=EACH_MEMORY),
    Bomb("wide, update", "whole1990.ndjson", every_column(1990), (0,), ("--key", "id", "--mode", "update"),
         schema=table_of(1990), rows=0, memories=EACH_MEMORY),
    Bomb("wide, ignore", "whole1990.ndjson", every_column(1990), (0,), ("--key", "id", "--mode", "ignore"),
         schema=table_of(1990), rows=scaled(1_000), memories=EACH_MEMORY),
    Bomb("wide, new table", "partial1990.ndjson", partial(1990, 0.3, 2_000), (0,),
         ("--key", "id", "--infer", "full", "--direct", "never"), rows=scaled(1_000), memories=EACH_MEMORY),
    Bomb("wide, changes", "whole1990.ndjson", every_column(1990), (0,),
         ("--key", "id", "--merge", "coalesce", "--dry-run=diff"), schema=table_of(1990), rows=0, memories=EACH_MEMORY),
    Bomb("1,999 columns, keyed", "wide.csv", lines(wide_rows), (0,), ("--key", "c0"), rows=scaled(3_000),
         memories=EACH_MEMORY),
    Bomb("1,999 columns, two keys", "wide.csv", lines(wide_rows), (0,), ("--key", "c5,c0", "--direct", "never"),
         rows=scaled(3_000), memories=EACH_MEMORY),
    Bomb("returning keys, --alter", "returning.ndjson", lines(returning_keys), (0,),
         ("--alter", "--key", "id", "--merge", "coalesce"), schema="CREATE TABLE t (id INTEGER PRIMARY KEY)",
         rows=lambda scale: max(4_000, int(100_000 * scale)), memories=EACH_MEMORY),
    Bomb("keys of 3.9 MB", "largekeys.ndjson", lines(large_keys), (0,), ("--key", "id"), rows=6, memories=EACH_MEMORY),
    Bomb("keys of 3.9 MB, changes", "largekeys.ndjson", lines(large_keys), (0,),
         ("--key", "id", "--dry-run=diff"), schema="CREATE TABLE t (id TEXT PRIMARY KEY, v)", rows=0,
         memories=EACH_MEMORY),
    Bomb("warnings", "warnings.csv", lines(warning_columns), (0,), REJECT, rows=500),
    Bomb("rejects of 60 KB", "rejects.csv", lines(large_rejects), (2,),
         (*REJECT, "--no-header", "--delimiter", "comma", "--names", "a,b"), ("expected 2 fields",), rows=2,
         rejected=scaled(20_000)),
    Bomb("rejects of 4 bytes", "smallrejects.csv", lines(small_rejects), (2,),
         (*REJECT, "--no-header", "--delimiter", "comma", "--names", "a,b"), ("expected 2 fields",), rows=2,
         rejected=lambda scale: (int(50 * scale) or 1) * 100_000),
    Bomb("records of a quarter", "large.ndjson", large_records(False), (0,), ("--key", "id"), rows=3,
         query=quarter("'abcd'")),
    Bomb("records of a quarter, \\n", "largeescaped.ndjson", large_records(True), (0,), ("--key", "id"), rows=3,
         query=quarter("'ab' || char(10)")),
    Bomb("window of 2 GiB", "window.csv.zst", repeated(b"a,b\n", 100 * MB, options=("--long=31", "--ultra")), (65,),
         (), ("--memory",)),
    Bomb("window of 128 MiB", "window27.csv.zst", repeated(b"a,b\n", 400 * MB, options=("--long=27",)), (0,),
         (*RATIO, "--stop-after", "1000000"), rows=1_000_000, window_mib=128),
    Bomb("tiny frames", "frames.csv.zst", members(b"a,b\n", 1_000_000, ("zstd", "-q")), (0,),
         rows=scaled(1_000_000)),
    Bomb("tiny members", "members.csv.gz", members(b"a,b\n", 1_000_000, ("gzip",)), (0,),
         rows=scaled(1_000_000)),
    Bomb("blank lines", "blank.csv", lines(lambda s: ["a,b\n", "\n" * 1_000_000, "1,2\n"]), (0,), rows=1),
    Bomb("null of 100 KB", "null.csv", lines(long_null), (0,), ("--null", "n" * 100_000), rows=100_000),
    Bomb("delimiter of 100 KB", "null.csv", lines(long_null), (0,), ("--delimiter", "n" * 100_000), rows=100_000),
    Bomb("10,000 files", "files", many_files, (0,), rows=scaled(10_000)),
    Bomb("10,000 files, a folder", "files", many_files, (0,), ("--kind", "delta", "--key", "a"), rows=scaled(10_000), memories=EACH_MEMORY,
         is_mirrored=True),
    Bomb("wide, a folder", "wide-files", folder("csv", 200, wide_files), (0,), ("--kind", "delta", "--key", "id"),
         rows=lambda scale: 19 * max(2, int(200 * scale)) + 1, memories=EACH_MEMORY, is_mirrored=True),
    Bomb("wide, partial, a folder", "partial-files", folder("ndjson", 200, partial_files), (0,),
         ("--kind", "delta", "--key", "id", "--merge", "coalesce"), schema=table_of(1_989),
         rows=lambda scale: 49 * max(2, int(200 * scale)) + 1, memories=EACH_MEMORY, is_mirrored=True),
]
