"""The files and databases of the matrix, each made once."""

import json
import subprocess
from pathlib import Path

from . import cases, tools
from .contenders import Input, checked, create_table, load_with_upsurge, to_script

# The nested form of a wide record: its objects and what they hold.
GROUPS = {
    "person": ["first_name", "last_name", "email"], "work": ["company"],
    "address": ["street", "city", "country", "postcode"]}
PLACES = {name: group for group, names in GROUPS.items() for name in names}


class Inputs:
    def __init__(self, folder, rows, seed):
        self.folder = folder
        self.rows = rows
        self.seed = seed
        older, newer = (
            tools.shared_data(f"large/babynames_release{years}.csv.zst") for years in ("2010_1880-2010", "2023_1880-2023"))
        self.older_names = (tools.unpacked(older, folder), older) if older else None
        self.newer_names = newer
        self.domains = self.unpack_domains()

    def file(self, shape, record_format, rows=None, seed=0, changed=0):
        return tools.generated(self.folder, shape, record_format, rows or self.rows, self.seed + seed, changed)

    def packed(self, path, kind):
        return tools.compressed(path, kind)

    def made(self, name, source, make):
        """A file made from another one by `make(source, target)`."""
        path = self.folder / name
        if not path.is_file() or path.stat().st_mtime < source.stat().st_mtime:
            partial = path.with_name(path.name + ".partial")
            with open(source, "rb") as lines, open(partial, "wb") as target:
                make(lines, target)
            partial.rename(path)
        return path

    def later_half(self):
        """Narrow rows with the keys after those of the plain file."""
        twice = self.file("narrow", "csv", rows=2 * self.rows)

        def second_half(lines, target):
            target.write(next(lines))
            for number, line in enumerate(lines):
                if number >= self.rows:
                    target.write(line)

        return self.made(f"narrow-{self.rows}-{self.seed}-later.csv", twice, second_half)

    def in_order(self, ndjson):
        """The records sorted; their key comes first."""
        return self.made(f"{ndjson.stem}-sorted.ndjson", ndjson, lambda lines, target: target.writelines(sorted(lines)))

    def nested(self, ndjson):
        def regroup(lines, target):
            for line in lines:
                record = {}
                for name, value in json.loads(line).items():
                    group = PLACES.get(name)
                    (record.setdefault(group, {}) if group else record)[name] = value
                target.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

        return self.made(f"{ndjson.stem}-nested.ndjson", ndjson, regroup)

    @staticmethod
    def nested_columns():
        """--rename's arguments, which give the flattened columns their names in the wide table."""
        return [f"{group}_{name}={name}" for name, group in PLACES.items()]

    def unpack_domains(self):
        """The first and the last day of dotgov's history."""
        packed = tools.shared_data("history/dotgov_history.tar.zst")
        if packed is None:
            return None
        folder = self.folder / "dotgov_history"
        if not folder.is_dir():
            command = f"{tools.program('zstd', 'zstd')} -dc '{packed}' | tar -x -C '{self.folder}'"
            subprocess.run(command, shell=True, check=True)
        days = sorted(folder.glob("*.csv"))
        return Path(days[0]), Path(days[-1])

    def start(self, name):
        """The database that cases begin with; made once a run, by upsurge or from SQL."""
        path = self.folder / f"matrix-{name.replace(' ', '-')}.db"
        tools.remove_database(path)
        sql = cases.schema(name, create_table)
        if sql:
            checked("sqlite3", [tools.program("sqlite3", "sqlite3"), "-bail", str(path)], to_script([sql]))
            return path
        filled = {
            "narrow": lambda: (self.file("narrow", "csv"), "narrow", "id", []),
            "indexed": lambda: (self.file("narrow", "csv"), "narrow", "id", cases.INDEXES),
            "wide": lambda: (self.file("wide", "csv", rows=self.rows // 2), "wide", "key", []),
            "babynames": lambda: (self.older_names[1], "babynames", "year,name,sex", []),
            "domains": lambda: (self.domains[0], "domains", "Domain name", [])}
        source, table, key, options = filled[name]()
        load_with_upsurge(source, Input(table, source, key), path, options)
        return path
