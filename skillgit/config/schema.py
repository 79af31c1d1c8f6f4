"""Every configuration key, its type, default and meaning.

Section and key names are those of SkillOpt where it has them. A key that is not here is refused, never ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LocalModel:
    """`model.local`: the embedded llama.cpp server.

    Attributes:
        path: a GGUF file used for both roles instead of the model names.
        context: tokens of context per model.
        threads: processor threads; 0 takes all cores but one (waiting threads of llama.cpp keep a core busy).
    """

    path: str = ""
    context: int = 4096
    threads: int = 0


@dataclass(frozen=True)
class Azure:
    """`model.azure`, `model.optimizer_azure`, `model.target_azure`: an Azure OpenAI resource for `openai_chat`.

    Blank fields of a role take the shared ones.

    Attributes:
        endpoint: address of the resource; blank reaches OpenAI itself.
        api_version: version of the API.
        auth_mode: `azure_cli`, `managed_identity`, `api_key`, or `openai_compatible` for a plain server at `endpoint`.
        ad_scope: scope that tokens are asked for.
        managed_identity_client_id: of a user-assigned identity.
    """

    endpoint: str = ""
    api_version: str = ""
    auth_mode: str = ""
    ad_scope: str = ""
    managed_identity_client_id: str = ""


@dataclass(frozen=True)
class Program:
    """`model.claude`, `model.cursor`, `model.opencode`, `model.pi`: a command-line agent.

    Attributes:
        path: its executable; blank looks for it on PATH.
    """

    path: str = ""


@dataclass(frozen=True)
class Codex:
    """`model.codex`: Codex's command line.

    Attributes:
        path: its executable; blank looks for it on PATH.
        profile: of the user's Codex configuration, which is read only when this is named.
    """

    path: str = ""
    profile: str = ""


@dataclass(frozen=True)
class Copilot:
    """`model.copilot`: GitHub Copilot's command line.

    Attributes:
        path: its executable; blank looks for it on PATH.
        home: its folder of settings and logins; blank keeps the usual one.
    """

    path: str = ""
    home: str = ""


@dataclass(frozen=True)
class Model:
    """`model`: which models, and how they are reached. API keys come from the environment only.

    Attributes:
        backend: backend of both roles, unless a role names its own.
        optimizer, target: model of each role.
        optimizer_backend, target_backend: backend of one role; blank takes `backend`.
        base_url, optimizer_base_url, target_base_url: address of a Chat Completions server, ending in `/v1`.
        api_key_env, optimizer_api_key_env, target_api_key_env: name of the environment variable with the key.
        timeout, optimizer_timeout, target_timeout: seconds per attempt; a role's 0 takes `timeout`.
        retries: further attempts after a transient failure.
        optimizer_temperature, target_temperature: blank keeps the backend's default.
        optimizer_max_tokens: most tokens of one optimizer reply; 0 keeps the backend's default.
        rewrite_max_completion_tokens: the same for replies that hold a whole document.
        optimizer_price, target_price: dollars per million tokens, keys `prompt` and `completion`.
        reasoning_effort: how much the model shall think (`low`, `medium`, …) where the backend's protocol has a word
            for it; blank asks for nothing.
        optimizer_reasoning_effort, target_reasoning_effort: the same for one role, sent to any server.
        rewrite_reasoning_effort: the same for replies that hold a whole document.
        thinking, optimizer_thinking, target_thinking: `enabled` or `disabled` for servers with a switch; blank or
            `server_default` says nothing.
        optimizer_region, target_region: of MiniMax: `global_en` or `cn_zh`.
        azure, optimizer_azure, target_azure: Azure OpenAI, for both roles and for one.
        claude, codex, copilot, cursor, opencode, pi: command-line agents, used by backends of their names.
        script: reply script of the `scripted` backend.
        local: the embedded server.
    """

    backend: str = "openai_compatible"
    optimizer: str = ""
    target: str = ""
    optimizer_backend: str = ""
    target_backend: str = ""
    base_url: str = ""
    optimizer_base_url: str = ""
    target_base_url: str = ""
    api_key_env: str = ""
    optimizer_api_key_env: str = ""
    target_api_key_env: str = ""
    timeout: float = 300.0
    optimizer_timeout: float = 0.0
    target_timeout: float = 0.0
    retries: int = 4
    optimizer_temperature: float | None = None
    target_temperature: float | None = None
    optimizer_max_tokens: int = 16384
    rewrite_max_completion_tokens: int = 64000
    optimizer_price: Mapping[str, float] = field(default_factory=dict)
    target_price: Mapping[str, float] = field(default_factory=dict)
    reasoning_effort: str = ""
    optimizer_reasoning_effort: str = ""
    target_reasoning_effort: str = ""
    rewrite_reasoning_effort: str = ""
    thinking: str = ""
    optimizer_thinking: str = ""
    target_thinking: str = ""
    optimizer_region: str = ""
    target_region: str = ""
    azure: Azure = Azure()
    optimizer_azure: Azure = Azure()
    target_azure: Azure = Azure()
    claude: Program = Program()
    codex: Codex = Codex()
    copilot: Copilot = Copilot()
    cursor: Program = Program()
    opencode: Program = Program()
    pi: Program = Program()
    script: str = ""
    local: LocalModel = LocalModel()


@dataclass(frozen=True)
class Train:
    """`train`: sizes of a run.

    Attributes:
        num_epochs: passes over the train tasks.
        train_size: expected number of train tasks; 0 takes what the files hold.
        batch_size: tasks rolled out per batch.
        accumulation: batches per step.
        seed: of batches, minibatches and sampling.
    """

    num_epochs: int = 4
    train_size: int = 0
    batch_size: int = 40
    accumulation: int = 1
    seed: int = 42


@dataclass(frozen=True)
class Gradient:
    """`gradient`: how trajectories become proposed edits.

    Attributes:
        minibatch_size: trajectories per analyst call.
        merge_batch_size: patches per merge call.
        analyst_workers: optimizer calls at once.
        failure_only: learn from failures alone.
        group_by_tag: a minibatch holds trajectories of one first tag only.
        trajectory_chars: most characters of one trajectory shown to an analyst, head and tail kept.
    """

    minibatch_size: int = 8
    merge_batch_size: int = 8
    analyst_workers: int = 16
    failure_only: bool = False
    group_by_tag: bool = False
    trajectory_chars: int = 6000


@dataclass(frozen=True)
class Optimizer:
    """`optimizer`: how edits become a new skill.

    Attributes:
        profile: `standard`, or `small` for optimizers of a few billion parameters.
        skill_update_mode: `patch`, `rewrite_from_suggestions` or `full_rewrite_minibatch`.
        lr_control_mode: `fixed` follows the schedule, `autonomous` lets the optimizer decide, `none` has no limit.
        learning_rate: edit budget, the most edits a step may apply.
        min_learning_rate: lowest budget of a falling schedule.
        lr_scheduler: `constant`, `linear` or `cosine`.
        use_slow_update: at each epoch's end, rewrite the protected guidance region.
        slow_update_samples: train tasks compared for it.
        slow_update_gate_with_selection: accept the guidance only if the gate does.
        longitudinal_pair_policy: task pairs for it: `mixed`, `changed` or `unchanged`.
        use_meta_skill: keep advice for the optimizer's own later calls; the `small` profile has none.
        use_skill_aware_reflection: tell lapses from defects; reminders go to the protected appendix.
        skill_aware_appendix_source: analysts that may write reminders: `both` or `failure_only`.
        skill_aware_consolidate_threshold: more reminders than this are merged; 0 never merges.
        use_compaction: at each epoch's end, propose a shorter text; taken when the score does not fall.
    """

    profile: str = "standard"
    skill_update_mode: str = "patch"
    lr_control_mode: str = "fixed"
    learning_rate: int = 4
    min_learning_rate: int = 2
    lr_scheduler: str = "cosine"
    use_slow_update: bool = True
    slow_update_samples: int = 20
    slow_update_gate_with_selection: bool = False
    longitudinal_pair_policy: str = "mixed"
    use_meta_skill: bool = True
    use_skill_aware_reflection: bool = False
    skill_aware_appendix_source: str = "both"
    skill_aware_consolidate_threshold: int = 0
    use_compaction: bool = False


@dataclass(frozen=True)
class Evaluation:
    """`evaluation`: the gate and the final report.

    Attributes:
        use_gate: false accepts every candidate, measured all the same.
        sel_env_num, test_env_num: first N tasks of val and test; 0 takes all.
        eval_test: report the initial, best and last skill on test.
        gate_metric: `hard`, `soft` or `mixed`.
        gate_mixed_weight: weight of soft in `mixed`, 0 to 1.
        use_semantic_density: add a bonus for leading words to the gate score; it can be gamed by adding such words.
        semantic_density_weight: weight of that bonus.
        leading_words: words that count for it, as a list or separated by commas; empty takes SkillOpt's.
        length_weight: gate score taken off per 1000 tokens of skill.
        accept_shorter_ties: accept an equal score when the skill is shorter.
        repeats: samples per task; scores are means over them.
        confidence: how sure, 0 to 1, the gate must be that the gain is real; 0 asks only for a gain.
        no_regression: `off`, `all`, or tags separated by commas whose tasks must not get worse.
        confirm_ratio: share of val (0 to 1) kept from the gate, to confirm the best version at the end.
        fail_first: run what the current skill fails first and stop when the candidate cannot win.
        max_error_rate: share of failed calls (0 to 1) above which a run stops.
    """

    use_gate: bool = True
    sel_env_num: int = 0
    test_env_num: int = 0
    eval_test: bool = True
    gate_metric: str = "hard"
    gate_mixed_weight: float = 0.5
    use_semantic_density: bool = False
    semantic_density_weight: float = 0.05
    leading_words: tuple[str, ...] = ()
    length_weight: float = 0.0
    accept_shorter_ties: bool = False
    repeats: int = 1
    confidence: float = 0.0
    no_regression: str = "off"
    confirm_ratio: float = 0.0
    fail_first: bool = True
    max_error_rate: float = 0.2


@dataclass(frozen=True)
class Env:
    """`env`: the tasks and how they run.

    Attributes:
        name: benchmark; blank means the skill's own task files.
        split_mode: `ratio` or `split_dir`.
        split_ratio: train:val:test, like `2:1:7`; blank takes the benchmark's default.
        split_seed: shuffle seed of a ratio split.
        split_dir: folder with train, val and test.
        data_path: one file with all tasks.
        limit: first N tasks of every split; 0 takes all.
        workers: rollouts at once.
        skill_init: the initial skill as SkillOpt names it: a Markdown file, from the repository's top.
        out_root: folder for a copy of the results in SkillOpt's layout; blank writes none.
        exec_timeout: seconds one rollout may take, retries included.
        max_completion_tokens: most tokens of one target reply; 0 keeps the backend's default.
    """

    name: str = ""
    split_mode: str = ""
    split_ratio: str = ""
    split_seed: int = 42
    split_dir: str = ""
    data_path: str = ""
    limit: int = 0
    skill_init: str = ""
    out_root: str = ""
    workers: int = 8
    exec_timeout: float = 120.0
    max_completion_tokens: int = 0


@dataclass(frozen=True)
class Skill:
    """`skill`: where the skill is.

    Attributes:
        path: folder or Markdown file, from the repository's top; blank means `skills/<name>`.
    """

    path: str = ""


@dataclass(frozen=True)
class Leaks:
    """`leaks`: what an edit must not carry into the skill.

    Attributes:
        grader: check patterns, judge settings and rubric wording.
        span: eight words or more in a row from any task.
        reference: distinctive answers of val and test tasks.
    """

    grader: bool = True
    span: bool = True
    reference: bool = True


@dataclass(frozen=True)
class Lint:
    """`lint`: which rules skills must keep, and how strictly.

    Attributes:
        profile: who reads the skills: `spec`, `claude-code`, `codex`, `cursor` or `copilot`.
        levels: rule to `error`, `warning`, `advice` or `off`, where it differs from the profile.
        max_description_tokens: most tokens of name and description, which are always loaded; 0 is no limit.
        max_body_tokens: most tokens of the body, which is loaded on use; 0 is no limit.
    """

    profile: str = "spec"
    levels: Mapping[str, str] = field(default_factory=dict)
    max_description_tokens: int = 200
    max_body_tokens: int = 5000


@dataclass(frozen=True)
class Budget:
    """`budget`: limits checked before every call; 0 is no limit.

    Attributes:
        calls: model calls.
        tokens: prompt and completion tokens.
        cost: dollars.
        time: seconds.
    """

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    time: float = 0.0


@dataclass(frozen=True)
class GitSection:
    """`git`: how commits are made and pushed.

    Attributes:
        sign: `auto` follows `commit.gpgsign`; `never` leaves skillgit's commits unsigned.
        push_gate: what the pre-push hook does about skills that are unmeasured or got worse: `block` refuses the push,
            `warn` lets it go on, `off` does not look.
    """

    sign: str = "auto"
    push_gate: str = "warn"


@dataclass(frozen=True)
class Config:
    """The resolved configuration of one command."""

    model: Model = Model()
    train: Train = Train()
    gradient: Gradient = Gradient()
    optimizer: Optimizer = Optimizer()
    evaluation: Evaluation = Evaluation()
    env: Env = Env()
    skill: Skill = Skill()
    leaks: Leaks = Leaks()
    lint: Lint = Lint()
    budget: Budget = Budget()
    git: GitSection = GitSection()
