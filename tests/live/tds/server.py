"""Listens on the loopback and gives each client a thread of its own."""

import itertools
import socket
import threading

from tests.live.tds.session import Client, Server, Session

HOST = "127.0.0.1"
FIRST_SPID = 17
"""The processes before it are the server's own, as on a real one."""
WAITING = 50
"""Connections that may wait to be taken."""


def listen(port: int = 0) -> socket.socket:
    """Open the port (0: a free one). Raises `OSError` where it is taken."""
    listener = socket.create_server((HOST, port), backlog=WAITING)
    return listener


def serve(listener: socket.socket, server: Server) -> None:
    """Take clients until the listener is closed."""
    spids = itertools.count(FIRST_SPID)
    while True:
        try:
            line, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_serve_one, args=(line, server, Client(next(spids))), daemon=True).start()


def _serve_one(line: socket.socket, server: Server, client: Client) -> None:
    with line:
        Session(line, server, client).serve()
