"""The tests' own PostgreSQL server: on loopback, in a temporary folder, as an unprivileged user; one per test process."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.machine import find_postgres, need
from tests.patience import LONG

USER = "detent"
QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=16MB", "max_connections=200", "autovacuum=off")


def program(name: str) -> str:
    """A PostgreSQL program on PATH or in Debian's folder."""
    need("postgres", "loopback")
    return find_postgres(name)


class Server:
    """A running server, and how to create databases in it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port, self.made = folder, port, 0
        self.process = start(folder, port)

    def url(self, name: str) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def say(self, sql: str) -> None:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as c:
            c.execute(sql.encode())

    def stop(self) -> None:
        """Stop the server and cut off its clients."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(LONG)

    def start_again(self) -> None:
        self.process = start(self.folder, self.port)
        answers(self.port, self.process)

    def database(self, like: str = "template1") -> str:
        """Create a database; its address."""
        self.made += 1
        name = f"t{self.made}"
        self.say(f"CREATE DATABASE {name} TEMPLATE {like}")
        return self.url(name)


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    settings = [
        word
        for each in (*QUICK, f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}")
        for word in ("-c", each)
    ]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [program("postgres"), "-D", str(folder / "data"), *settings], stdout=log, stderr=log, cwd=folder, **as_nobody()
        )


def as_nobody() -> dict[str, Any]:
    """Run as nobody, because PostgreSQL refuses to run as root."""
    return {"user": "nobody", "group": "nogroup"} if os.getuid() == 0 else {}


@contextmanager
def running() -> Iterator[Server]:
    initdb = program("initdb")
    folder = Path(tempfile.mkdtemp(prefix="detent-pg-"))
    if os.getuid() == 0:
        shutil.chown(folder, "nobody", "nogroup")
    words = [initdb, "-D", str(folder / "data"), "-A", "trust", "-U", USER, "--no-sync", "-E", "UTF8", "--locale=C"]
    subprocess.run(words, check=True, capture_output=True, cwd=folder, **as_nobody())
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    server = Server(folder, port)
    try:
        answers(port, server.process)
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def answers(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server accepts connections."""
    import psycopg

    until = time.monotonic() + LONG
    while process.poll() is None and time.monotonic() < until:
        try:
            psycopg.connect(f"postgresql://{USER}@127.0.0.1:{port}/postgres", connect_timeout=5).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("PostgreSQL did not start")
