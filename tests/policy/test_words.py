"""Words and pairs that occur, and how commands match them, against plain Python."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("jax")

from agentenv_fast.policy.words import command_marks, match, pair_buckets, presence

WORDS, PAIRS = 32, 1021
SIZES = {"words": WORDS, "pairs": PAIRS}


def texts(width):
    row = st.lists(st.integers(2, WORDS - 1), min_size=0, max_size=width)
    return st.lists(row, min_size=3, max_size=3).map(lambda rows: pad(rows, width))


def pad(rows, width):
    out = np.zeros((len(rows), width), np.int32)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


def bucket_of_pair(a, b):
    """Where a pair lands, on the host; the first test has the device agree."""
    return int(pair_buckets(np.array([a]), np.array([b]), PAIRS, np)[0])


@settings(max_examples=40, deadline=None)
@given(texts(6))
def test_presence_is_the_set_of_words_and_pairs(tokens):
    got = np.asarray(presence(tokens, **SIZES))
    for row, ids in zip(got, tokens, strict=True):
        ids = [int(i) for i in ids if i]
        assert set(np.flatnonzero(row[:WORDS])) == set(ids)
        near = [*itertools.pairwise(ids), *zip(ids, ids[2:], strict=False)]
        assert set(np.flatnonzero(row[WORDS:])) == {bucket_of_pair(a, b) for a, b in near}


def test_padding_changes_nothing():
    tokens = pad([[3, 4, 5]], 3)
    np.testing.assert_array_equal(
        presence(tokens, **SIZES), presence(np.pad(tokens, ((0, 0), (0, 7))), **SIZES)
    )


def test_ids_beyond_the_buckets_are_folded_in():
    row = np.asarray(presence(np.array([[500, 2]], np.int32), **SIZES))[0]
    assert row[:WORDS].sum() == 2 and row[2 + 500 % (WORDS - 2)] == 1


def test_a_command_is_matched_by_position_and_by_share():
    commands = np.array([[10, 11, 12, 0], [10, 13, 14, 0]], np.int32)
    marks = np.asarray(command_marks(commands, **SIZES, positions=4))
    assert marks.shape == (2, 7) and (marks[:, 3] == -1).all()
    present = np.asarray(presence(np.array([[9, 11, 12, 20, 10]], np.int32), **SIZES))
    got = np.asarray(match(present, marks[None]))[0]
    np.testing.assert_array_equal(got[0, :4], [1, 1, 1, 0])  # take, red, key occur
    np.testing.assert_array_equal(got[0, 4:7], [0, 1, 0])  # "red key" does as a pair, "take red" does not
    np.testing.assert_allclose(got[0, 7:], [1.0, 0.5])
    np.testing.assert_allclose(got[1, 7:], [1 / 3, 0.0], atol=1e-6)


def test_pairs_keep_the_order_of_words_apart():
    ab = np.asarray(presence(np.array([[3, 4]], np.int32), words=WORDS, pairs=4096))
    ba = np.asarray(presence(np.array([[4, 3]], np.int32), words=WORDS, pairs=4096))
    assert (ab[:, :WORDS] == ba[:, :WORDS]).all() and (ab != ba).any()


def test_pairs_collide_as_seldom_as_chance():
    buckets = [bucket_of_pair(a, b) for a in range(2, 12) for b in range(2, 8)]
    assert len(set(buckets)) > 54  # 60 pairs in 1021 buckets: chance leaves 58
