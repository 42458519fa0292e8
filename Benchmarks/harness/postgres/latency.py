"""A proxy between a load and a server that makes every message late, counts round trips, and can cut off what it stands for: each
connection of a load is taken for one shard, known by what it calls itself."""

import re
import socket
import threading
import time
from collections import defaultdict, deque

CHUNK = 1 << 16


class Latency:
    """Listens on the loopback while it is a context.

    `delay`: seconds each way. `slow`: such seconds of some shards. `dies`: seconds after the first byte of a shard at which its
    connection is cut, and for how long it is refused then."""

    def __init__(self, port, delay, slow=None, dies=None):
        self.port, self.delay, self.slow, self.dies = port, delay, slow or {}, dies or {}
        self.trips = defaultdict(int)  # by shard; None is every connection that stores no records
        self.cut_count = 0
        self.lock = threading.Lock()
        self.begun = {}

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.own_port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.create_connection(("127.0.0.1", self.port))
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link = Link(self, client, server)
        for source, target, is_client in ((client, server, True), (server, client, False)):
            threading.Thread(target=link.forward, args=(source, target, is_client), daemon=True).start()

    def seconds(self, shard):
        return self.slow.get(shard, self.delay)

    def note_trip(self, shard):
        with self.lock:
            self.trips[shard] += 1

    def is_dead(self, shard):
        """Whether a shard is away now."""
        if shard not in self.dies:
            return False
        after, lasts = self.dies[shard]
        with self.lock:
            age = time.monotonic() - self.begun.setdefault(shard, time.monotonic())
        return after <= age < after + lasts

    def note_cut(self):
        with self.lock:
            self.cut_count += 1


class Link:
    """One connection: what comes from each side goes to the other one later."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.shard = None
        self.knows_shard = False
        self.last_was_client = False

    def forward(self, source, target, is_client):
        waiting, changed = deque(), threading.Condition()
        threading.Thread(target=self.send, args=(waiting, changed, target), daemon=True).start()
        while True:
            try:
                data = source.recv(CHUNK)
            except OSError:
                data = b""
            if is_client and not self.knows_shard and b"user\0" in data:
                self.knows_shard = True
                found = re.search(rb"application_name\0upsurge connection (\d+)\0", data)
                self.shard = int(found.group(1)) if found else None
            if self.proxy.is_dead(self.shard) and data:
                self.proxy.note_cut()
                self.close()
                data = b""
            self.count(is_client, data)
            with changed:
                waiting.append((time.monotonic() + self.proxy.seconds(self.shard), data))
                changed.notify()
            if not data:
                return

    def count(self, is_client, data):
        """A round trip begins where the client speaks after the server has."""
        if data and is_client and not self.last_was_client:
            self.proxy.note_trip(self.shard)
        if data:
            self.last_was_client = is_client

    def send(self, waiting, changed, target):
        while True:
            with changed:
                while not waiting:
                    changed.wait()
                due, data = waiting.popleft()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                if not data:
                    target.shutdown(socket.SHUT_WR)
                    return
                target.sendall(data)
            except OSError:
                return

    def close(self):
        for one in (self.client, self.server):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
