"""What is loaded onto what: the rows of the table of results."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scenario:
    title: str
    operation: str  # insert: into a new table; upsert: by key onto the table that the first delivery made
    delivery: str  # of data.Deliveries
    has_peers: bool = False  # even where only the script is tried


EVERY = {
    "new": Scenario("a new table with its key", "insert", "first", has_peers=True),
    "new-shuffled": Scenario("a new table with its key, keys shuffled", "insert", "first, shuffled"),
    "same": Scenario("the same rows again", "upsert", "first", has_peers=True),
    "one": Scenario("1 % of the rows changed", "upsert", "1 % changed"),
    "all": Scenario("all rows changed", "upsert", "all changed"),
    "one-shuffled": Scenario("1 % of the rows changed, keys shuffled", "upsert", "1 % changed, shuffled"),
    "sparse": Scenario("a sparse feed: one row of a hundred, all changed", "upsert", "sparse"),
}
