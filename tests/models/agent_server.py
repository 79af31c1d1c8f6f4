"""A model on this machine, in the three protocols that agents speak, that uses tools as told and then answers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "<answer>BONJOUR</answer>"
Use = tuple[str, dict[str, str]]
"""A tool and its arguments; `DIR` in them is the agent's folder."""


@contextmanager
def scripted(uses: Sequence[Use]) -> Iterator[str]:
    """The address of a model that asks for these tools, one a turn."""

    class Handler(_Handler):
        plan = uses

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    plan: Sequence[Use] = ()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"object": "list", "data": [], "models": []}))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        body, path = json.loads(raw or "{}"), self.path.split("?")[0]
        found = re.search(r"/[^\s\"]*/skillgit-\w+/work", raw)
        kinds = {"/responses": _responses, "/messages": _messages, "/completions": _completions}
        answer = next((kind for end, kind in kinds.items() if path.endswith(end)), None)
        # Copilot does not ask for a stream.
        if answer is None or not (body.get("stream") or answer is _completions):
            self._send("application/json", '{"input_tokens": 10}')
            return
        turn = len(re.findall(r'"type": ?"(?:function_call_output|tool_result)"|"role": ?"tool"', raw))
        use = self.plan[turn] if turn < len(self.plan) and body.get("tools") else None
        filled = json.dumps(use[1]).replace("DIR", found[0] if found else "DIR") if use else ""
        kind = "application/json" if answer is _completions else "text/event-stream"
        self._send(kind, "".join(answer(turn, use[0] if use else "", filled)))

    def _send(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def _event(value: dict[str, Any]) -> str:
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n"


def _responses(turn: int, tool: str, arguments: str) -> Iterator[str]:
    item: dict[str, Any] = {"type": "message", "id": "m", "role": "assistant"}
    item |= {"content": [{"type": "output_text", "text": ANSWER, "annotations": []}]}
    if tool:
        item = {"type": "function_call", "id": f"f{turn}", "call_id": f"c{turn}", "name": tool, "arguments": arguments}
    used = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}
    whole = {"id": f"r{turn}", "object": "response"}
    yield _event({"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}})
    yield _event({"type": "response.output_item.done", "output_index": 0, "item": item})
    done = {**whole, "status": "completed", "output": [item], "usage": used}
    yield _event({"type": "response.completed", "response": done})


def _messages(turn: int, tool: str, arguments: str) -> Iterator[str]:
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": ANSWER}
    if tool:
        block = {"type": "tool_use", "id": f"toolu_{turn}", "name": tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": arguments}
    message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "m", "content": []}
    yield _event({"type": "message_start", "message": {**message, "usage": {"input_tokens": 9, "output_tokens": 1}}})
    yield _event({"type": "content_block_start", "index": 0, "content_block": block})
    yield _event({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _event({"type": "content_block_stop", "index": 0})
    stop = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2}})
    yield _event({"type": "message_stop"})


def _completions(turn: int, tool: str, arguments: str) -> Iterator[str]:
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    if tool:
        function = {"name": tool, "arguments": arguments}
        message = {"role": "assistant", "content": None}
        message |= {"tool_calls": [{"id": f"call_{turn}", "type": "function", "function": function}]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if tool else "stop"}
    used = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    whole = {"id": f"c{turn}", "object": "chat.completion", "created": 1, "model": "m"}
    yield json.dumps({**whole, "choices": [choice], "usage": used})
