"""Pictures, tool calls and their results on their way to a model, and files on their way back."""

from __future__ import annotations

import base64
import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ModelConfigError
from skillgit.evals.caller import _asked
from skillgit.evals.store import Payer
from skillgit.models.base import Image, Message, ModelSpec, Reply, Request, Usage, Workspace
from skillgit.models.clients.made import MOST_BYTES, MOST_FILES, changed, listing
from skillgit.models.clients.model import CommandModel
from skillgit.models.handoff import build as handoff
from skillgit.models.http import responses, wire
from skillgit.models.http.servers import openai_compatible
from skillgit.tasks.base import digest
from tests.evals.fakes import caller, disk

from . import server
from .agents import AGENTS, EDITS, FILES, Lab, answer
from .program import Program
from .server import serving
from .test_clients import CLIENTS

PIXELS = b"GIF89a\x00\xff not much of a picture;"
URI = f"data:image/gif;base64,{base64.b64encode(PIXELS).decode()}"
PAGE = Image("scans/page 1.gif", hashlib.sha256(PIXELS).hexdigest(), URI)
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 3}'}}
SEEN = Request((Message("system", "Be brief."), Message("user", "What is it?", images=(PAGE,))))
USED = Request(
    (
        Message("user", "Look."),
        Message("assistant", "", tool_calls=(CALL,)),
        Message("tool", "a bird", call_id="c1"),
    ),
    tools=({"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}},),
)
SPEC = ModelSpec("target", "openai_compatible", "m1")


def sent(request: Request) -> list[dict[str, Any]]:
    return wire.body(request, SPEC, wire.Habits())["messages"]


# --- Chat Completions


def test_a_picture_is_a_part_of_its_turn_and_the_text_comes_first() -> None:
    system, user = sent(SEEN)
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": URI}},
    ]


@pytest.mark.parametrize(("detail", "told"), [("auto", None), ("low", "low"), ("high", "high")])
def test_how_closely_to_look_is_said_only_when_it_is_chosen(detail: str, told: str | None) -> None:
    request = Request((Message("user", "?", images=(replace(PAGE, detail=detail),)),))
    assert sent(request)[0]["content"][1]["image_url"].get("detail") == told


def test_tool_calls_and_their_results_keep_their_places_and_ids() -> None:
    _, asked, given = sent(USED)
    assert asked == {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert given == {"role": "tool", "content": "a bird", "tool_call_id": "c1"}


def test_words_before_a_tool_call_are_sent_too() -> None:
    request = Request((Message("assistant", "I look.", tool_calls=(CALL,)),))
    assert sent(request)[0]["content"] == "I look."


def test_a_schema_asked_for_in_words_goes_to_the_text_beside_a_picture() -> None:
    request = replace(SEEN, schema={"type": "object"})
    (_, user) = wire.body(request, SPEC, wire.Habits(format="plain"))["messages"]
    assert '"type": "object"' in user["content"][0]["text"]
    assert user["content"][1]["image_url"]["url"] == URI


def test_a_whole_turn_of_tools_goes_over_http() -> None:
    with serving(server.answer(None, "tool_calls", tool_calls=[CALL]), server.answer("a bird")) as fake:
        model = openai_compatible(replace(SPEC, base_url=fake.url, api_key="k"))
        reply = model.complete(replace(USED, messages=USED.messages[:1]))
        turn = Message("assistant", reply.text, tool_calls=reply.tool_calls)
        result = Message("tool", "a bird", call_id=str(reply.tool_calls[0]["id"]))
        last = model.complete(replace(USED, messages=(USED.messages[0], turn, result)))
        model.close()
    assert (reply.finish, reply.text, last.text) == ("tool_calls", "", "a bird")
    assert fake.bodies[1]["messages"] == sent(USED)
    assert fake.bodies[0]["tools"] == [dict(tool) for tool in USED.tools]


# --- Responses


def test_the_responses_api_gets_pictures_and_tools_in_its_own_shape() -> None:
    (user,) = responses.body(SEEN, SPEC, wire.Habits())["input"]
    assert user["content"] == [
        {"type": "input_text", "text": "What is it?"},
        {"type": "input_image", "image_url": URI, "detail": "auto"},
    ]
    asked, call, given = responses.body(USED, SPEC, wire.Habits())["input"]
    assert asked == {"role": "user", "content": "Look."}
    assert call == {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": 3}'}
    assert given == {"type": "function_call_output", "call_id": "c1", "output": "a bird"}


# --- command lines and people


@pytest.mark.parametrize("backend", CLIENTS)
@pytest.mark.parametrize(("request_", "what"), [(SEEN, "shows no pictures"), (USED, "offers no tools")])
def test_a_client_without_a_folder_refuses_at_once(backend: str, request_: Request, what: str, tmp_path: Path) -> None:
    client = CLIENTS[backend]
    program = Program(tmp_path / "bin", client.program)
    environ = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    model = CommandModel(ModelSpec("target", backend, "m1"), client, environ)
    with pytest.raises(ModelConfigError, match=what) as caught:
        model.complete(request_)
    assert "HTTP backend" in caught.value.fix
    assert not (program.folder / "given.jsonl").exists()


@pytest.mark.parametrize("request_", [SEEN, USED])
def test_a_person_is_shown_no_pictures_and_offered_no_tools(request_: Request, tmp_path: Path) -> None:
    model = handoff(ModelSpec("target", "handoff", "handoff", options={"exchange": str(tmp_path / "handoff")}))
    with pytest.raises(ModelConfigError, match="a person"):
        model.complete(request_)


@pytest.mark.parametrize("backend", AGENTS)
def test_an_agent_finds_the_pictures_among_its_attachments(backend: str, tmp_path: Path) -> None:
    lab = Lab(backend, tmp_path)
    lab.program.plan(**answer(backend, "a bird"))
    work = Workspace("greeter", "v", FILES, attachments={"notes.txt": "Ada"})
    lab.model().complete(replace(SEEN, workspace=work))
    (given,) = lab.program.given
    assert given["tree"]["attachments/01_notes.txt"] == "Ada"
    assert given["tree"]["attachments/02_page_1.gif"] == PIXELS.decode(errors="replace")
    assert "`attachments/02_page_1.gif`: scans/page 1.gif" in given["tree"]["ATTACHMENTS.md"]
    assert "ATTACHMENTS.md" in given["stdin"]


def test_an_agent_without_a_folder_is_shown_no_pictures(tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError, match="shows no pictures"):
        Lab("codex_exec", tmp_path).model().complete(SEEN)


# --- identity and store

PLAIN = Request((Message("system", "s"), Message("user", "u")), seed=3, max_tokens=9)


def test_requests_without_pictures_and_tools_keep_the_keys_they_had() -> None:
    asked = {
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        **{"schema": None, "seed": 3, "temperature": None, "max_tokens": 9, "effort": "", "tools": []},
    }
    assert digest(_asked(PLAIN)) == digest(asked)
    assert digest(asked) == "acbf6d93c1ab27855985deccb5aff1c848eeb7f0a842b1ec4577adfef9955085"


@pytest.mark.parametrize(
    "other",
    [
        Request((Message("user", "What is it?"),)),
        Request((Message("user", "What is it?", images=(replace(PAGE, sha256="0" * 64),)),)),
        Request((Message("user", "What is it?", images=(replace(PAGE, detail="low"),)),)),
        Request((Message("user", "What is it?", images=(PAGE, PAGE)),)),
        Request((Message("user", "What is it?", tool_calls=(CALL,)),)),
        Request((Message("user", "What is it?", call_id="c1"),)),
    ],
)
def test_another_picture_or_tool_turn_is_another_call(other: Request) -> None:
    asked: list[Request] = []
    target = caller(lambda request: asked.append(request) or Reply("x", Usage(1, 1)))
    first = Request((Message("user", "What is it?", images=(PAGE,)),))
    for request in (first, other, first):
        target.call(request, scope=("t",), step=1, stage="val")
    assert asked == [first, other]


def test_a_picture_is_known_by_its_content_and_not_by_its_name() -> None:
    renamed = Request((Message("user", "u", images=(replace(PAGE, name="other.png", uri="data:,"),)),))
    assert _asked(renamed) == _asked(Request((Message("user", "u", images=(PAGE,)),)))


def test_the_store_keeps_the_files_of_a_reply(tmp_path: Path) -> None:
    files = {"out/a.xlsx": bytes(range(256)), "empty": b"", "odd\udcff": b"x"}
    reply = Reply("done", Usage(1, 2), files=files)
    store = disk(tmp_path)
    store.put("key", reply, Payer("run", 1, "target", "val", "skill"))
    store.close()
    again = disk(tmp_path)
    assert again.get("key") == (reply, "run", 1)
    again.close()


# --- what an agent made


def test_only_new_and_changed_plain_files_count(tmp_path: Path) -> None:
    for name in ("same", "changed", "deep/same"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    before = listing(tmp_path)
    (tmp_path / "changed").write_text("new text")
    (tmp_path / "deep/new.bin").write_bytes(b"\0\xff")
    (tmp_path / "same").touch()
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "folder").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    assert set(before) == {"same", "changed", "deep/same"}
    assert changed(tmp_path, before) == {"changed": b"new text", "deep/new.bin": b"\0\xff"}


def test_too_many_files_and_too_large_ones_are_left_out_and_those_at_the_top_come_first(tmp_path: Path) -> None:
    (tmp_path / ".cache/a").mkdir(parents=True)
    for n in range(MOST_FILES + 5):
        (tmp_path / f".cache/a/{n}").write_text("junk")
    with (tmp_path / "huge.bin").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    (tmp_path / "solution.py").write_text("print(1)")
    found = changed(tmp_path, {})
    assert next(iter(found)) == "solution.py"
    assert len(found) == MOST_FILES
    assert "huge.bin" not in found


def test_all_files_together_stay_within_the_limit(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(MOST_BYTES // 2)
    assert list(changed(tmp_path, {})) == ["a", "b"]


def test_a_file_that_cannot_be_read_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locked").write_text("x")
    (tmp_path / "open").write_text("y")
    real = Path.read_bytes

    def read(path: Path) -> bytes:
        if path.name == "locked":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    assert listing(tmp_path).keys() == changed(tmp_path, {}).keys() == {"open"}


def test_files_that_an_agent_changes_come_back_when_it_may_write(tmp_path: Path) -> None:
    lab = Lab("codex_exec", tmp_path)
    lab.program.plan(**answer("codex_exec", "done"), make={"out/solution.py": "print(1)", "task.md": "mine"})
    assert lab.ask(EDITS).files == {"out/solution.py": b"print(1)", "task.md": b"mine"}
    assert lab.ask(replace(EDITS, writable=False)).files == {}
