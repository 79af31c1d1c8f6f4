"""The search for the version that made a score fall."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import CheckFailedError, ConfigError, ModelError
from skillgit.evals.bisect import Found, Search
from skillgit.git.lineage import Node


def chain(count: int) -> Search:
    return Search([Node(f"c{n}", f"o{n}", (n - 1,) if n else ()) for n in range(count)])


def found(search: Search, scores: list[float], known: tuple[int, ...] = (), threshold: float | None = None) -> Found:
    names = [node.object for node in search.nodes]
    table = dict(zip(names, scores, strict=True))
    return search.run({names[n]: scores[n] for n in known}, table.__getitem__, threshold)


@st.composite
def histories(draw: st.DrawFn) -> Search:
    """Versions that all lie between the first and the last, with branches and merges."""
    count = draw(st.integers(2, 24))
    nodes = [Node("c0", "o0")]
    for number in range(1, count):
        parents = draw(st.sets(st.integers(max(0, number - 4), number - 1), min_size=1, max_size=3))
        nodes.append(Node(f"c{number}", f"o{number}", tuple(sorted(parents))))
    loose = set(range(count)) - {parent for node in nodes for parent in node.parents}
    nodes.append(Node(f"c{count}", f"o{count}", tuple(sorted(loose))))
    return Search(nodes)


@given(st.integers(2, 200), st.data())
def test_a_planted_fall_is_found_in_logarithmic_many_measurements(count: int, data: st.DataObject) -> None:
    culprit = data.draw(st.integers(1, count - 1))
    search = chain(count)
    answer = found(search, [1.0] * culprit + [0.0] * (count - culprit))
    assert answer.first == culprit
    assert len(answer.measured) <= 2 + math.ceil(math.log2(count - 1))


@given(histories(), st.data())
def test_whatever_the_scores_the_answer_is_bad_and_all_it_was_made_from_is_good(
    search: Search, data: st.DataObject
) -> None:
    count = len(search.nodes)
    scores = [1.0, *data.draw(st.lists(st.sampled_from([0.0, 0.4, 0.6, 1.0]), min_size=count - 2, max_size=count - 2))]
    scores.append(0.0)
    known = tuple(data.draw(st.sets(st.integers(0, count - 1))))
    answer = found(search, scores, known)
    assert scores[answer.first] < answer.threshold == 0.5
    assert all(scores[parent] >= 0.5 for parent in search.nodes[answer.first].parents)
    table = {search.nodes[n].object: scores[n] for n in known}
    assert len(answer.measured) <= search.at_most_from(table, None)
    assert not set(answer.measured) & set(table)
    assert len(set(answer.measured)) == len(answer.measured)


def test_known_scores_narrow_the_range_for_nothing() -> None:
    scores = [1.0] * 20 + [0.0] * 12
    assert found(chain(32), scores, tuple(range(32))).measured == ()
    answer = found(chain(32), scores, (0, 18, 21, 31))
    assert (answer.first, set(answer.measured)) == (20, {"o19", "o20"})


def test_a_fall_beside_a_merge_is_not_blamed_on_another_branch() -> None:
    #     1 - 2 - 3
    #   /           \
    # 0               6      version 2 broke it; 4 and 5 come later in the row and are good
    #   \           /
    #     4 - - - 5
    parents = [(), (0,), (1,), (2,), (0,), (4,), (3, 5)]
    search = Search([Node(f"c{n}", f"o{n}", above) for n, above in enumerate(parents)])
    assert found(search, [1, 1, 0, 0, 1, 1, 0]).first == 2


def test_a_good_branch_says_nothing_about_the_lesser_version_that_it_came_from() -> None:
    # 1 is bad already; on one branch 2 mends it, on the other 3 does not. 3 did not break anything: 1 did.
    search = Search([Node("c0", "o0"), Node("c1", "o1", (0,)), Node("c2", "o2", (1,)), Node("c3", "o3", (1,))])
    merged = Search([*search.nodes, Node("c4", "o4", (2, 3))])
    assert found(merged, [1, 0, 1, 0, 0], known=(2, 3)).first == 1


def test_a_text_that_came_back_is_measured_once() -> None:
    nodes = [Node("c0", "good"), Node("c1", "x", (0,)), Node("c2", "good", (1,)), Node("c3", "y", (2,))]
    asked: list[str] = []

    def probe(name: str) -> float:
        asked.append(name)
        return {"good": 1.0, "x": 0.0, "y": 0.0}[name]

    answer = Search(nodes).run({}, probe)
    assert answer.first == 3
    assert asked == ["good", "y"]


def test_ups_and_downs_are_told_and_the_last_fall_is_the_answer() -> None:
    search = chain(8)
    answer = found(search, [1, 0, 0, 1, 1, 1, 0, 0], known=(1, 3))
    assert answer.first == 6
    assert search.ups_and_downs(answer) == [(1, 3)]


def test_a_fall_by_steps_is_found_where_it_passes_the_middle_or_the_threshold() -> None:
    scores = [1.0, 0.9, 0.9, 0.5, 0.4, 0.2]
    assert found(chain(6), scores).first == 3
    assert found(chain(6), scores, threshold=0.95).first == 1
    assert found(chain(6), scores, threshold=0.3).first == 5


def test_equal_ends_are_nothing_to_find() -> None:
    with pytest.raises(CheckFailedError, match="nothing to find") as caught:
        found(chain(3), [0.5, 0.0, 0.5])
    assert "0.500" in caught.value.why


@pytest.mark.parametrize(("scores", "threshold"), [([0.2, 0.5, 0.8], None), ([1, 1, 0.5], 0.4), ([0.7, 0.5, 0], 0.9)])
def test_ends_that_are_not_what_was_said_are_refused_with_both_scores(scores: list[float], threshold) -> None:
    with pytest.raises(ConfigError) as caught:
        found(chain(3), scores, threshold=threshold)
    assert f"{scores[0]:.3f}" in caught.value.why
    assert f"{scores[2]:.3f}" in caught.value.why


def test_a_failed_measurement_ends_the_search() -> None:
    def probe(name: str) -> float:
        if name not in ("o0", "o8"):
            raise ModelError("no answer")
        return float(name == "o0")

    with pytest.raises(ModelError):
        chain(9).run({}, probe)
