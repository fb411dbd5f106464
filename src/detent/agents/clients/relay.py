"""Starts a client where there is no network, and passes what it sends to one address on to a socket in a folder. Standard library only.

Runs inside the sandbox, as a program of its own, from a copy: words are the folder, the name of the socket in it, the port, then the client's
words. It knows nothing of what passes through, and ends with the client.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading


def main() -> int:
    folder, name, port, *argv = sys.argv[1:]
    place = f"/proc/self/fd/{os.open(folder, os.O_RDONLY | os.O_DIRECTORY)}/{name}"  # a path to a socket must be short
    listener = socket.create_server(("127.0.0.1", int(port)))
    threading.Thread(target=serve, args=(listener, place), daemon=True).start()
    code = subprocess.Popen(argv).wait()
    return code if code >= 0 else 128 - code


def serve(listener: socket.socket, place: str) -> None:
    while True:
        near, _ = listener.accept()
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(place)
        except OSError:
            near.close()
            far.close()
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
