"""What can be read off token ids without learning: which words and word pairs a text holds, and how commands match it.

Nothing here has a gradient, so a learner computes it once per update, not once per epoch.
Axes: N rows, L tokens, K slots, C commands, J word positions of a command, W word buckets, P pair buckets.
"""

from __future__ import annotations

import jax.numpy as jnp


def word_buckets(tokens, words: int):
    """→ int32, the bucket of each token id: the id itself if it fits, so that small vocabularies never collide."""
    return jnp.where(tokens < words, tokens, 2 + tokens % (words - 2))


def pair_buckets(tokens, pairs: int):
    """→ int32[..., L - 1], the bucket of each two neighbours; -1 where one of them is padding."""
    left, right = tokens[..., :-1].astype(jnp.uint32), tokens[..., 1:].astype(jnp.uint32)
    mixed = left * jnp.uint32(0x9E3779B1) ^ (right + jnp.uint32(0x7F4A7C15)) * jnp.uint32(0x85EBCA6B)
    mixed = (mixed ^ (mixed >> 15)) * jnp.uint32(0x2C1B3C6D)  # the low bits must depend on all bits
    bucket = ((mixed ^ (mixed >> 12)) % jnp.uint32(pairs)).astype(jnp.int32)
    return jnp.where((tokens[..., :-1] > 0) & (tokens[..., 1:] > 0), bucket, -1)


def presence(tokens, *, words: int, pairs: int):
    """Which words and neighbouring pairs occur. Padding (id 0) leaves no mark.

    Args:
      tokens: int32[N, L].
    Returns: uint8[N, words + pairs], 0 or 1.
    """
    absent = words + pairs  # out of bounds: dropped by the scatter
    single = jnp.where(tokens > 0, word_buckets(tokens, words), absent)
    pair = pair_buckets(tokens, pairs)
    pair = jnp.where(pair >= 0, words + pair, absent)
    marks = jnp.concatenate([single, pair], axis=-1)
    rows = jnp.arange(tokens.shape[0], dtype=jnp.int32)[:, None]
    return jnp.zeros((tokens.shape[0], absent), jnp.uint8).at[rows, marks].set(1, mode="drop")


def command_marks(commands, *, words: int, pairs: int, positions: int):
    """The presence buckets that each command would leave, by position.

    Args:
      commands: int32[C, Lc], padded with 0; cut or padded to `positions`.
    Returns: int32[C, 2 * positions - 1], -1 where the command has no word.
    """
    width = commands.shape[-1]
    commands = jnp.pad(commands[:, :positions], ((0, 0), (0, max(0, positions - width))))
    single = jnp.where(commands > 0, word_buckets(commands, words), -1)
    pair = pair_buckets(commands, pairs)
    return jnp.concatenate([single, jnp.where(pair >= 0, words + pair, -1)], axis=-1)


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
