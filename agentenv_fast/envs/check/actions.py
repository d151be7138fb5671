"""What a step takes: indices, commands, texts, tokens, some rows only, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np

from agentenv_fast.envs.check.kit import (
    HOSTILE,
    Kit,
    Skip,
    Step,
    again,
    autoreset_of,
    commands_of,
    counts_of,
    do,
    expect,
    expect_raises,
    invalid,
    kept,
    mixed,
    need,
    option,
    pick,
    promise,
    same,
    same_steps,
    state_of,
    taken,
    unchanged,
)
from agentenv_fast.errors import ActionError
from agentenv_fast.spec import Status


@promise(
    "An action outside the row's list marks it invalid_action: one step passes, the world does not change, fixed reply."
)
def invalid_actions_are_data(kit: Kit) -> None:
    env, _ = kit.walked(8, autoreset="disabled") if kit.factory else kit.walked(8)
    before, seen = env.observe()
    before, seen = kept(before), kept(seen)
    running = ~(seen_done(env, before))
    texts = []
    for value in (-1, -(2**31), 2**31 - 1, None):
        twin, actions = again(env), invalid(env, env.num_envs)
        if value is not None:
            actions[:] = value
        elif option(env, "actions", "index") == "index" and option(env, "admissible", "ids") is not None:
            actions = counts_of(env, before).astype(np.int32)  # the first one past the end
        step = do(twin, actions)
        reset = step.done if autoreset_of(twin) == "same_step" else np.zeros(env.num_envs, bool)
        for row in np.flatnonzero(running):
            where = f"row {row}, action {actions[row]}"
            expect(
                step.info["status"][row] == Status.INVALID_ACTION,
                f"{where}: status {step.info['status'][row]}, want 1",
            )
            same(
                step.info["elapsed_step"][row] - seen["elapsed_step"][row],
                np.int32(1),
                f"{where}: steps passed",
            )
            for key in ("world_hash", "score", "won", "lost", "game", "episode"):
                same(step.info[key][row].tolist(), seen[key][row].tolist(), f"{where}: {key}")
            expect(not step.terminated[row], f"{where}: terminated")
            _check_invalid_reward(twin, step, int(row), where)
            if not reset[row]:
                for key in ("admissible", "admissible_count"):
                    if key in before:
                        same(step.obs[key][row], before[key][row], f"{where}: obs[{key!r}]")
        if hasattr(twin, "get_state"):
            texts.append(
                [text for row, text in enumerate(twin.get_state()) if running[row] and not reset[row]]
            )
    expect(all(t == texts[0] for t in texts), f"the reply to an invalid action is not fixed: {texts}")


def _check_invalid_reward(env: Any, step: Step, row: int, where: str) -> None:
    if tuple(env.spec.reward_names) == ("score",):
        expect(step.reward[row] == 0, f"{where}: reward {step.reward[row]}, want 0")


def seen_done(env: Any, obs: dict) -> np.ndarray:
    """Rows whose episode is over (disabled, next_step): they refuse every action, so they are found by trying."""
    probe = again(env)
    step = do(probe, invalid(env, env.num_envs))
    return ~step.info["valid"]


@promise("Every command that is listed is accepted; no other command changes the world.")
def admissible_is_sound_and_complete(kit: Kit) -> None:
    env, obs = kit.walked(6, actions="command")
    need(env, "snapshot", "restore", "suite")
    running = ~seen_done(env, obs)
    snap = env.snapshot()
    before = kept(env.observe()[1])
    listed = [set(commands) for commands in env.get_available_actions()]
    stride = max(1, env.spec.num_commands // 200)
    for command in range(0, env.spec.num_commands, stride):
        step = do(env, np.full(env.num_envs, command, np.int32))
        name = env.suite.commands[command]
        for row in np.flatnonzero(running):
            ok = name in listed[row]
            want = Status.OK if ok else Status.INVALID_ACTION
            expect(
                step.info["status"][row] == want,
                f"row {row}: {name!r}: status {step.info['status'][row]}, want {int(want)}",
            )
            if not ok:
                same(
                    step.info["world_hash"][row],
                    before["world_hash"][row],
                    f"row {row}: {name!r} is not listed, world_hash",
                )
        env.restore(snap)


@promise('actions="command": a suite command id does what the same command does by index.')
def commands_equal_indices(kit: Kit) -> None:
    by_index, obs, _ = kit.started(actions="index", admissible="ids")
    by_command, _, _ = kit.started(actions="command", admissible="ids")
    for t in range(kit.steps):
        index = pick(by_index, obs, t)
        command = np.take_along_axis(obs["admissible"], index[:, None], 1)[:, 0].copy()
        a, b = do(by_index, index), do(by_command, command)
        same_steps([b], [a], f"step {t}")
        obs = a.obs


def _listed_index(env: Any, obs: dict, lists: list[list[str]], t: int) -> np.ndarray:
    """An arbitrary index for each row, into get_available_actions and into obs."""
    count = np.minimum([len(commands) for commands in lists], counts_of(env, obs))
    return (mixed(t, np.arange(len(count))) % np.maximum(count, 1)).astype(np.int32)


@promise("Also list[str] as typed: a listed command by its text does what it does by index.")
def typed_commands(kit: Kit) -> None:
    one, two = kit.twins()
    need(one, "get_available_actions")
    obs, _ = one.reset(seed=kit.seed)
    two.reset(seed=kit.seed)
    for t in range(kit.steps // 2):
        lists = one.get_available_actions()
        index = _listed_index(one, obs, lists, t)
        texts = [commands[i] if commands else "" for commands, i in zip(lists, index, strict=True)]
        action = index if option(one, "actions", "index") == "index" else commands_of(one, obs, index)
        a, b = do(one, action), do(two, texts)
        same_steps([b], [a], f"typed {texts}")
        obs = a.obs


@promise(
    "Also (tokens int32[N,A], lengths int32[N]): a listed command by its tokens does what it does by index."
)
def token_commands(kit: Kit) -> None:
    one, two = kit.twins()
    need(one, "get_available_actions")
    obs, _ = one.reset(seed=kit.seed)
    codec = getattr(one, "codec", None)
    if codec is None or "tokens" not in obs:
        raise Skip("no codec, or obs has no tokens")
    two.reset(seed=kit.seed)
    for t in range(min(10, kit.steps)):
        lists = one.get_available_actions()
        index = _listed_index(one, obs, lists, t)
        texts = [commands[i] if commands else "" for commands, i in zip(lists, index, strict=True)]
        ids = [np.asarray(codec.encode(text), np.int32) for text in texts]
        lengths = np.array([len(row) for row in ids], np.int32)
        tokens = np.zeros((len(ids), max(1, lengths.max())), np.int32)
        for line, row in zip(tokens, ids, strict=True):
            line[: len(row)] = row
        a, b = do(one, texts), do(two, (tokens, lengths))
        same_steps([b], [a], f"tokens of {texts}")
        obs = a.obs


@promise("A hostile string harms nothing: its row gets a status, every other row is as it would have been.")
def hostile_strings(kit: Kit) -> None:
    base, _ = kit.walked(4)
    need(base, "get_available_actions")
    n = base.num_envs
    lists = base.get_available_actions()
    calm = [commands[0] if commands else "look" for commands in lists]
    want = do(again(base), calm)
    others = np.arange(1, n)
    for text in HOSTILE:
        env = again(base)
        step = do(env, [text, *calm[1:]])
        shown = repr(text[:40])
        expect(step.info["status"][0] in (0, 1, 2), f"{shown}: status {step.info['status'][0]}")
        for name in Step._fields[1:]:
            same(
                taken(getattr(step, name), others),
                taken(getattr(want, name), others),
                f"{shown} in row 0: {name} of the others",
            )
        do(env, pick(env, step.obs, 1))


@promise(
    "dtype, shape and device of actions are checked before anything is stepped, and raise: got and wanted."
)
def bad_actions_raise(kit: Kit) -> None:
    env, obs = kit.walked(4)
    n, before = env.num_envs, state_of(env)
    good = pick(env, obs, 0)
    bad: list[tuple[str, Any, tuple[str, ...]]] = [
        ("int64", good.astype(np.int64), ("int64", "int32")),
        ("float32", good.astype(np.float32), ("float32", "int32")),
        ("float64", good.astype(np.float64), ("float64", "int32")),
        ("uint32", good.astype(np.uint32), ("uint32", "int32")),
        ("bool", good.astype(bool), ("bool", "int32")),
        ("object", good.astype(object), ("object", "int32")),
        ("another byte order", good.astype(">i4"), ("int32",)),
        ("one too many", np.zeros(n + 1, np.int32), (str(n + 1), str(n))),
        ("one too few", np.zeros(n - 1, np.int32), (str(n - 1), str(n))),
        ("two axes", np.zeros((n, 1), np.int32), (str(n), "1")),
        ("no axis", np.array(0, np.int32), ("()",)),
        ("an int", 0, ("int",)),
        ("None", None, ("None",)),
        ("a str", "look", ("str",)),
        ("a dict", {"action": good}, ("dict",)),
        ("a list of ints", [0] * n, ("int",)),
        ("a list with None", [None] * n, ("None",)),
        ("bytes", [b"look"] * n, ("bytes",)),
        ("too many texts", ["look"] * (n + 1), (str(n + 1), str(n))),
        ("a tuple of one", (good,), ()),
    ]
    for what, action, words in bad:
        expect_raises(ActionError, lambda action=action: env.step(action), f"action {what}", *words)
        unchanged(env, before, f"after action {what} was refused")


@promise("strict=True raises for a bad action instead of marking its row, with nothing stepped.")
def strict_raises(kit: Kit) -> None:
    env, obs = kit.walked(4, strict=True)
    before = state_of(env)
    good = pick(env, obs, 0)
    for value in (-1, 2**31 - 1):
        action = good.copy()
        action[-1] = value
        expect_raises(
            ActionError,
            lambda action=action: env.step(action),
            f"action {value}",
            str(value),
            str(env.num_envs - 1),
        )
        unchanged(env, before, f"after action {value} was refused")
    if hasattr(env, "get_available_actions"):
        texts = [c[0] if c else "look" for c in env.get_available_actions()]
        texts[-1] = "\0"
        expect_raises(ActionError, lambda: env.step(texts), "an unknown command", str(env.num_envs - 1))
        unchanged(env, before, "after an unknown command was refused")
    do(env, good)


@promise("With rows int32[M] only those rows are stepped, arrays come back as [M], every other byte stays.")
def some_rows_only(kit: Kit) -> None:
    part, obs = kit.walked(5)
    whole = again(part)
    n = part.num_envs
    if n < 3:
        raise Skip("needs three rows: give check_env a factory")
    rows = np.array([n - 1, 0], np.int32)
    action = pick(part, obs, 3)
    before = kept(part.observe())
    hashes = part.row_hash() if hasattr(part, "row_hash") else None
    step, want = do(part, action[rows].copy(), rows), do(whole, action)
    for name in Step._fields[1:]:
        same(getattr(step, name), taken(getattr(want, name), rows), f"rows {rows}: {name}")
    rest = np.setdiff1d(np.arange(n), rows)
    after = part.observe()
    same(taken(after[0], rest), taken(before[0], rest), "the other rows: obs")
    if hashes is not None:
        same(part.row_hash()[rest], hashes[rest], "the other rows: row hash")
        same(part.row_hash()[rows], whole.row_hash()[rows], "the rows stepped: row hash")
    seen = part.observe(rows=rows)
    same(seen[0], taken(after[0], rows), f"observe(rows={rows})")
    state = state_of(part)
    zero = np.zeros(2, np.int32)
    for what, bad in (("out of range", [0, n]), ("negative", [0, -1]), ("twice the same", [0, 0])):
        expect_raises(
            ActionError, lambda bad=bad: part.step(zero, rows=np.array(bad, np.int32)), f"rows {what}"
        )
    expect_raises(ActionError, lambda: part.step(zero, rows=np.array([0.0, 1.0])), "rows float64", "float64")
    expect_raises(
        ActionError,
        lambda: part.step(np.zeros(3, np.int32), rows=rows),
        "three actions for two rows",
        "3",
        "2",
    )
    unchanged(part, state, "after bad rows were refused")


@promise("observe: the same outputs again, nothing is stepped.")
def observing_changes_nothing(kit: Kit) -> None:
    env, obs = kit.walked(7)
    before = env.row_hash() if hasattr(env, "row_hash") else None
    for _ in range(3):
        again, info = env.observe()
        same(again, obs, "observe against the last step: obs")
    if before is not None:
        same(env.row_hash(), before, "row hash after observe")
    step = do(env, pick(env, obs, 0))
    again, info = env.observe()
    running = ~step.done & step.info["valid"]
    for key in (
        "score",
        "moves",
        "game",
        "episode",
        "elapsed_step",
        "status",
        "world_hash",
        "first",
        "won",
        "lost",
    ):
        same(info[key][running], step.info[key][running], f"observe against the last step: info[{key!r}]")
