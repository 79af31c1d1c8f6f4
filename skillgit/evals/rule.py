"""The gate's rule beyond the published one: confidence, regressions, ties, and what a text itself is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skillgit.evals.gate import Metric, Verdict, cannot_win, decide, flips, mean
from skillgit.evals.stats import confident, minimum_n
from skillgit.skills.size import tokens

_SKILLOPT_WORDS = "must always never only critical important resolve prefer ensure strict verify"
LEADING_WORDS = frozenset(_SKILLOPT_WORDS.split(" "))
_REGIONS = re.compile(r"<!-- (SLOW_UPDATE|APPENDIX)_START -->.*?<!-- \1_END -->", re.DOTALL)


@dataclass(frozen=True)
class Contest:
    """What a gate compares besides scores.

    Attributes:
        candidate_bonus, current_bonus: what each text adds to its gate score.
        shorter: the candidate's text is shorter.
    """

    candidate_bonus: float = 0.0
    current_bonus: float = 0.0
    shorter: bool = False


@dataclass(frozen=True)
class Rule:
    """When a candidate is accepted.

    Attributes:
        metric: how hard and soft make one score.
        use_gate: false accepts everything.
        confidence: how sure, in [0, 1), the gain must be; 0 asks only for a gain.
        pinned: ids of tasks that must not get worse.
        shorter_ties: an equal score is enough for a shorter text.
        bonus: what a text adds to its gate score.
    """

    metric: Metric
    use_gate: bool = True
    confidence: float = 0.0
    pinned: frozenset[str] = frozenset()
    shorter_ties: bool = False
    bonus: Callable[[str], float] = lambda _: 0.0

    def contest(self, candidate: str, current: str) -> Contest:
        """The contest between two texts."""
        return Contest(self.bonus(candidate), self.bonus(current), len(candidate) < len(current))

    def ruled_out(
        self, candidate: Mapping[str, float], current: Mapping[str, float], waiting: Sequence[str], contest: Contest
    ) -> str:
        """Why no result of the `waiting` tasks can get the candidate accepted; empty while one can.

        Nothing is ruled out that the full comparison accepts (see `cannot_win`).
        """
        if regressed := [task for task in flips(current, candidate)[1] if task in self.pinned]:
            return f"pinned tasks got worse: {', '.join(sorted(regressed))}"
        bonus = contest.candidate_bonus - contest.current_bonus
        tie_wins = self.shorter_ties and contest.shorter
        lost = cannot_win(candidate, current, waiting, bonus=bonus, tie_wins=tie_wins)
        return "the score does not rise" if lost else ""

    def verdict(
        self,
        candidate: Mapping[str, float],
        current: Mapping[str, float],
        missing: Sequence[str],
        contest: Contest,
        best: float,
    ) -> tuple[Verdict, str]:
        """The decision and its reason (empty when accepted).

        Args:
            candidate, current: task id to score in [0, 1].
            missing: ids of tasks without a result for the candidate.
            best: the best version's gate score, its text bonus included.
        """
        common = [task for task in candidate if task in current]
        score, before = mean([candidate[t] for t in common]), mean([current[t] for t in common])
        if score is None or before is None:
            return "unverified", "no task was measured on both sides"
        if not self.use_gate:
            return "force_accept", ""
        if self.confidence and len(common) + len(missing) < minimum_n(self.confidence):
            return "underpowered", f"{len(common)} tasks cannot show a gain with confidence {self.confidence:g}"
        if reason := self.ruled_out(candidate, current, missing, contest):
            return "reject", reason
        tie_wins = self.shorter_ties and contest.shorter
        gate_score, gate_before = score + contest.candidate_bonus, before + contest.current_bonus
        if gate_score <= gate_before:
            # Less than equal was ruled out. What is equal to the last bit of a float is equal, and a tie is no gain.
            return ("accept", "") if tie_wins else ("reject", "the score does not rise")
        if self.confidence and not tie_wins and not confident(current, candidate, self.confidence):
            return "reject", f"the gain is not certain with confidence {self.confidence:g}"
        return decide(gate_score, gate_before, best), ""


def text_bonus(words: Sequence[str], density_weight: float, length_weight: float) -> Callable[[str], float]:
    """What a text adds to its gate score: leading words add, length takes off.

    Args:
        words: leading words; empty takes SkillOpt's.
        density_weight: gate score for a text of leading words alone.
        length_weight: gate score taken off per 1000 tokens.
    """
    leading = frozenset(word.lower() for word in words) or LEADING_WORDS

    def bonus(text: str) -> float:
        density = density_weight * semantic_density(text, leading) if density_weight else 0.0
        return density - length_weight * tokens(text) / 1000

    return bonus


def semantic_density(text: str, words: frozenset[str] = LEADING_WORDS) -> float:
    """Share of leading words among all words outside protected regions, as SkillOpt counts them; 0 without words."""
    tokens = re.findall(r"[a-zA-Z0-9]+", _REGIONS.sub("", text).lower())
    return sum(token in words for token in tokens) / len(tokens) if tokens else 0.0
