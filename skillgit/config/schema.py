"""Every configuration key, its type, default and meaning.

Section and key names are those of SkillOpt where it has them. A key that is not here is refused, never ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skillgit.config.models import Model
from skillgit.config.sleep import Sleep


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
        max_turns: most turns of one task, where a benchmark has several; 0 takes its own number.
        max_steps: most actions in one game (`alfworld`).
        max_tool_turns: most turns with tool calls (`officeqa`).
        use_local_tools: offer tools that look into the documents (`officeqa`).
        data_dirs: folders of documents (`officeqa`).
        search_mode: `offline`, or `custom_search` at `search_api_url` (`officeqa`).
        search_api_url: https address that searches are posted to.
        search_auth_env: environment variable with the token for it.
        search_provider: what is asked there to search.
        search_max_num_results: results per search.
        search_timeout_seconds: seconds one search may take.
        max_queries_per_turn: searches per turn.
        image_detail: how closely pictures are looked at: `auto`, `low` or `high` (`docvqa`).
        shuffle_choices: ask with the choices in an order of the task's own (`livemathematicianbench`).
        use_theorem, use_sketch: show the theorem, and the sketch of its proof (`livemathematicianbench`).
        data_root: folder of the workbooks (`spreadsheetbench`).
        mode: `single`, `multi` or `react` (`spreadsheetbench`).
        options: settings of a benchmark from another package.
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
    max_turns: int = 0
    max_steps: int = 50
    max_tool_turns: int = 24
    use_local_tools: bool = True
    data_dirs: tuple[str, ...] = ()
    search_mode: str = "offline"
    search_api_url: str = ""
    search_auth_env: str = ""
    search_provider: str = ""
    search_max_num_results: int = 4
    search_timeout_seconds: float = 20.0
    max_queries_per_turn: int = 4
    image_detail: str = "auto"
    shuffle_choices: bool = True
    use_theorem: bool = False
    use_sketch: bool = False
    data_root: str = ""
    mode: str = "multi"
    options: Mapping[str, Any] = field(default_factory=dict)


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

    model: Model = field(default_factory=Model)
    train: Train = Train()
    gradient: Gradient = Gradient()
    optimizer: Optimizer = Optimizer()
    evaluation: Evaluation = Evaluation()
    env: Env = field(default_factory=Env)
    skill: Skill = Skill()
    leaks: Leaks = Leaks()
    lint: Lint = Lint()
    budget: Budget = Budget()
    git: GitSection = GitSection()
    sleep: Sleep = field(default_factory=Sleep)
