"""A real HTTP server on the loopback interface that answers Chat Completions as scripted, faults included."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Move = Callable[["Handler"], None]
"""Answers one request."""


class Fake:
    """The running server. `moves` are used in order; the last one repeats."""

    def __init__(self, moves: tuple[Move, ...]) -> None:
        self.moves = moves
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.url = ""

    @property
    def calls(self) -> int:
        return len(self.bodies)

    def take(self, handler: Handler, body: dict[str, Any]) -> Move:
        with self.lock:
            self.times.append(time.monotonic())
            self.bodies.append(body)
            self.paths.append(handler.path)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            return self.moves[min(len(self.bodies), len(self.moves)) - 1]


class Handler(BaseHTTPRequestHandler):
    fake: Fake

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.body = json.loads(raw)
        with suppress(BrokenPipeError, ConnectionResetError):  # the client may give up, as some tests want
            self.fake.take(self, self.body)(self)
        self.close_connection = True

    def send_json(self, status: int, data: Any, headers: dict[str, str] | None = None) -> None:
        self.send_bytes(status, json.dumps(data).encode(), headers)

    def send_bytes(self, status: int, data: bytes, headers: dict[str, str] | None = None, length: int = -1) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data) if length < 0 else length))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@contextmanager
def serving(*moves: Move) -> Iterator[Fake]:
    fake = Fake(moves)
    handler = type("Bound", (Handler,), {"fake": fake})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = False
    fake.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        fake.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def answer(text: str | None = "hello", finish: str = "stop", **message: Any) -> Move:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    return body({"choices": [choice], "usage": usage})


def body(data: Any, **extra: Any) -> Move:
    return lambda handler: handler.send_json(200, {**data, **extra} if isinstance(data, dict) else data)


def error(status: int, message: str = "", headers: dict[str, str] | None = None, **fields: Any) -> Move:
    return lambda handler: handler.send_json(status, {"error": {"message": message, **fields}}, headers)


def raw(status: int, data: bytes) -> Move:
    return lambda handler: handler.send_bytes(status, data)


def half(handler: Handler) -> None:
    """Promises more than it sends, then closes."""
    handler.send_bytes(200, b'{"choices": [{"mess', length=500)


def slam(handler: Handler) -> None:
    """Closes without a word."""


def hang(handler: Handler) -> None:
    handler.fake.stopping.wait(20)


def drip(handler: Handler) -> None:
    """Sends a blank now and then, as gateways do to keep a connection open, and never answers."""
    handler.send_bytes(200, b"", length=10_000)
    for _ in range(1000):
        if handler.fake.stopping.wait(0.05):
            return
        handler.wfile.write(b" ")
        handler.wfile.flush()


def echo_key(status: int) -> Move:
    def move(handler: Handler) -> None:
        key = handler.headers["authorization"]
        handler.send_json(status, {"error": {"message": f"bad header {key} ({key.split()[1]})"}})

    return move


def understands(*formats: str, limit: str = "max_tokens", status: int = 400) -> Move:
    """A server that knows only these response formats and this name for the token limit."""

    def move(handler: Handler) -> None:
        asked = handler.body.get("response_format", {}).get("type")
        if asked and asked not in formats:
            return error(status, f"unknown response_format {asked}")(handler)
        wrong = {"max_tokens", "max_completion_tokens"} - {limit}
        bad = next((name for name in wrong if name in handler.body), None)
        if bad:
            return error(400, f"Unsupported parameter: use {limit}", param=bad)(handler)
        return answer('{"ok": true}')(handler)

    return move
