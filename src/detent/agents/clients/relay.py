"""Starts a client in a sandbox without network, and forwards one local port to a Unix socket in a folder. Standard library only.

Runs inside the sandbox as a copied program. Arguments: the folder; the socket's name in it; the port (0: no forwarding); the name of
another socket that becomes the client's standard input (-: inherit ours); the client's command. Knows nothing of what it forwards, and
exits with the client.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading


def main() -> int:
    folder, name, port, words, *argv = sys.argv[1:]
    place = f"/proc/self/fd/{os.open(folder, os.O_RDONLY | os.O_DIRECTORY)}"  # a socket's path must be short
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
    """Copy bytes one way. When either connection breaks, close the other."""
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main())
