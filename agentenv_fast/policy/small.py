"""A small recurrent actor-critic over text that scores admissible commands by their own words.

    words → pooled encoder ┐
    first text of episode  ├→ GRU, carried across steps → query · command + MLP(command, query, matches) → scores
    offered commands       │                            → value
    last command           ┘

It generalises to unseen games for two reasons: a command is nothing but its words, and each offered command comes
with which of its words and word pairs occur in the text shown now, in the episode's first text (where goals are
told) and in all texts of the episode (which repeat a standing goal). The pooled encoder is a product of the 0/1
vector of words present with the embedding matrix: one large operation, exact for vocabularies up to `words` ids and
hashed beyond.

Axes: N rows, T steps, L tokens, K slots, C commands, F match features, H width of the core.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from agentenv_fast.errors import ConfigError
from agentenv_fast.policy.words import command_buckets, command_marks, match, presence, word_buckets
from agentenv_fast.spec import Trajectory

RECENCY_DECAY = 0.9  # an issued command's mark after one more step
WORD_GAIN = 4.0  # brings pooled embeddings of deviation 0.1 near unit size
COMPACT = 8192  # rows of a command table above which an update keeps only the commands that occur
NEVER = -1e9  # the score of an empty slot; finite, so that 0 * score is 0


@dataclasses.dataclass(frozen=True)
class SmallConfig:
    """Sizes and switches of SmallPolicy. The defaults cost 0.5 MFLOP an observation for 512 words and 24 commands."""

    embed: int = 64  # width of word, text and command encodings
    hidden: int = 128  # H
    words: int = 1024  # word buckets at most; a vocabulary up to this size is not hashed
    pairs: int = 256  # buckets of neighbouring word pairs in the encoder
    match_pairs: int = (
        4096  # buckets of pairs in matching, where a collision is a false match; a multiple of pairs
    )
    positions: int = 8  # words of a command that are matched one by one
    slot_hidden: int = 32  # width of the MLP over (command, query, matches)
    issued: int = 256  # buckets of the memory of issued commands
    last_command: bool = True  # False: it never learns what it did (a control)
    first_text: bool = True  # False: the episode's first text is not kept
    matches: bool = True  # False: no word matching (a control)

    def __post_init__(self):
        for name in ("embed", "hidden", "words", "pairs", "positions", "slot_hidden", "issued"):
            if getattr(self, name) < (16 if name == "words" else 2):
                raise ConfigError(
                    f"policy.{name}: got {getattr(self, name)}, want at least {16 if name == 'words' else 2}"
                )

        if self.match_pairs % self.pairs:
            raise ConfigError(
                f"policy.match_pairs: got {self.match_pairs}, want a multiple of policy.pairs = {self.pairs}"
            )

    @property
    def num_matches(self) -> int:
        """F: for three texts each position and pair and two shares; whether and how lately issued."""
        return 3 * (2 * self.positions + 1) + 2


class Carry(NamedTuple):
    """What a row remembers between steps; everything but `hidden` and `goal` is exact."""

    hidden: Any  # float32[N, H]
    goal: Any  # float32[N, embed], encoding of the episode's first text
    goal_words: Any  # uint8[N, words + match_pairs], what that text holds
    lasting: Any  # uint8[N, words + match_pairs], what every text of the episode has held
    last: Any  # int32[N], suite id of the command issued before, -1 at first
    issued: Any  # float32[N, issued], 1 when issued, decaying


class Commands(NamedTuple):
    """The command table of a suite, as the policy reads it."""

    tokens: Any  # int32[C, Lc]
    marks: Any  # int32[C, 2 * positions - 1]
    bucket: Any  # int32[C], where Carry.issued marks it
    code: Any = None  # float32[C, embed + slot_hidden], set by encode_commands


class Features(NamedTuple):
    """An observation after everything that has no gradient."""

    present: Any  # uint8[..., words + pairs]
    match: Any  # float32[..., K, F]
    admissible: Any  # int32[..., K], 0 where empty
    offered: Any  # bool[..., K]; at least one slot, so that a softmax exists
    last: Any  # int32[...]


class SmallNet(nnx.Module):
    """The parameters, and the maps between them."""

    def __init__(self, config: SmallConfig, rngs: nnx.Rngs):
        d, h = config.embed, config.hidden
        buckets = config.words + config.pairs
        self.text = nnx.Param(0.1 * jax.random.normal(rngs.params(), (buckets, d)))
        self.words = nnx.Param(0.1 * jax.random.normal(rngs.params(), (config.words, d)))
        self.text_out = nnx.Linear(d, d, rngs=rngs)
        self.command_all = nnx.Linear(d, d + config.slot_hidden, rngs=rngs)
        self.command_first = nnx.Linear(d, d + config.slot_hidden, use_bias=False, rngs=rngs)
        self.command_last = nnx.Linear(d, d + config.slot_hidden, use_bias=False, rngs=rngs)
        self.join = nnx.Linear(4 * d, h, rngs=rngs)
        self.gru_in = nnx.Linear(h, 3 * h, rngs=rngs)
        self.gru_hidden = nnx.Linear(
            h, 3 * h, use_bias=True, kernel_init=nnx.initializers.orthogonal(), rngs=rngs
        )
        self.query = nnx.Linear(h, d + config.slot_hidden, rngs=rngs)
        self.slot_match = nnx.Linear(config.num_matches, config.slot_hidden, use_bias=False, rngs=rngs)
        self.slot_out = nnx.Linear(
            config.slot_hidden, 1, use_bias=False, kernel_init=nnx.initializers.orthogonal(0.1), rngs=rngs
        )
        self.value_in = nnx.Linear(h, h, rngs=rngs)
        self.value_out = nnx.Linear(h, 1, kernel_init=nnx.initializers.orthogonal(0.1), rngs=rngs)

    def encode_text(self, present):
        """uint8[..., words + pairs] → float32[..., embed]; scaled so that long texts are not louder than short ones."""
        present = present.astype(jnp.float32)
        scale = jax.lax.rsqrt(jnp.maximum(present.sum(-1, keepdims=True), 1.0))
        return nnx.relu(self.text_out((present @ self.text[...]) * scale))

    def encode_commands(self, tokens):
        """int32[C, Lc] → float32[C, embed + slot_hidden], from the first word, the last and the sum of all.

        Words are projected before they are looked up: a vocabulary is smaller than a suite's list of commands.
        """
        words = self.words[...] * WORD_GAIN
        ids = word_buckets(tokens, words.shape[0])
        there = tokens > 0
        length = jnp.maximum(there.sum(1), 1)
        pooled = (self.command_all(words)[ids] * there[..., None]).sum(1) * jax.lax.rsqrt(
            length[:, None] + 0.0
        )
        final = jnp.take_along_axis(ids, length[:, None] - 1, axis=1)[:, 0]
        return nnx.relu(pooled + self.command_first(words)[ids[:, 0]] + self.command_last(words)[final])

    def gru(self, inputs, hidden):
        """One step of a gated recurrent unit (Cho et al. 2014) with its input product, [N, 3H], already made."""
        r_in, z_in, n_in = jnp.split(inputs, 3, axis=-1)
        r_h, z_h, n_h = jnp.split(self.gru_hidden(hidden), 3, axis=-1)
        reset, update = nnx.sigmoid(r_in + r_h), nnx.sigmoid(z_in + z_h)
        return (1.0 - update) * jnp.tanh(n_in + reset * n_h) + update * hidden

    def heads(self, state, code, matches, offered):
        """float32[..., H] and slots → scores float32[..., K] (NEVER where empty), value float32[...]."""
        width = self.text.shape[1]
        query, bias = jnp.split(self.query(state)[..., None, :], [width], axis=-1)
        dot = (code[..., :width] * query).sum(-1) * width**-0.5
        slot = nnx.relu(code[..., width:] + self.slot_match(matches) + bias)
        scores = jnp.where(offered, dot + self.slot_out(slot)[..., 0], NEVER)
        return scores, self.value_out(nnx.relu(self.value_in(state)))[..., 0]


class SmallPolicy:
    """spec.Policy: pure functions of parameters and arrays; safe to share, cheap to rebind to another suite.

    Args:
      config: sizes and switches.
      command_tokens: int32[C, Lc], the suite's commands, padded with 0.

    Every function takes `commands`, by default the table given here, as an operand: a suite of the same [C, Lc]
    compiles nothing anew. `encode_commands` once, then pass the result, saves encoding them at each step of a rollout.
    """

    def __init__(self, config: SmallConfig, command_tokens):
        self.config = config
        self.commands = self.table(command_tokens)
        self.graph, self._abstract = nnx.split(nnx.eval_shape(lambda: SmallNet(config, nnx.Rngs(0))))

    def bind(self, command_tokens) -> SmallPolicy:
        """The same policy for another suite's commands."""
        other = object.__new__(SmallPolicy)
        other.config, other.graph, other._abstract = self.config, self.graph, self._abstract
        other.commands = self.table(command_tokens)
        return other

    def init(self, seed: int) -> dict:
        """→ fresh parameters, a dict of float32 arrays."""
        return nnx.to_pure_dict(nnx.split(SmallNet(self.config, nnx.Rngs(seed)))[1])

    def abstract_params(self) -> dict:
        """Shapes and dtypes of `init`, nothing allocated."""
        return nnx.to_pure_dict(self._abstract)

    def init_carry(self, n: int) -> Carry:
        c = self.config
        return Carry(
            hidden=jnp.zeros((n, c.hidden), jnp.float32),
            goal=jnp.zeros((n, c.embed), jnp.float32),
            goal_words=jnp.zeros((n, c.words + c.match_pairs), jnp.uint8),
            lasting=jnp.zeros((n, c.words + c.match_pairs), jnp.uint8),
            last=jnp.full((n,), -1, jnp.int32),
            issued=jnp.zeros((n, c.issued), jnp.float32),
        )

    def encode_commands(self, params, commands: Commands | None = None) -> Commands:
        commands = self.commands if commands is None else commands
        return commands._replace(code=self._net(params).encode_commands(commands.tokens))

    def compact(
        self, trajectory: Trajectory, commands: Commands | None = None
    ) -> tuple[Trajectory, Commands]:
        """The same trajectory over a table of only those commands that occur in it. Host arrays; for large suites.

        The table has min(C, COMPACT) rows, or the next multiple that holds them all: few shapes, few compilations.
        """
        commands = self.commands if commands is None else commands
        total = commands.tokens.shape[0]
        if total <= COMPACT:
            return trajectory, commands
        admissible, last = np.asarray(trajectory.obs["admissible"]), np.asarray(trajectory.carry.last)
        occurs = np.zeros(total, bool)
        occurs[admissible[admissible >= 0]] = True
        occurs[last[last >= 0]] = True
        ids = np.flatnonzero(occurs)
        local = np.full(total + 1, -1, np.int32)  # the last entry serves -1
        local[ids] = np.arange(len(ids), dtype=np.int32)
        rows = np.zeros(-(-len(ids) // COMPACT) * COMPACT, np.int32)
        rows[: len(ids)] = ids
        table = Commands(*(jnp.asarray(np.asarray(part)[rows]) for part in commands[:3]))
        obs = {**trajectory.obs, "admissible": local[admissible]}
        return trajectory._replace(obs=obs, carry=trajectory.carry._replace(last=local[last])), table

    def act(self, params, obs, carry, first, key, *, commands=None, greedy=False):
        """Chooses one offered command in each row.

        Args:
          obs: dict with tokens int32[N, L], admissible int32[N, K], admissible_count int32[N].
          first: bool[N], where obs begins an episode.
          key: one key, or a key per row ([N]) for draws that do not depend on the batch.
        Returns: action int32[N] (index into obs["admissible"]), logp float32[N], value float32[N], carry.
        """
        logits, value, carry = self.forward(params, obs, carry, first, commands=commands)
        action = choose(logits, key, greedy)
        logp = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], axis=1)[:, 0]
        return action, logp, value, self.remember(carry, obs, action, commands=commands)

    def scores(self, params, obs, carry, *, first=None, commands=None):
        """→ float32[N, K], unnormalised; -inf where there is no command."""
        first = jnp.zeros(carry.last.shape, bool) if first is None else first
        logits, _, _ = self.forward(params, obs, carry, first, commands=commands)
        return jnp.where(logits <= NEVER, -jnp.inf, logits)

    def value(self, params, obs, carry, *, commands=None):
        """→ float32[N], the value of observations that do not begin an episode (a cut one's last)."""
        return self.forward(params, obs, carry, jnp.zeros(carry.last.shape, bool), commands=commands)[1]

    def forward(self, params, obs, carry, first, *, commands=None):
        """→ scores float32[N, K], value float32[N], and the carry after reading obs, before acting."""
        commands = self.commands if commands is None else commands
        net = self._net(params)
        features, carry = self._read(obs, self._clear(carry, first), first, commands)
        code = net.encode_commands(commands.tokens) if commands.code is None else commands.code
        text = net.encode_text(features.present)
        goal = jnp.where(first[:, None], text, carry.goal)
        offered, last = self._gather(code, features)
        joined = self._join(net, text, goal, offered, last, features.offered)
        hidden = net.gru(net.gru_in(joined), carry.hidden)
        state = joined + hidden
        scores, value = net.heads(state, offered, features.match, features.offered)
        return scores, value, carry._replace(hidden=hidden, goal=goal)

    def remember(self, carry: Carry, obs, action, *, commands=None) -> Carry:
        """The carry after `action` int32[N] was issued."""
        commands = self.commands if commands is None else commands
        if not self.config.last_command:
            return carry
        issued = jnp.maximum(jnp.take_along_axis(obs["admissible"], action[:, None], axis=1)[:, 0], 0)
        rows = jnp.arange(action.shape[0], dtype=jnp.int32)
        return carry._replace(last=issued, issued=carry.issued.at[rows, commands.bucket[issued]].set(1.0))

    def prepare(self, trajectory: Trajectory, *, commands=None) -> Trajectory:
        """The trajectory with obs replaced by Features: the part of `evaluate` that needs no gradient."""
        commands = self.commands if commands is None else commands

        def step(carry, at):
            obs, action, first = at
            features, carry = self._read(obs, self._clear(carry, first), first, commands)
            return self.remember(carry, obs, action, commands=commands), features

        _, features = jax.lax.scan(
            step, trajectory.carry, (trajectory.obs, trajectory.action, trajectory.first)
        )
        carry = trajectory.carry._replace(goal_words=(), lasting=(), last=(), issued=())
        return trajectory._replace(obs=features, carry=carry)

    def evaluate(self, params, trajectory: Trajectory, *, commands=None):
        """Runs the policy along a trajectory, with gradients to params.

        Args:
          trajectory: [T, N, ...]; obs as acted on, or Features from `prepare`.
        Returns: (logp of the action, value, entropy), each float32[T, N].
        """
        commands = self.commands if commands is None else commands
        if not isinstance(trajectory.obs, Features):
            trajectory = self.prepare(trajectory, commands=commands)
        net, features, first = self._net(params), trajectory.obs, trajectory.first
        code = net.encode_commands(commands.tokens)
        text = net.encode_text(features.present)
        goal = self._goals(text, first, trajectory.carry.goal)
        offered, last = self._gather(code, features)
        joined = self._join(net, text, goal, offered, last, features.offered)

        def recur(hidden, at):
            inputs, cleared = at
            hidden = net.gru(inputs, jnp.where(cleared[:, None], 0.0, hidden))
            return hidden, hidden

        _, hidden = jax.lax.scan(recur, trajectory.carry.hidden, (net.gru_in(joined), first))
        state = joined + hidden
        scores, value = net.heads(state, offered, features.match, features.offered)
        log_prob = jax.nn.log_softmax(scores)
        logp = jnp.take_along_axis(log_prob, trajectory.action[..., None], axis=-1)[..., 0]
        entropy = -jnp.sum(jnp.where(features.offered, jnp.exp(log_prob) * log_prob, 0.0), axis=-1)
        return logp, value, entropy

    def flops(self, k: int) -> int:
        """Floating-point operations of one forward pass of one observation with k commands offered."""
        c = self.config
        d, h, s = c.embed, c.hidden, c.slot_hidden
        dense = (c.words + c.pairs) * d + d * d + 4 * d * h + 6 * h * h + h * (d + s) + h * h + h
        return 2 * (dense + k * (2 * d + c.num_matches * s + s))

    def table(self, command_tokens) -> Commands:
        """A suite's command table int32[C, Lc] as every function takes it, padded. Raises: ConfigError for another
        dtype or rank.
        """
        tokens = np.asarray(command_tokens)
        if tokens.ndim != 2 or tokens.dtype != np.int32:
            raise ConfigError(f"command_tokens: dtype {tokens.dtype} shape {tokens.shape}, want int32[C, Lc]")
        c = self.config
        rows, width = (-len(tokens)) % (16 if len(tokens) <= 64 else 256), (-tokens.shape[1]) % 4
        tokens = np.pad(tokens, ((0, rows), (0, width)))  # few shapes, few compilations
        marks = command_marks(tokens, words=c.words, pairs=c.match_pairs, positions=c.positions)
        return Commands(*(jnp.asarray(part) for part in (tokens, marks, command_buckets(tokens, c.issued))))

    def _net(self, params) -> SmallNet:
        return nnx.merge(self.graph, nnx.State(params))

    def _clear(self, carry: Carry, first) -> Carry:
        fresh = self.init_carry(first.shape[0])
        return jax.tree.map(
            lambda old, new: jnp.where(first.reshape(-1, *[1] * (old.ndim - 1)), new, old), carry, fresh
        )

    def _read(self, obs, carry: Carry, first, commands: Commands) -> tuple[Features, Carry]:
        c = self.config
        present = presence(obs["tokens"], words=c.words, pairs=c.match_pairs)
        goal_words = jnp.where(first[:, None], present, carry.goal_words)
        lasting = jnp.where(first[:, None], present, jnp.minimum(carry.lasting, present))
        slots = jnp.arange(obs["admissible"].shape[1], dtype=jnp.int32)
        offered = slots < jnp.maximum(obs["admissible_count"], 1)[:, None]
        admissible = jnp.maximum(obs["admissible"], 0)
        issued = carry.issued * RECENCY_DECAY
        features = Features(
            present=self._fold(present),
            match=self._matches((present, goal_words, lasting), issued, admissible, commands),
            admissible=admissible,
            offered=offered,
            last=carry.last,
        )
        return features, carry._replace(goal_words=goal_words, lasting=lasting, issued=issued)

    def _fold(self, present):
        """uint8[N, words + match_pairs] → uint8[N, words + pairs], what the encoder reads."""
        c = self.config
        pairs = present[:, c.words :].reshape(len(present), c.match_pairs // c.pairs, c.pairs).max(axis=1)
        return jnp.concatenate([present[:, : c.words], pairs], axis=1)

    def _matches(self, texts, issued, admissible, commands: Commands):
        """float32[N, K, F], of the text now, the episode's first, and what all of its texts share."""
        recency = jnp.take_along_axis(issued, commands.bucket[admissible], axis=1)[..., None]
        marks = commands.marks[admissible]
        used = (self.config.matches, self.config.matches and self.config.first_text, self.config.matches)
        none = jnp.zeros((*admissible.shape, marks.shape[-1] + 2), jnp.float32)
        found = [match(text, marks) if use else none for text, use in zip(texts, used, strict=True)]
        return jnp.concatenate([*found, recency, (recency > 0).astype(jnp.float32)], axis=-1)

    def _gather(self, code, features: Features):
        """→ codes of the offered commands [..., K, :] and of the last command [..., embed], 0 where none."""
        last = jnp.where(
            features.last[..., None] >= 0, code[jnp.maximum(features.last, 0), : self.config.embed], 0.0
        )
        return code[features.admissible], last

    def _join(self, net: SmallNet, text, goal, offered_code, last, offered):
        weight = offered.astype(jnp.float32)
        pooled = (offered_code[..., : self.config.embed] * weight[..., None]).sum(-2)
        pooled = pooled * jax.lax.rsqrt(jnp.maximum(weight.sum(-1, keepdims=True), 1.0))
        goal = goal if self.config.first_text else jnp.zeros_like(goal)
        return nnx.relu(net.join(jnp.concatenate([text, goal, pooled, last], axis=-1)))

    def _goals(self, text, first, goal):
        """The encoding of each step's first text: text where first, else the one before."""

        def step(goal, at):
            goal = jnp.where(at[1][:, None], at[0], goal)
            return goal, goal

        return jax.lax.scan(step, goal, (text, first))[1]


def choose(logits, key, greedy: bool):
    """→ int32[N]: the best slot, or a draw with one key for all rows or a key for each."""
    if greedy:
        return jnp.argmax(logits, axis=-1).astype(jnp.int32)
    if key.ndim == 0:
        return jax.random.categorical(key, logits).astype(jnp.int32)
    return jax.vmap(jax.random.categorical)(key, logits).astype(jnp.int32)
