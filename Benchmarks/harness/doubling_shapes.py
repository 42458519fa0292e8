"""The inputs of `Benchmarks/run doublings`: one record, or one header, that is as large as asked for."""

from dataclasses import dataclass, field

MANY_COLUMNS = 2_000
# In front of a record that is rejected: a new table needs one that is not.
GOOD = '{"id":0}\n'


@dataclass
class Shape:
    """How an input of a size is made, and how it is loaded."""

    name: str
    make: object  # byte count -> bytes
    suffix: str = "ndjson"
    options: tuple = ()
    schema: str = ""  # SQL that makes the database first
    # Sizes count columns, not bytes: SQLite's limit ends the doubling.
    counts_columns: bool = False
    column_options: object = None  # column count -> options
    exits: tuple = (0, 2)

    def first(self):
        """A file of one good record."""
        if self.suffix == "csv":
            return b"id,a\n1,2\n"
        if "--json-path" in self.options:
            return b'{"rows":[{"id":1}]}\n'
        return b'["id","a"]\n[1,2]\n' if self.name == "surplus elements" else b'{"id":1,"a":1}\n'


def filled(head, unit, tail):
    """`unit` over and over; a text with {i} is numbered."""
    head, unit, tail = head.encode(), unit.encode(), tail.encode()

    def make(size):
        rest = size - len(head) - len(tail)
        if b"{i}" not in unit:
            return head + unit * max(rest // len(unit), 0) + tail
        parts, length, index = [], 0, 0
        while length < rest:
            parts.append(unit.replace(b"{i}", str(index).encode()))
            length += len(parts[-1])
            index += 1
        return head + b"".join(parts) + tail
    return make


def other_order(size):
    """Records of the same 20,000 keys, each in an order of its own."""
    import random

    rng = random.Random(1)
    keys = [f'"k{index}":1' for index in range(min(20_000, max(10, size // 60)))]
    lines, length = [], 0
    while length < size:
        rng.shuffle(keys)
        lines.append('{"id":%d,%s}\n' % (len(lines), ",".join(keys)))
        length += len(lines[-1])
    return "".join(lines).encode()


def many_then_few(size):
    """An object with many keys that is said again, with one of them, over and over."""
    keys = ",".join(f'"k{index}":1' for index in range(size // 24))
    again = ',"a":{"k0":1}'
    rest = size - len(keys) - 30
    return (GOOD + '{"id":1,"a":{%s}%s}\n' % (keys, again * (rest // len(again)))).encode()


def long_parent(size):
    """A long key around many short ones."""
    name = "p" * (size // 2)
    return filled(GOOD + '{"id":1,"' + name + '":{"x":1', ',"k{i}":1', "}}\n")(size)


def deep(depth, opening, closing, head, tail, joint=","):
    unit = opening * depth + "1" + closing * depth

    def make(size):
        count = max(1, (size - len(head) - len(tail)) // (len(unit) + len(joint)))
        return (head + joint.join([unit] * count) + tail).encode()
    return make


def deep_keys(size):
    """Objects in objects, 400 deep, beside each other."""
    unit = '"k{i}":' + '{"a":' * 400 + "1" + "}" * 400
    return filled(GOOD + '{"id":1', "," + unit, "}\n")(size)


def table(count, name="column_{i}", rows=20):
    header = ",".join(name.replace("{i}", str(index)) for index in range(count))
    row = ",".join(str(index) for index in range(count))
    return (header + "\n" + (row + "\n") * rows).encode()


def wide_objects(count):
    row = ",".join(f'"column_{index}":{index}' for index in range(count))
    return (("{" + row + "}\n") * 20).encode()


def beside_id(make):
    """One column less, as the table has one of its own."""
    return lambda count: make(count - 1)


def each(option, text):
    return lambda count: [word for index in range(count) for word in (option, text.replace("{i}", str(index)))]


FLATTEN = ("--flatten", ".")
ID = ("--columns", "id")
TEXT = "CREATE TABLE t(id INTEGER, a TEXT)"
NUMBER = "CREATE TABLE t(id INTEGER, a INTEGER)"
REAL = "CREATE TABLE t(id INTEGER, a REAL)"

SHAPES = [
    # JSON objects
    Shape("repeated key", filled('{"id":1', ',"a":1', "}\n")),
    Shape("repeated key, rejected", filled(GOOD + '{"id":1', ',"a":1', "}\n"), options=("--duplicate-keys", "reject")),
    Shape("repeated key, text in a number column", filled('{"id":1', ',"a":"x"', "}\n"), schema=NUMBER),
    Shape("repeated keys that mean one column", filled('{"id":1', ',"a":1,"A":2', "}\n"), schema=TEXT),
    Shape("repeated object, flattened", filled('{"id":1', ',"a":{"x":1,"y":2}', "}\n"), options=FLATTEN),
    Shape("repeated object of many keys, flattened", many_then_few, options=FLATTEN + ID),
    Shape("repeated new column", filled('{"id":1', ',"new":{"x":1}', "}\n"), schema=TEXT, options=FLATTEN + ("--alter",)),
    Shape("different keys, left out", filled('{"id":1', ',"k{i}":1', "}\n"), options=ID),
    Shape("different keys, rejected", filled('{"id":1', ',"k{i}":1', "}\n"), schema=TEXT, options=("--alter",)),
    Shape("different keys, flattened", filled(GOOD + '{"id":1,"a":{"x":1', ',"k{i}":1', "}}\n"), options=FLATTEN + ID),
    Shape("keys in another order each time", other_order, options=ID),
    Shape("long key around many, left out", long_parent, options=FLATTEN + ID),
    Shape("long key around many, new columns", long_parent, schema=TEXT, options=FLATTEN + ("--alter",)),
    Shape("deep arrays", deep(900, "[", "]", '{"id":1,"a":[', "]}\n")),
    Shape("deep objects", deep(900, '{"a":', "}", '{"id":1,"a":[', "]}\n")),
    Shape("deep objects, flattened", deep_keys, options=FLATTEN + ID),
    # JSON values
    Shape("plain text", filled('{"id":1,"a":"', "x", '"}\n')),
    Shape("escapes", filled('{"id":1,"a":"', "\\n", '"}\n')),
    Shape("escaped letters", filled('{"id":1,"a":"', "\\u00e9", '"}\n')),
    Shape("surrogate pairs", filled('{"id":1,"a":"', "\\ud83d\\ude00", '"}\n')),
    Shape("half surrogate pairs", filled(GOOD + '{"id":1,"a":"', "\\ud83d", '"}\n')),
    Shape("text beyond ASCII", filled('{"id":1,"a":"', "é", '"}\n')),
    Shape("a key of accents, left out", filled('{"id":1,"e', "\u0301\u0327", '":1}\n'), options=ID),
    Shape("digits, JSON", filled('{"id":1,"a":1', "7", "}\n"), schema=REAL),
    Shape("decimals, JSON", filled('{"id":1,"a":0.', "7", "}\n"), schema=REAL),
    Shape("blanks", filled('{"id":1,', "  \t", '"a":1}\n')),
    Shape("blanks in front of keys", filled('{"id":1', "  ,  \"a\" : 1", '}\n')),
    Shape("document, repeated key", filled('[{"id":1', ',"a":1', "}]\n"), suffix="json"),
    Shape("document, plain text", filled('[{"id":1,"a":"', "x", '"}]\n'), suffix="json"),
    Shape("document, long key beside the path", filled('{"', "k", '":1,"rows":[{"id":1}]}\n'), suffix="json", options=("--json-path", "rows")),
    Shape("surplus elements", filled('["id","a"]\n[0,1]\n[1,2', ",3", "]\n")),
    # CSV
    Shape("plain field", filled("id,a\n1,", "x", "\n"), "csv"),
    Shape("doubled quotes", filled('id,a\n1,"', '""', '"\n'), "csv"),
    Shape("line ends in a field", filled('id,a\n1,"', "x\n", '"\n'), "csv"),
    Shape("escape characters", filled("id,a\n1,", "\\x", "\n"), "csv", options=("--escape", "\\")),
    Shape("digits", filled("id,a\n1,1", "7", "\n"), "csv", schema=NUMBER),
    Shape("decimals", filled("id,a\n1,0.", "7", "\n"), "csv", schema=REAL),
    Shape("blanks around a number", filled("id,a\n1,", " ", "7\n"), "csv", schema=NUMBER),
    Shape("surplus fields, rejected", filled("id,a\n1,2", ",x", "\n"), "csv"),
    Shape("surplus fields, kept", filled("id,a\n1,2", ",x", "\n"), "csv", options=("--ragged", "extra")),
    Shape("a quote that is never closed", filled('id,a\n1,"x\n', "2,y\n", ""), "csv"),
    Shape("a closing quote in the middle", filled('id,a\n1,"x"', "y", "\n"), "csv"),
    Shape("not UTF-8", lambda size: b"id,a\n1," + b"x" * (size - 12) + b"\xff\n", "csv"),
    # Columns, up to SQLite's limit
    Shape("columns", table, "csv", counts_columns=True),
    Shape("columns, renamed", table, "csv", counts_columns=True, column_options=each("--rename", "column_{i}=other_{i}")),
    Shape("columns, with types", table, "csv", counts_columns=True, column_options=each("--type", "column_{i}:TEXT")),
    Shape("columns, chosen", table, "csv", counts_columns=True, column_options=lambda count: [
        "--columns", ",".join(f"column_{index}" for index in reversed(range(count)))]),
    Shape("columns of one name", lambda count: table(count, "same"), "csv", counts_columns=True),
    Shape("columns, added", beside_id(table), "csv", counts_columns=True, schema="CREATE TABLE t(id)", options=("--alter",)),
    Shape("columns, by key", table, "csv", counts_columns=True, options=("--key", "column_0")),
    Shape("columns, in quarantine", table, "csv", counts_columns=True, schema="CREATE TABLE t(column_0)", options=("--contract", "quarantine")),
    Shape("columns of objects", wide_objects, counts_columns=True),
    Shape("columns of objects, added", beside_id(wide_objects), counts_columns=True, schema="CREATE TABLE t(id)", options=("--alter",)),
]
