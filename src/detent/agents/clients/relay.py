"""Starts a client where there is no network, and passes what it sends to one address on to a socket in a folder. Standard library only.

Runs inside the sandbox, as a program of its own, from a copy: words are the folder, the name of the socket in it, the port (0: none is
needed), the name of another socket that becomes the client's standard input (-: it keeps ours), then the client's words. It knows nothing of
what passes through, and ends with the client.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading


def main() -> int:
    folder, name, port, words, *argv = sys.argv[1:]
    place = f"/proc/self/fd/{os.open(folder, os.O_RDONLY | os.O_DIRECTORY)}"  # a path to a socket must be short
    if not os.path.isdir(place):
        place = folder
    if port != "0":
        listener = socket.create_server(("127.0.0.1", int(port)))
        threading.Thread(target=serve, args=(listener, f"{place}/{name}"), daemon=True).start()
    if words == "-":
        code = subprocess.Popen(argv).wait()
    else:
        with joined(f"{place}/{words}") as source:
            child = subprocess.Popen(argv, stdin=source.fileno())
        code = child.wait()
    return code if code >= 0 else 128 - code


def joined(place: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.connect(place)
    return made


def serve(listener: socket.socket, place: str) -> None:
    while True:
        near, _ = listener.accept()
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            far = joined(place)
        except OSError:
            near.close()
            continue
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=pump, args=(source, sink), daemon=True).start()


def pump(source: socket.socket, sink: socket.socket) -> None:
    """One direction. A connection that breaks on one side breaks on the other."""
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main())
