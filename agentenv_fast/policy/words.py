"""What can be read off token ids without learning: which words and word pairs a text holds, and how commands match it.

Nothing here has a gradient, so a learner computes it once per update, not once per epoch.
Axes: N rows, L tokens, K slots, C commands, J word positions of a command, W word buckets, P pair buckets.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np


def word_buckets(tokens, words: int, xp=jnp):
    """→ int32, the bucket of each token id: the id itself if it fits, so that small vocabularies never collide."""
    return xp.where(tokens < words, tokens, 2 + tokens % (words - 2))


def pair_buckets(left, right, pairs: int, xp=jnp):
    """→ int32, the bucket of each two words; -1 where one of them is padding (id 0). xp: jax.numpy or numpy."""
    mixed = left.astype(xp.uint32) * xp.uint32(0x9E3779B1)
    mixed = mixed ^ (right.astype(xp.uint32) + xp.uint32(0x7F4A7C15)) * xp.uint32(0x85EBCA6B)
    mixed = (mixed ^ (mixed >> 15)) * xp.uint32(0x2C1B3C6D)  # the low bits must depend on all bits
    bucket = ((mixed ^ (mixed >> 12)) % xp.uint32(pairs)).astype(xp.int32)
    return xp.where((left > 0) & (right > 0), bucket, -1)


def presence(tokens, *, words: int, pairs: int):
    """Which words occur, and which pairs: next to each other or with one word between ("put the cup" has put-cup).

    Padding (id 0) leaves no mark.
    Args:
      tokens: int32[N, L].
    Returns: uint8[N, words + pairs], 0 or 1.
    """
    absent = words + pairs  # out of bounds: dropped by the scatter
    single = jnp.where(tokens > 0, word_buckets(tokens, words), absent)
    marks = [single]
    for gap in (1, 2):
        pair = pair_buckets(tokens[:, :-gap], tokens[:, gap:], pairs)
        marks.append(jnp.where(pair >= 0, words + pair, absent))
    rows = jnp.arange(tokens.shape[0], dtype=jnp.int32)[:, None]
    where = (rows, jnp.concatenate(marks, axis=-1))
    return jnp.zeros((tokens.shape[0], absent), jnp.uint8).at[where].set(1, mode="drop")


def command_marks(commands: np.ndarray, *, words: int, pairs: int, positions: int) -> np.ndarray:
    """The presence buckets that each command would leave, by position. On the host, once per suite.

    Args:
      commands: int32[C, Lc], padded with 0; cut or padded to `positions`.
    Returns: int32[C, 2 * positions - 1], -1 where the command has no word.
    """
    width = commands.shape[-1]
    commands = np.pad(commands[:, :positions], ((0, 0), (0, max(0, positions - width))))
    single = np.where(commands > 0, word_buckets(commands, words, np), -1)
    pair = pair_buckets(commands[:, :-1], commands[:, 1:], pairs, np)
    return np.concatenate([single, np.where(pair >= 0, words + pair, -1)], axis=-1).astype(np.int32)


def command_buckets(commands: np.ndarray, buckets: int) -> np.ndarray:
    """int32[C]: a bucket for each command, by its words alone, so that it means the same in every table."""
    mixed = np.zeros(len(commands), np.uint32)
    for word in commands.astype(np.uint32).T:
        mixed = np.where(word > 0, (mixed ^ word) * np.uint32(0x01000193), mixed)  # FNV-1a
        mixed = mixed ^ (mixed >> np.uint32(13))
    return (mixed % np.uint32(buckets)).astype(np.int32)


def match(present, marks):
    """How each offered command's own words and pairs occur in a text.

    Args:
      present: uint8[N, W + P], from `presence`.
      marks: int32[N, K, M], rows of `command_marks`.
    Returns: float32[N, K, M + 2]: found (0 or 1) by position, then the share of words and of pairs that were found.
    """
    n, k, m = marks.shape
    flat = jnp.maximum(marks, 0).reshape(n, k * m)
    there = (marks >= 0).astype(jnp.float32)
    found = jnp.take_along_axis(present, flat, axis=1).reshape(n, k, m).astype(jnp.float32) * there
    positions = (m + 1) // 2
    shares = [
        found[..., part].sum(-1) / jnp.maximum(there[..., part].sum(-1), 1.0)
        for part in (slice(None, positions), slice(positions, None))
    ]
    return jnp.concatenate([found, jnp.stack(shares, axis=-1)], axis=-1)
