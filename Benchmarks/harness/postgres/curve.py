"""What `run connections` has measured, as a part of a page: for the report, and for the manual."""

from .. import tools

PAGE = tools.FOLDER.parent / "Sources/UpsurgeCommand/UpsurgeCommand.docc/PostgreSQL.md"
TITLE = "#### Connections, simulated"


def lines(found):
    """What is simulated, and the curve. The words say nothing of the figures: they are whatever was measured."""
    curve = {one["connections"]: one for one in found["curve"]}
    yield (f"Measured by `Benchmarks/run connections --rows {found['rows']} --delay {found['delay']:g} "
           f"--commit-every {found['commit_every']}` on {found['date']}: {found['machine']}; upsurge {found['upsurge']}.")
    yield ""
    yield ("This is a simulation. There is one PostgreSQL, on the machine of the load. A proxy makes each message "
           f"{found['delay']:g} ms late, each way. Each connection stands for one shard. Real shards may also hold up one another.")
    yield ""
    yield "| connections | s | rows/s | times one connection | round trips, longest way | round trips, all |"
    yield "|---|---:|---:|---:|---:|---:|"
    for one in found["curve"]:
        yield row(f"{one['connections']}", one, found["rows"], curve[1]["seconds"])
    yield ""
    yield "| one shard in trouble | s | rows/s | times one connection | round trips, longest way | round trips, all |"
    yield "|---|---:|---:|---:|---:|---:|"
    for one in found["disturbed"]:
        yield row(one["what"], one, found["rows"], curve[1]["seconds"])
    yield ""
    yield "Each of these loads left the table, the ledger and the rejects of one connection."
    yield ""
    yield (f"On a near server, without the proxy, {found['near_rows']:,} rows were loaded {found['rounds']} times each way. These "
           "are medians:")
    yield ""
    yield "| near server | one connection, s | four, s | times one connection |"
    yield "|---|---:|---:|---:|"
    for name, both in found["near"].items():
        yield f"| {name} | {both['one']:.2f} | {both['four']:.2f} | {both['ratio']:.2f} |"


def row(head, one, rows, seconds_of_one):
    return (f"| {head} | {one['seconds']:.2f} | {rows / one['seconds']:,.0f} | {seconds_of_one / one['seconds']:.2f} "
            f"| {one['trips']:,} | {one['all_trips']:,} |")


def write(found, page=PAGE):
    """Writes the part into the manual, in the place of the one before; without one, before the section on failover."""
    text = page.read_text(encoding="utf-8").split("\n")
    part = [TITLE, "", *lines(found), ""]
    begin = text.index(TITLE) if TITLE in text else text.index("### Failover")
    end = next((number for number in range(begin, len(text)) if text[number].startswith("### ")), len(text))
    page.write_text("\n".join(text[:begin] + part + text[end:]), encoding="utf-8")
    print(page)
