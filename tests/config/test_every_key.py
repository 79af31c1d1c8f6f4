"""Flipping any key of the configuration changes something that a run does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skillgit.cli.main import run
from skillgit.errors import SkillgitError
from skillgit.evals.caller import Caller
from skillgit.evals.setup import load_tasks, locate, make_budget, make_rollouts
from skillgit.events import ignore
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Version
from skillgit.models.base import Message, ModelSpec, Request, Usage, Workspace
from skillgit.models.budget import Budget, Limits
from skillgit.models.clients.agent import AgentModel
from skillgit.models.roles import role_spec
from skillgit.models.scripted import Scripted
from skillgit.optimizer.aggregate import aggregate
from skillgit.optimizer.patches import Patch
from skillgit.optimizer.reflect import reflect
from skillgit.report.linting import policy_of
from skillgit.skills.document import Document
from skillgit.skills.edits import Edit
from skillgit.skills.lint.case import Skill, SkillFile
from skillgit.skills.lint.judge import lint
from skillgit.tasks.leakage import leak_guard
from skillgit.train.plan import make_plan
from skillgit.train.run import Run
from tests.config.test_benchmark_keys import TABLE as BENCHMARK_KEYS
from tests.config.test_schema import KEYS
from tests.conftest import SKILL, git
from tests.evals.fakes import Memory
from tests.models.agents import AGENTS
from tests.models.program import Program
from tests.optimizer.fakes import advisor, outcome
from tests.train.lab import RULE, By, Lab, append, greeter, kind_of, words

ENVIRON = {name: f"key-{name}" for name in ("K1", "K2", "K3", "OPENAI_COMPATIBLE_API_KEY")}
_AT_AZURE = ("model.azure.endpoint=https://x.openai.azure.com", "model.optimizer=o", "model.target=t")
Observe = Callable[[Lab, "Setting"], Any]


class Setting(tuple[str, ...]):
    """`section.key=value` texts."""


class Together:
    """Whether more than two calls were ever under way at once: each waits a moment for others to come."""

    def __init__(self) -> None:
        self.seen, self._running, self._changed = False, 0, threading.Condition()

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._changed:
            self._running += 1
            self.seen = self.seen or self._running > 2
            self._changed.notify_all()
            yield
            self._changed.wait_for(lambda: self.seen, 0.1)
            self._running -= 1


# --- what can be observed; each takes a place to work in and settings, and gives something to compare


def models(lab: Lab, settings: Setting) -> Any:
    """How both roles are reached, and what is sent of it."""
    config = lab.config(Path(), "model.backend=openai_compatible", *settings)
    specs = [role_spec(config, role, ENVIRON, Path("/root")) for role in ("target", "optimizer")]
    return [(str(spec), spec.api_key) for spec in specs]


def working(lab: Lab, settings: Setting) -> Any:
    """What an agent as the target is started with, and what is told of its permissions; `edits` is for such tasks."""
    edits = "edits" in settings
    config = lab.config(Path(), *(text for text in settings if text != "edits"))
    spec = role_spec(config, "target", ENVIRON, Path("/root"))
    program = Program(lab.folder / "bin", AGENTS[spec.backend].program)
    program.plan(err="it ended here", code=3)
    path = f"{program.folder}:{os.environ['PATH']}"
    model = AgentModel(replace(spec, retries=0), AGENTS[spec.backend], {"PATH": path, "HOME": str(lab.folder)})
    work = Workspace("greeter", "v", {"SKILL.md": b"Greet."}, writable=edits)
    with pytest.raises(SkillgitError, match="exit code 3"):
        model.complete(Request((Message("user", "Hi"),), workspace=work))
    given = program.given[-1]
    args = [arg.replace(given["cwd"].removesuffix("/work"), "DIR") for arg in given["args"]]
    thoughts = given["env"].get("MAX_THINKING_TOKENS")
    return [args, thoughts, model.sandbox(edits=edits), {**model.settings(), "backend": ""}]


def requests(lab: Lab, settings: Setting) -> Any:
    """What optimizer and target are sent in a short run, and what is decided."""
    told: dict[str, Any] = {}

    def analyst(request: Any) -> Any:
        if "revise_suggestions" in json.dumps(request.schema):
            item = {"type": "add_rule", "title": "A", "instruction": RULE["A"]}
            return {"reasoning": "r", "revise_suggestions": [item]}
        if "skill_candidates" in json.dumps(request.schema):
            return {"reasoning": "r", "skill_candidates": [{"title": "A", "new_skill": f"# Greeter\n\n{RULE['A']}"}]}
        number = told.setdefault("n", 0)
        told["n"] += 1
        return append(RULE["AB"[number % 2]], f"- line {number}", appendix_notes=[f"note {number}", "more"])

    optimizer = By(
        analyst=analyst,
        merge=lambda request: append(RULE["A"], "- merged"),
        rewrite={"new_skill": f"# Greeter\n\n{RULE['A']}"},
        ranking={"reasoning": "r", "selected_indices": [0]},
        lr_autonomous={"learning_rate": 1},
        slow_update={"slow_update_content": "HARM"},
        meta_skill={"meta_skill_content": "Short."},
        appendix_consolidate={"appendix_notes": ["one"]},
        compaction={"edits": [{"op": "delete", "target": "No rules yet."}]},
    )
    done = lab.train(optimizer, *settings)
    texts = sorted((kind_of(r), words(r), json.dumps(r.schema), r.max_tokens, r.effort, r.seed) for r in done.asked)
    return [texts, [(end.kind, end.verdict) for end in done.ends() + done.ends("boundary") + done.ends("compaction")]]


def plan(lab: Lab, settings: Setting) -> Any:
    """Which tasks are learned from and gated on, in which batches, with which budgets, and the most calls."""
    repo = _shared(lab)
    config = lab.config(repo.root, *settings)
    place = locate(repo, config, "" if config.skill.path or config.env.skill_init else "greeter")
    benchmark, splits = load_tasks(repo, config, place)
    made = make_plan(config, splits)
    batches = [[task.id for task in made.tasks(tick)] for tick in made.ticks if tick.kind == "step"]
    budgets = [made.budget(step) for step in range(1, made.steps + 1)]
    ids = [[task.id for task in split] for split in (splits.train, splits.val, splits.test, splits.confirm)]
    return [made.ticks, batches, budgets, ids, made.most_calls(), place, benchmark.name]


def rule(lab: Lab, settings: Setting) -> Any:
    """What the gate says of a few contests."""
    config = lab.config(Path(), *settings)
    tasks = [SimpleNamespace(id=f"t{n}", tags=("T",) if n == 0 else ()) for n in range(6)]
    own: Any = SimpleNamespace(
        config=config, metric=Run.metric.fget(SimpleNamespace(config=config)), tasks=lambda _: tasks
    )  # type: ignore[attr-defined]
    gate = Run.rule.fget(own)  # type: ignore[attr-defined]
    texts = [("You MUST do it " + "at length " * 40, "plain words"), ("short", "longer text"), ("x", "x")]
    scores = [([1, 0, 0, 0, 0, 0], [0] * 6), ([0, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]), ([0.5] * 6, [0.5] * 6)]
    said = [
        gate.verdict(_scores(new), _scores(old), [], gate.contest(*pair), 0.0) for new, old in scores for pair in texts
    ]
    return [said, gate.metric.of(0.2, 0.9), gate.bonus("You MUST always greet"), gate.bonus("x" * 4000)]


def _scores(values: list[float]) -> dict[str, float]:
    return {f"t{n}": value for n, value in enumerate(values)}


def guard(lab: Lab, settings: Setting) -> Any:
    """Which leaks are refused."""
    repo = _shared(lab)
    config = lab.config(repo.root, "env.split_dir=leaky", *settings)
    _, splits = load_tasks(repo, config, locate(repo, config, "greeter"))
    refuse = leak_guard(splits, config.leaks)
    texts = ["order_total_v2", "one two three four five six seven eight nine ten", "the silver fox of Kamchatka"]
    return [bool(refuse("", text)) for text in texts]


def limits(lab: Lab, settings: Setting) -> Any:
    """Whether a budget lets two calls of half a dollar through, and its time."""
    made = make_budget(lab.config(Path(), *settings))
    try:
        for _ in range(2):
            made.reserve()
            made.settle(Usage(10, 10, None, 0.5))
    except SkillgitError as error:
        return [error.what, made.limits]
    return ["fine", made.limits]


def learning(lab: Lab, settings: Setting) -> Any:
    """Analysts and merges: how many are asked, at once, and about what."""
    config = lab.config(Path(), *settings)
    together = Together()
    texts = iter(range(100))

    def answer(request: Any) -> str:
        with together.one():
            number = next(texts)
        return json.dumps(append(f"- line {number}"))

    cases = [outcome(f"t{n}", n % 3 == 0, "xy"[n % 2], response="said " * 200, thought="hm") for n in range(12)]
    asked: list[Any] = []
    own = advisor(lambda request: (asked.append(request), answer(request))[1])
    found = reflect(own, config, "skill", cases, context="", budget=4, step=1)
    patches = [Patch((Edit("append", f"- {n}"),)) for n in range(9)]
    aggregate(own, config, "skill", patches, memory="", step=1)
    return [sorted(map(len, map(words, asked))), len(asked), len(found), together.seen]


def rolling(lab: Lab, settings: Setting) -> Any:
    """Rollouts: how many at once, what is sent, what a slow or failing target leads to."""
    repo = _shared(lab)
    config = lab.config(repo.root, *settings)
    benchmark, splits = load_tasks(repo, config, locate(repo, config, "greeter"))
    together = Together()
    sent: list[Any] = []

    def answer(request: Any) -> str:
        with together.one():
            sent.append(request.max_tokens)
        return "x" if request.messages[-1].content != "Aval0" else " "  # an empty answer is an error

    model = Scripted(ModelSpec("target", "scripted", "t"), answer, latency=0.005)
    caller: Any = Caller(model, Memory(), Budget(Limits()), "r")  # type: ignore[arg-type]
    rollouts = make_rollouts(repo, config, locate(repo, config, "greeter"), benchmark, caller, ignore)
    try:
        outcomes = rollouts.run(Version("v", Document(SKILL)), splits.val, step=1, stage="val")
    except SkillgitError as error:
        return error.what
    return [[bool(o.error) for o in outcomes], max(sent, key=str), together.seen]


def files(lab: Lab, settings: Setting) -> Any:
    """What a run leaves in the folder."""
    folder = lab.repo()
    with lab.models([], By(analyst=append()), lambda request: "dunno"):
        sets = [arg for text in ("model.backend=scripted", "train.num_epochs=1", *settings) for arg in ("--set", text)]
        assert run(["-q", "-C", str(folder), "train", "greeter", *sets]) == 0
    return sorted(path.name for path in folder.glob("copy/*"))


def gate_calls(lab: Lab, settings: Setting) -> Any:
    """Calls of a run whose candidate does nothing."""
    return lab.train(By(analyst=append("- idle")), *settings, folder=lab.repo(skill=f"{SKILL}{RULE['A']}\n")).counts


def guidance(lab: Lab, settings: Setting) -> Any:
    """What is compared at the end of the second epoch, and what the gate says of harmful guidance."""
    optimizer = By(
        analyst=[append(RULE["A"]), append(RULE["B"])],
        slow_update={"slow_update_content": "- HARM: shout"},
        meta_skill={"meta_skill_content": "Short."},
    )

    def late(request: Any) -> str:
        return "dunno" if request.messages[-1].content == "Bval5" else greeter(request)

    done = lab.train(optimizer, "train.num_epochs=2", "optimizer.use_slow_update=true", *settings, target=late)
    return [[end.verdict for end in done.ends("boundary")], [words(r) for r in done.requests("slow_update")]]


def signing(lab: Lab, settings: Setting) -> Any:
    """Whether commits are signed when the user signs, with a program that cannot."""
    folder = lab.repo()
    git(folder, "config", "commit.gpgsign", "true")
    git(folder, "config", "gpg.program", "/bin/false")
    try:
        return lab.train(By(analyst=append()), *settings, folder=folder).verdicts
    except SkillgitError as error:
        return error.exit_code


def pushing(lab: Lab, settings: Setting) -> Any:
    """How a push of an unmeasured skill ends."""
    folder = lab.repo()
    section = "".join(f"git:\n  {text.removeprefix('git.').replace('=', ': ')}\n" for text in settings)
    (folder / "skillgit.yaml").write_text(section)
    zero, head = "0" * 40, git(folder, "rev-parse", "HEAD")
    done = subprocess.run(
        [sys.executable, "-m", "skillgit", "-C", str(folder), "hook", "pre-push", "origin", "url"],
        input=f"refs/heads/main {head} refs/heads/main {zero}\n",
        capture_output=True,
        text=True,
    )
    assert "unmeasured" in done.stdout, done.stderr
    return done.returncode


def linting(lab: Lab, settings: Setting) -> Any:
    """What is found in a skill with keys of one agent, another name, and some length."""
    text = f"---\nname: other\ndescription: {'Greets. ' * 20}\nmodel: x\n---\n\n{'Greet all people. ' * 20}\n"
    skill = Skill("skills/x", "x", (SkillFile("SKILL.md", text.encode()),))
    return [(found.rule, found.level) for found in lint(skill, policy_of(lab.config(Path(), *settings)))]


_made: dict[str, Repository] = {}


def _shared(lab: Lab) -> Repository:
    """A repository with a second skill, another task folder, a file of tasks, and tasks that could leak."""
    if "repo" not in _made or not _made["repo"].root.is_dir():
        folder = lab.repo()
        (folder / "other").mkdir()
        (folder / "other/SKILL.md").write_text(SKILL)
        (folder / "other.md").write_text(SKILL)
        rows = [{"id": f"o{n}", "input": f"other {n}", "answers": ["x"]} for n in range(12)]
        (folder / "all.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        items = [{"id": f"q{n}", "question": f"What is {n}?", "answers": ["x"]} for n in range(12)]
        for name, part in (("train", items[:6]), ("val", items[6:])):
            (folder / "split").mkdir(exist_ok=True)
            (folder / f"split/{name}.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in part))
        leaky = {
            "train": {"id": "a", "input": "x", "judge": {"type": "checks", "checks": [_CHECK]}},
            "val": {"id": "b", "input": "one two three four five six seven eight nine ten", "answers": [_FOX]},
        }
        (folder / "leaky").mkdir()
        for name, row in leaky.items():
            (folder / f"leaky/{name}.jsonl").write_text(json.dumps(row) + "\n")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", "more")
        _made["repo"] = Repository.open(folder)
    return _made["repo"]


_CHECK = {"op": "contains", "arg": "order_total_v2"}
_FOX = "the silver fox of Kamchatka"
AWARE = ("optimizer.use_skill_aware_reflection=true",)

TABLE: Mapping[str, tuple[str, Observe, tuple[str, ...]]] = {
    "model.backend": ("scripted", models, ()),
    "model.optimizer": ("other", models, ()),
    "model.target": ("other", models, ()),
    "model.optimizer_backend": ("scripted", models, ()),
    "model.target_backend": ("scripted", models, ()),
    "model.base_url": ("http://127.0.0.1:1/v1", models, ()),
    "model.optimizer_base_url": ("http://127.0.0.1:1/v1", models, ()),
    "model.target_base_url": ("http://127.0.0.1:1/v1", models, ()),
    "model.api_key_env": ("K1", models, ()),
    "model.optimizer_api_key_env": ("K2", models, ()),
    "model.target_api_key_env": ("K3", models, ()),
    "model.timeout": ("7", models, ()),
    "model.retries": ("1", models, ()),
    "model.optimizer_temperature": ("0.3", models, ()),
    "model.target_temperature": ("0.3", models, ()),
    "model.optimizer_max_tokens": ("77", requests, ()),
    "model.rewrite_max_completion_tokens": ("77", requests, ("optimizer.skill_update_mode=rewrite_from_suggestions",)),
    "model.optimizer_price": ("{prompt: 1, completion: 2}", models, ()),
    "model.target_price": ("{prompt: 1, completion: 2}", models, ()),
    "model.script": ("script.json", models, ()),
    "model.optimizer_timeout": ("7", models, ()),
    "model.target_timeout": ("7", models, ()),
    "model.reasoning_effort": ("low", models, ("model.backend=openai_chat",)),
    "model.optimizer_reasoning_effort": ("low", models, ()),
    "model.target_reasoning_effort": ("low", models, ()),
    "model.rewrite_reasoning_effort": ("low", requests, ("optimizer.skill_update_mode=rewrite_from_suggestions",)),
    "model.thinking": ("enabled", models, ()),
    "model.optimizer_thinking": ("enabled", models, ()),
    "model.target_thinking": ("enabled", models, ()),
    "model.optimizer_region": ("cn_zh", models, ("model.backend=minimax_chat", "model.optimizer_backend=minimax_chat")),
    "model.target_region": ("cn_zh", models, ("model.backend=minimax_chat",)),
    **{
        f"model.{section}.{name}": (value, models, ("model.backend=openai_chat", *_AT_AZURE))
        for section in ("azure", "optimizer_azure", "target_azure")
        for name, value in {
            "endpoint": "https://other.openai.azure.com",
            "api_version": "2030-01-01",
            "auth_mode": "managed_identity",
            "ad_scope": "https://other/.default",
            "managed_identity_client_id": "c1",
        }.items()
    },
    **{
        f"model.{section}.{name}": ("/opt/x", models, (f"model.backend={backend}",))
        for backend, section, names in (
            ("claude_chat", "claude", ("path",)),
            ("codex_exec", "codex", ("path", "profile")),
            ("copilot_chat", "copilot", ("path", "home")),
            ("cursor_chat", "cursor", ("path",)),
            ("opencode", "opencode", ("path",)),
            ("pi", "pi", ("path",)),
        )
        for name in names
    },
    **{
        f"model.{section}.{name}": (value, working, (f"model.target_backend={backend}", *around))
        for backend, section, name, value, *around in (
            ("claude_code_exec", "claude", "permission_mode", "bypassPermissions"),
            ("claude_code_exec", "claude", "bash", "true", "edits"),
            ("claude_code_exec", "claude", "profile", "careful"),
            ("claude_code_exec", "claude", "max_thinking_tokens", "5000"),
            ("codex_exec", "codex", "sandbox", "danger-full-access"),
            ("codex_exec", "codex", "network_access", "true"),
            ("codex_exec", "codex", "web_search", "true"),
            ("codex_exec", "codex", "approval_policy", "untrusted"),
            ("copilot_exec", "copilot", "allow_all_tools", "true"),
            ("cursor_exec", "cursor", "sandbox", "disabled"),
        )
    },
    "model.trace_to_optimizer": ("false", learning, ()),
    "model.local.path": ("m.gguf", models, ()),
    "model.local.context": ("512", models, ()),
    "model.local.threads": ("2", models, ()),
    "train.num_epochs": ("2", plan, ()),
    "train.train_size": ("9", plan, ("env.split_dir=evals/greeter", "train.batch_size=4")),
    "train.batch_size": ("3", plan, ()),
    "train.accumulation": ("2", plan, ("train.batch_size=2",)),
    "train.seed": ("7", plan, ("train.batch_size=3",)),
    "gradient.minibatch_size": ("2", learning, ()),
    "gradient.merge_batch_size": ("2", learning, ()),
    "gradient.analyst_workers": ("1", learning, ("gradient.minibatch_size=2",)),
    "gradient.failure_only": ("false", learning, ()),
    "gradient.group_by_tag": ("true", learning, ()),
    "gradient.trajectory_chars": ("300", learning, ()),
    "optimizer.profile": ("small", learning, ()),
    "optimizer.skill_update_mode": ("full_rewrite_minibatch", requests, ()),
    "optimizer.lr_control_mode": ("none", plan, ()),
    "optimizer.learning_rate": ("6", plan, ()),
    "optimizer.min_learning_rate": ("1", plan, ("train.batch_size=2",)),
    "optimizer.lr_scheduler": ("constant", plan, ("train.batch_size=2",)),
    "optimizer.use_slow_update": ("true", plan, ("train.num_epochs=2",)),
    "optimizer.slow_update_samples": ("2", guidance, ()),
    "optimizer.slow_update_gate_with_selection": ("true", guidance, ()),
    "optimizer.longitudinal_pair_policy": ("unchanged", guidance, ()),
    "optimizer.use_meta_skill": ("true", plan, ("train.num_epochs=3",)),
    "optimizer.use_skill_aware_reflection": ("true", requests, ()),
    "optimizer.skill_aware_appendix_source": ("failure_only", learning, (*AWARE, "gradient.failure_only=false")),
    "optimizer.skill_aware_consolidate_threshold": ("1", requests, AWARE),
    "optimizer.use_compaction": ("true", requests, ()),
    "evaluation.use_gate": ("false", rule, ()),
    "evaluation.sel_env_num": ("2", plan, ()),
    "evaluation.test_env_num": ("2", plan, ()),
    "evaluation.eval_test": ("true", plan, ()),
    "evaluation.gate_metric": ("soft", rule, ()),
    "evaluation.gate_mixed_weight": ("0.9", rule, ("evaluation.gate_metric=mixed",)),
    "evaluation.use_semantic_density": ("true", rule, ()),
    "evaluation.semantic_density_weight": ("0.5", rule, ("evaluation.use_semantic_density=true",)),
    "evaluation.leading_words": ("greet", rule, ("evaluation.use_semantic_density=true",)),
    "evaluation.length_weight": ("0.5", rule, ()),
    "evaluation.accept_shorter_ties": ("true", rule, ()),
    "evaluation.repeats": ("2", plan, ()),
    "evaluation.confidence": ("0.9", rule, ()),
    "evaluation.no_regression": ("T", rule, ()),
    "evaluation.confirm_ratio": ("0.5", plan, ()),
    "evaluation.fail_first": ("false", gate_calls, ()),
    "evaluation.max_error_rate": ("0", rolling, ()),
    "env.name": ("searchqa", plan, ("env.split_dir=split",)),
    "env.split_mode": ("ratio", plan, ("env.split_dir=evals/greeter", "env.data_path=all.jsonl")),
    "env.split_ratio": ("1:1:1", plan, ("env.data_path=all.jsonl",)),
    "env.split_seed": ("7", plan, ("env.data_path=all.jsonl",)),
    "env.split_dir": ("leaky", plan, ()),
    "env.data_path": ("all.jsonl", plan, ()),
    "env.limit": ("2", plan, ()),
    "env.skill_init": ("other.md", plan, ("env.data_path=all.jsonl",)),
    "env.out_root": ("copy", files, ()),
    "env.workers": ("1", rolling, ()),
    "env.exec_timeout": ("0.001", rolling, ("env.workers=1",)),
    "env.max_completion_tokens": ("77", rolling, ()),
    "skill.path": ("other", plan, ("env.data_path=all.jsonl",)),
    "leaks.grader": ("false", guard, ()),
    "leaks.span": ("false", guard, ()),
    "leaks.reference": ("false", guard, ()),
    "lint.profile": ("claude-code", linting, ()),
    "lint.levels": ("{name-folder: off}", linting, ()),
    "lint.max_description_tokens": ("20", linting, ()),
    "lint.max_body_tokens": ("20", linting, ()),
    "budget.calls": ("1", limits, ()),
    "budget.tokens": ("20", limits, ()),
    "budget.cost": ("0.5", limits, ()),
    "budget.time": ("60", limits, ()),
    "git.sign": ("never", signing, ()),
    "git.push_gate": ("block", pushing, ()),
}


def test_every_key_of_the_schema_is_in_the_table() -> None:
    # These have tables of their own: tests/config/test_sleep_keys.py and tests/config/test_benchmark_keys.py.
    assert set(TABLE) == {key for key in KEYS if not key.startswith("sleep.")} - BENCHMARK_KEYS.keys()


def outcome_of(observe: Observe, lab: Lab, settings: tuple[str, ...]) -> Any:
    """What is observed; an error a user would meet is an observation too."""
    try:
        return observe(lab, Setting(settings))
    except SkillgitError as error:
        return str(error)


_seen: dict[tuple[Any, ...], Any] = {}


@pytest.mark.parametrize("key", list(TABLE))
def test_flipping_a_key_changes_what_is_observed(key: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    value, observe, around = TABLE[key]
    lab = Lab(tmp_path_factory.mktemp("lab"))
    before = (observe, around)
    if before not in _seen:
        _seen[before] = outcome_of(observe, lab, around)
    assert not isinstance(_seen[before], str), _seen[before]
    flipped = outcome_of(observe, lab, (*around, f"{key}={value}"))
    assert flipped != _seen[before]
    assert not str(flipped).startswith(("unknown", "--set")), flipped


def test_nothing_but_the_settings_changes_what_is_observed(tmp_path_factory: pytest.TempPathFactory) -> None:
    for observe, around in dict.fromkeys((observe, around) for _, observe, around in TABLE.values()):
        first, second = (outcome_of(observe, Lab(tmp_path_factory.mktemp("lab")), around) for _ in range(2))
        assert first == second, observe.__name__
