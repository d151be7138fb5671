"""check_env can pass, can skip, and can fail: a hundred ways to be wrong, one at a time, and each is found."""

import os
import random
import re
import zlib

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.envs.check import promises
from agentenv_fast.errors import ActionError, ConfigError, ConformanceError
from tests.probe_envs import two_rooms as toy
from tests.probe_envs.two_rooms import LOST, TERMINATED, TRUNCATED, WON, TwoRooms

WIDE = 40  # rows where threads are to be kept busy; the toy has none


def test_the_toy_keeps_every_promise():
    report = ae.check_env(TwoRooms, wide=WIDE)
    assert skipped(report) == set() and not report.of("failed")
    assert len(report.checks) == len(promises()) >= 60
    assert re.match(r"check_env: \d+ passed, [01] skipped, 0 failed", str(report))


def skipped(report):
    """Names; without fork(2), which is not tried where another test of this process runs JAX."""
    return {check.name for check in report.of("skipped")} - {"fork_of_the_process"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"autoreset": "next_step"}, {"autoreset": "disabled"}, {"admissible": "bitset"}, {"admissible": None},
        {"text": False}, {"tokens": None}, {"actions": "command"}, {"copy": False}, {"strict": True},
        {"group_size": 2}, {"game_order": "sequential"}, {"game_order": "sample"}, {"max_episode_steps": 3},
    ],
    ids=str,
)  # fmt: skip
def test_the_toy_keeps_every_promise_with(options):
    def make(num_envs=6, **overrides):
        return TwoRooms(num_envs, **{**options, **overrides})

    report = ae.check_env(make, wide=WIDE)
    allowed = {
        "tokens_are_the_text",
        "token_commands",
        "text_is_the_state",
        "seeds_matter",
        "seeds_do_not_depend_on_n",
    }
    assert skipped(report) <= allowed


def test_an_env_instead_of_a_factory_is_checked_as_far_as_it_goes():
    report = ae.check_env(TwoRooms(5, seed=1))
    assert {check.name for check in report.of("skipped")} >= {
        "seeds_do_not_depend_on_n",
        "truncation_at_the_limit",
    }
    assert len(report.of("passed")) >= 35
    for check in report.of("skipped"):
        assert "give check_env a factory" in check.detail or check.name == "fork_of_the_process"


class Least:
    """Only what spec.VectorEnv names."""

    def __init__(self, num_envs=6):
        self._env = TwoRooms(num_envs)
        self.num_envs, self.spec = num_envs, self._env.spec
        self.reset, self.step, self.observe = self._env.reset, self._env.step, self._env.observe


def test_an_env_with_the_least_interface_is_checked():
    report = ae.check_env(Least)
    skipped = {check.name: check.detail for check in report.of("skipped")}
    assert skipped["snapshot_and_restore"] == "the env has no snapshot()"
    assert skipped["truncation_at_the_limit"] == "the factory does not take max_episode_steps, autoreset"
    assert len(report.of("passed")) >= 18


# -- one fault each ---------------------------------------------------------------------------------------------------
FAULTS: dict[str, type] = {}


def fault(*broken):
    """Registers a broken toy with the promises that must be found broken (others may be, too)."""

    def add(kind):
        kind.broken = set(broken)
        FAULTS[kind.__name__] = kind
        return kind

    return add


@fault("interface")
class SpecSaysAnotherNumberOfRows(TwoRooms):
    def __init__(self, num_envs=1, **options):
        super().__init__(num_envs, **options)
        object.__setattr__(self.spec, "num_envs", num_envs + 1)


@fault("same_step_final_obs")
class FinalObsShowsTheNextEpisode(TwoRooms):
    def _step_row(self, row, command):
        happened = super()._step_row(row, command)
        if "final" in happened:
            happened["final"] = row.copy()
        return happened


@fault("same_step_final_obs")
class FinalObsIsFilledEverywhere(TwoRooms):
    def _step_row(self, row, command):
        happened = super()._step_row(row, command)
        return {"final": row.copy(), **happened} if self.spec.autoreset == "same_step" else happened


@fault("same_step_final_obs")
class FinalObsIsMissing(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        out[4].pop("final_obs", None)
        return out


@fault("next_step_dummy", "disabled_rows_stay")
class FinalObsInEveryMode(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        out[4].setdefault("final_obs", out[0])
        return out


@fault("same_step_final_obs")
class FinalObsLacksTokens(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        if "final_obs" in out[4]:
            out[4]["final_obs"].pop("tokens", None)
        return out


@fault("truncation_at_the_limit", "reset_is_total")
class StepCounterIsNotCleared(TwoRooms):
    def _begin(self, row, game):
        step = row["step"]
        toy.begin(row, game)
        row["step"] = step % 4


@fault("reset_is_total", "masked_reset")
class ScoreIsNotCleared(TwoRooms):
    def _begin(self, row, game):
        score = row["score"]
        toy.begin(row, game)
        row["score"] = score


@fault("reset_right_after_the_end")
class StaleDoneFlagAfterAManualReset(TwoRooms):
    def reset(self, *, seed=None, options=None):
        done = self._rows["flags"] & (TERMINATED | TRUNCATED)
        out = super().reset(seed=seed, options=options)
        self._rows["flags"] |= done
        return out


@fault("returned_arrays_survive", "views_survive")
class BuffersAreReused(TwoRooms):
    def _show(self, ids, happened):
        return self._overwrite(len(ids), super()._show(ids, happened))


@fault("returned_arrays_survive")
class FinalObsIsReused(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        if "final_obs" in out[4]:
            out[4]["final_obs"] = self._overwrite(-len(ids), (out[4]["final_obs"],))[0]
        return out


@fault("views_show_the_same")
class ViewsAreOneStepLate(TwoRooms):
    def _overwrite(self, n, fresh):
        last, self._views[n] = self._views.get(n, fresh), fresh
        return last


@fault("reward_and_flags")
class RewardHasTwoAxes(TwoRooms):
    def _show(self, ids, happened):
        obs, reward, *rest = super()._show(ids, happened)
        return obs, reward[:, None], *rest


@fault("reward_and_flags", "no_wide_arrays")
class RewardIsFloat64(TwoRooms):
    def _show(self, ids, happened):
        obs, reward, *rest = super()._show(ids, happened)
        return obs, reward.astype(np.float64), *rest


@fault("no_wide_arrays", "info_keys_dtypes_and_shapes")
class InfoIsInt64(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        out[4]["elapsed_step"] = out[4]["elapsed_step"].astype(np.int64)
        return out


@fault("dlpack")
class ScoresSpeakNoDLPack(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        out[4]["score"] = out[4]["score"].astype(">f4")
        return out


@fault("info_keys_dtypes_and_shapes")
class InfoLacksTheHash(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        del out[4]["world_hash"]
        return out


@fault("info_keys_dtypes_and_shapes", "unseeded_runs")
class SeedIsNotReported(TwoRooms):
    def reset(self, *, seed=None, options=None):
        obs, info = super().reset(seed=seed, options=options)
        info["seed"] = None if seed is None else seed
        if seed is not None:
            del info["seed"]
        return obs, info


@fault("same_pytree", "obs_keys_dtypes_and_shapes")
class ResetHasNoText(TwoRooms):
    def reset(self, *, seed=None, options=None):
        obs, info = super().reset(seed=seed, options=options)
        return {key: value for key, value in obs.items() if "text" not in key}, info


@fault("obs_keys_dtypes_and_shapes")
class TokensAreInt64(TwoRooms):
    def _obs_buffers(self, n, pad):
        obs = super()._obs_buffers(n, pad)
        return {key: value.astype(np.int64) if key == "tokens" else value for key, value in obs.items()}


@fault("keys_left_out")
class TextFalseIsIgnored(TwoRooms):
    def __init__(self, num_envs=1, *, text=True, **options):
        super().__init__(num_envs, **options)


@fault("padding")
class OldTextIsNotCleared(TwoRooms):
    def _observe_row(self, row, obs, i):
        overflow = super()._observe_row(row, obs, i)
        if "text" in obs:
            obs["text"][i, obs["text_size"][i]] = 7
        return overflow


@fault("padding")
class AdmissibleIsPaddedWithZero(TwoRooms):
    def _observe_row(self, row, obs, i):
        overflow = super()._observe_row(row, obs, i)
        if self._options["admissible"] == "ids":
            obs["admissible"][i, obs["admissible_count"][i] :] = 0
        return overflow


@fault("admissible_is_sound_and_complete")
class ListsACommandThatIsRefused(TwoRooms):
    def _step_row(self, row, command):
        return super()._step_row(row, -1 if command == 4 else command)


@fault("admissible_is_sound_and_complete")
class RefusesToListACommandThatWorks(TwoRooms):
    def _command(self, row, action):
        if self._options["actions"] == "command":
            return action if action == 4 or action in self._admissible(row) else -1
        return super()._command(row, action)

    def _admissible(self, row):
        listed = toy.admissible(row)
        return listed if getattr(self, "_acting", False) else [c for c in listed if c != 4]

    def _step_row(self, row, command):
        self._acting = True
        happened = super()._step_row(row, command)
        self._acting = False
        return happened


@fault("admissible_lists", "commands_equal_indices")
class ListIsReversed(TwoRooms):
    def _observe_row(self, row, obs, i):
        overflow = super()._observe_row(row, obs, i)
        if self._options["admissible"] == "ids":
            n = obs["admissible_count"][i]
            obs["admissible"][i, :n] = obs["admissible"][i, :n][::-1].copy()
        return overflow


@fault("bitset_is_the_list")
class BitsetIsShifted(TwoRooms):
    def _observe_row(self, row, obs, i):
        overflow = super()._observe_row(row, obs, i)
        if self._options["admissible"] == "bitset":
            obs["admissible"][i] <<= 1
        return overflow


@fault("text_is_the_state")
class StateIsStale(TwoRooms):
    def get_state(self, rows=None):
        now = super().get_state(rows)
        last, self._last = getattr(self, "_last", now), now
        return last


@fault("text_is_the_state")
class NoStateWithoutText(TwoRooms):
    def get_state(self, rows=None):
        return super().get_state(rows) if self._options["text"] else [""] * self.num_envs


@fault("tokens_are_the_text")
class TokensLackTheLastWord(TwoRooms):
    def _observe_row(self, row, obs, i):
        overflow = super()._observe_row(row, obs, i)
        if "tokens" in obs:
            obs["token_count"][i] -= 1
            obs["tokens"][i, obs["token_count"][i]] = 0
        return overflow


@fault("invalid_actions_are_data")
class InvalidActionTakesNoStep(TwoRooms):
    def _step_row(self, row, command):
        happened = super()._step_row(row, command)
        if command < 0 and "ended" in happened and "final" not in happened:
            row["step"] -= 1
            happened["ended"]["step"] -= 1
        return happened


@fault("invalid_actions_are_data")
class InvalidActionDropsTheKey(TwoRooms):
    def _refuse(self, row, status):
        toy.refuse(row, status)
        row["key"] = 0 if row["key"] == toy.CARRIED else row["key"]
        row["place"] = 1 - row["place"]


@fault("invalid_actions_are_data")
class NegativeIndexCountsFromTheEnd(TwoRooms):
    def _command(self, row, action):
        allowed = self._admissible(row)
        if self._options["actions"] == "index" and -len(allowed) <= action < 0:
            return allowed[action]
        return super()._command(row, action)


@fault("invalid_actions_are_data")
class OnePastTheEndIsTheLast(TwoRooms):
    def _command(self, row, action):
        allowed = self._admissible(row)
        return super()._command(
            row, action - (self._options["actions"] == "index" and action == len(allowed))
        )


@fault("invalid_actions_are_data")
class InvalidActionIsPunishedUnasked(TwoRooms):
    def _step_row(self, row, command):
        happened = super()._step_row(row, command)
        return {**happened, "reward": -1} if command < 0 and "reward" in happened else happened


@fault("strict_raises")
class StrictIsIgnored(TwoRooms):
    def _refuse_if_strict(self, commands, ids, action):
        pass


@fault("strict_raises")
class StrictStepsTheRowsBefore(TwoRooms):
    def _refuse_if_strict(self, commands, ids, action):
        try:
            super()._refuse_if_strict(commands, ids, action)
        except ActionError:
            self._step_row(self._rows[ids[0]], commands[0])
            raise


@fault("bad_actions_raise")
class ActionsAreCast(TwoRooms):
    def _checked_actions(self, action, ids):
        if isinstance(action, np.ndarray) and action.dtype != np.int32:
            action = action.astype(np.int32)
        return super()._checked_actions(action, ids)


@fault("bad_actions_raise")
class BadActionsAreNotDescribed(TwoRooms):
    def _checked_actions(self, action, ids):
        try:
            return super()._checked_actions(action, ids)
        except ActionError as error:
            raise ActionError("bad action") from error


@fault("bad_actions_raise")
class BadActionsRaiseAfterTheStep(TwoRooms):
    def step(self, action, rows=None):
        try:
            return super().step(action, rows)
        except ActionError:
            super().step(np.zeros(self.num_envs, np.int32))
            raise


@fault("typed_commands")
class TypedCommandsAreShiftedByARow(TwoRooms):
    def _typed(self, texts, ids):
        commands = super()._typed(texts, ids)
        return commands[1:] + commands[:1] if texts else commands


@fault("token_commands")
class TokensAreNotUnderstood(TwoRooms):
    def _tokens(self, action, n):
        super()._tokens(action, n)
        return [-2] * n


@fault("hostile_strings")
class HostileStringRaises(TwoRooms):
    def _typed(self, texts, ids):
        if any("\0" in text for text in texts):
            raise ActionError("NUL")
        return super()._typed(texts, ids)


@fault("hostile_strings")
class HostileStringSpoilsTheBatch(TwoRooms):
    def _typed(self, texts, ids):
        commands = super()._typed(texts, ids)
        return [-2] * len(ids) if -2 in commands else commands


@fault("some_rows_only")
class RowsAreIgnoredInTheOutput(TwoRooms):
    def step(self, action, rows=None):
        out = super().step(action, rows)
        if rows is None:
            return out
        obs, info = self.observe()
        info |= {key: out[4][key] for key in ()}
        n = self.num_envs
        return obs, np.zeros(n, np.float32), np.zeros(n, bool), np.zeros(n, bool), info


@fault("some_rows_only")
class OtherRowsAreSteppedToo(TwoRooms):
    def step(self, action, rows=None):
        if rows is not None:
            for i in set(range(self.num_envs)) - {int(r) for r in rows}:
                self._step_row(self._rows[i], -1)
        return super().step(action, rows)


@fault("some_rows_only")
class RowsAreSorted(TwoRooms):
    def _checked_rows(self, rows, distinct=True):
        return sorted(super()._checked_rows(rows, distinct))


@fault("observing_changes_nothing")
class ObserveLooksAround(TwoRooms):
    def observe(self, rows=None):
        for i in self._checked_rows(rows):
            self._rows[i]["event"], self._rows[i]["last_command"] = toy.ACTION, 4
        return super().observe(rows)


@fault("masked_reset")
class MaskedResetResetsAll(TwoRooms):
    def reset(self, *, seed=None, options=None):
        options = dict(options or {})
        mask = options.get("reset_mask")
        if isinstance(mask, np.ndarray) and mask.dtype == bool and mask.any() and len(mask) == self.num_envs:
            options["reset_mask"] = np.ones_like(mask)
        return super().reset(seed=seed, options=options)


@fault("masked_reset")
class MaskedResetReturnsMaskedRows(TwoRooms):
    def reset(self, *, seed=None, options=None):
        obs, info = super().reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask")
        return (obs, info) if mask is None else ({k: v[mask] for k, v in obs.items()}, info)


@fault("masked_reset")
class UnknownOptionsAreDropped(TwoRooms):
    def _reset_options(self, options):
        return super()._reset_options({k: v for k, v in options.items() if k in ("reset_mask", "game")})


@fault("truncation_at_the_limit")
class TruncatesAStepLate(TwoRooms):
    def __init__(self, num_envs=1, *, max_episode_steps=None, **options):
        super().__init__(num_envs, max_episode_steps=max_episode_steps, **options)
        self._limit += 1


@fault("truncation_at_the_limit", "facts_agree")
class TruncatedAlsoWhereTerminated(TwoRooms):
    def _step_row(self, row, command):
        happened = super()._step_row(row, command)
        return {**happened, "truncated": happened.get("truncated", 0) or happened.get("terminated", 0)}


@fault("same_step_final_obs", "info_is_about_the_transition")
class InfoIsAboutTheNextEpisode(TwoRooms):
    def _step_row(self, row, command):
        happened = super()._step_row(row, command)
        happened.pop("ended", None)
        return happened


@fault("first_and_valid")
class FirstIsNeverSet(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        out[4]["first"][:] = False
        return out


@fault("first_and_valid")
class ValidIsAlwaysTrue(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        out[4]["valid"][:] = True
        return out


@fault("next_step_dummy")
class NextStepPlaysTheAction(TwoRooms):
    def _step_row(self, row, command):
        happened = super()._step_row(row, command)
        if (
            not happened.get("valid", True)
            and self.spec.autoreset == "next_step"
            and command in self._admissible(row)
        ):
            self._act(row, command)
        return happened


@fault("disabled_rows_stay")
class FinishedRowsPlayOn(TwoRooms):
    def _step_row(self, row, command):
        if self.spec.autoreset == "disabled":
            row["flags"] &= ~(TERMINATED | TRUNCATED) & 0xFF
        return super()._step_row(row, command)


@fault("disabled_rows_stay")
class FinishedRowsForgetTheirFlags(TwoRooms):
    def _step_row(self, row, command):
        happened = super()._step_row(row, command)
        return happened if happened.get("valid", True) else {"valid": False}


@fault("disabled_rows_stay")
class FinishedRowsCountOn(TwoRooms):
    def _step_row(self, row, command):
        happened = super()._step_row(row, command)
        if not happened.get("valid", True) and self.spec.autoreset == "disabled":
            row["moves"] += 1
        return happened


@fault("facts_agree")
class AnyScoreIsAWin(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        out[4]["won"] = out[4]["score"] > 0
        return out


@fault("reward_is_the_change_of_score", "info_is_about_the_transition")
class RewardIsTheScore(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        return out[0], out[4]["score"].copy(), *out[2:]


@fault("reward_is_the_change_of_score")
class TermsDoNotSumToTheReward(TwoRooms):
    def _show(self, ids, happened):
        out = super()._show(ids, happened)
        out[4]["reward_terms"] *= 2
        return out


@fault("reward_is_the_change_of_score")
class RewardOutsideItsRange(TwoRooms):
    def __init__(self, num_envs=1, **options):
        super().__init__(num_envs, **options)
        object.__setattr__(self.spec, "reward_range", (0.0, 0.5))


@fault("seeds_matter")
class SeedIsIgnored(TwoRooms):
    def _choose(self, row):
        return 0 if self._options["game_order"] == "shuffle" else super()._choose(row)


@fault("seeds_repeat", "the_next_episode")
class DrawsAreGlobal(TwoRooms):
    def _choose(self, row):
        return random.randrange(5)


@fault("seeds_repeat", "seed_of_make", "reset_is_total")
class SeedOfResetIsDropped(TwoRooms):
    def reset(self, *, seed=None, options=None):
        self._checked_seed(seed)
        return super().reset(seed=self._options["seed"], options=options)


@fault("seeds_repeat")
class SeedZeroIsNoSeed(TwoRooms):
    def reset(self, *, seed=None, options=None):
        if isinstance(seed, int) and not isinstance(seed, bool) and seed == 0:
            seed = random.getrandbits(60)
        return super().reset(seed=seed, options=options)


@fault("unseeded_runs")
class UnseededRunsShareASeed(TwoRooms):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=1234 if seed is None and self._seed is None else seed, options=options)


@fault("the_next_episode")
class EveryResetIsEpisodeZero(TwoRooms):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=self._seed if seed is None else seed, options=options)


@fault("seed_of_make")
class SeedOfMakeIsIgnored(TwoRooms):
    def __init__(self, num_envs=1, *, seed=None, **options):
        super().__init__(num_envs, seed=None, **options)


@fault("seeds_do_not_depend_on_n")
class StreamDependsOnN(TwoRooms):
    def _seed_row(self, row, i, used):
        super()._seed_row(row, i, used)
        row["task"] += self.num_envs


@fault("seeds_do_not_depend_on_threads")
class StreamDependsOnThreads(TwoRooms):
    def _seed_row(self, row, i, used):
        super()._seed_row(row, i, used)
        row["task"] += self._options["num_threads"]


@fault("a_seed_for_each_row")
class SeedsOfRowsMeetTheRowNumber(TwoRooms):
    def _seed_row(self, row, i, used):
        super()._seed_row(row, i, used)
        row["stream"] = i


@fault("bad_seeds_raise")
class NegativeSeedsWrap(TwoRooms):
    def _checked_seed(self, seed):
        return super()._checked_seed(seed % 2**64 if isinstance(seed, int) else seed)


@fault("groups_share_their_task")
class GroupSizeIsIgnored(TwoRooms):
    def _seed_row(self, row, i, used):
        super()._seed_row(row, i, used)
        row["task"] = i


@fault("game_orders")
class SequentialIgnoresTheTask(TwoRooms):
    def _choose(self, row):
        return (
            int(row["episode"]) % 5 if self._options["game_order"] == "sequential" else super()._choose(row)
        )


@fault("game_orders")
class ShuffleDrawsWithReplacement(TwoRooms):
    def _choose(self, row):
        if self._options["game_order"] == "shuffle":
            return toy.choose_game(row, "sample", None)
        return super()._choose(row)


@fault("game_orders")
class WeightsAreIgnored(TwoRooms):
    def _choose(self, row):
        return toy.choose_game(row, self._options["game_order"], None)


@fault("chosen_games")
class ChosenGamesAreIgnored(TwoRooms):
    def _reset_options(self, options):
        mask, games = super()._reset_options(options)
        return mask, np.full_like(games, -1)


@fault("snapshot_and_restore")
class SnapshotIsAView(TwoRooms):
    def snapshot(self, rows=None):
        if rows is not None:
            return super().snapshot(rows)
        return toy.Snapshot(
            self._rows.view(np.uint8).reshape(self.num_envs, toy.STRIDE), self.suite.hash, "1"
        )


@fault("snapshot_and_restore")
class RestoreForgetsTheEpisode(TwoRooms):
    def restore(self, snapshot, rows=None):
        super().restore(snapshot, rows)
        self._rows["episode"] = 0
        self._rows["task"] += 1


@fault("snapshot_and_restore")
class TextIsNotInTheRow(TwoRooms):
    def _render(self, row):
        self.shown = getattr(self, "shown", 0) + 1
        return toy.render(row) + f"Shown {min(self.shown, 9)}.\n"


@fault("snapshot_is_a_value")
class OneRowOfASnapshotIsTheFirst(TwoRooms):
    def snapshot(self, rows=None):
        return super().snapshot(None if rows is None else sorted(rows))


@fault("bad_snapshots_raise")
class AnySnapshotIsTaken(TwoRooms):
    def restore(self, snapshot, rows=None):
        super().restore(toy.Snapshot(snapshot.rows, self.suite.hash, "1"), rows)


@fault("rows_move")
class RestoreIgnoresRows(TwoRooms):
    def restore(self, snapshot, rows=None):
        super().restore(snapshot, None if rows is None else np.arange(len(rows)))


@fault("fork_shares")
class ForkReadsWhatItWrote(TwoRooms):
    def fork(self, source, targets, rng="share"):
        if np.ndim(source) and rng == "share":
            for a, b in zip(source, targets, strict=True):
                super().fork(int(a), [b])
        else:
            super().fork(source, targets, rng)


@fault("fork_splits")
class SplitIsShare(TwoRooms):
    def fork(self, source, targets, rng="share"):
        super().fork(source, targets, "share" if rng == "split" else rng)


@fault("fork_splits")
class EveryForkSplitsAlike(TwoRooms):
    def fork(self, source, targets, rng="share"):
        super().fork(source, targets, rng)
        self._rows["fork_count"] = 0


@fault("row_hashes", "fork_splits")
class HashLeavesTheStreamOut(TwoRooms):
    def row_hash(self, rows=None):
        worlds = [self._rows[i].tobytes()[24:] for i in self._checked_rows(rows)]  # from `episode` on
        return np.array([[zlib.crc32(world), 0] for world in worlds], np.uint32).reshape(-1, 2)


@fault("invalid_actions_are_data", "world_hashes")
class WorldHashCountsSteps(TwoRooms):
    def _world_hash(self, row):
        return toy.world_hash(row) + int(row["step"]) + int(row["seed"])


@fault("world_hashes")
class WorldHashIsConstant(TwoRooms):
    def _world_hash(self, row):
        return 1


@fault("pickling")
class PickleLosesTheRows(TwoRooms):
    def __setstate__(self, state):
        super().__setstate__(state)
        self.reset(seed=1)


@fault("envs_in_threads")
class EnvsShareTheirRows(TwoRooms):
    shared = {}

    def _step_row(self, row, command):
        count = self.shared[self.num_envs] = self.shared.get(self.num_envs, 0) + 1
        happened = super()._step_row(row, command)
        return {**happened, "reward": count} if self.num_envs == WIDE and "reward" in happened else happened


@fault("fork_of_the_process")
class ChildHasNoThreads(TwoRooms):
    born = os.getpid()

    def step(self, action, rows=None):
        if os.getpid() != self.born:
            raise RuntimeError("no pool")
        return super().step(action, rows)


@fault("facts_agree")
class StatusOfAListedCommandIsNotOk(TwoRooms):
    def _act(self, row, command):
        toy.act(row, command)
        row["status"] = 4


@fault("facts_agree")
class WonIsNoEnd(TwoRooms):
    def _act(self, row, command):
        toy.act(row, command)
        if row["flags"] & (WON | LOST):
            row["flags"] &= ~TERMINATED & 0xFF


@pytest.mark.parametrize("kind", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_and_named(kind):
    if kind.broken == {"fork_of_the_process"} and ae.check_env(TwoRooms, only=kind.broken).of("skipped"):
        pytest.skip("JAX is running in this process")
    with pytest.raises(ConformanceError) as caught:
        ae.check_env(kind, only=kind.broken, wide=WIDE)
    assert set(re.findall(r"^    (\w+): ", str(caught.value), re.M)) == kind.broken


def test_no_promise_is_unable_to_fail():
    covered = set().union(*(kind.broken for kind in FAULTS.values()))
    assert {name for name, _, _ in promises()} == covered


def test_the_error_quotes_the_sentence_and_says_what_was_found():
    with pytest.raises(AssertionError) as caught:
        ae.check_env(RewardIsTheScore, only=["reward_is_the_change_of_score"])
    text = str(caught.value)
    assert text.startswith(
        "1 of 1 promises are broken:\n- reward is the change of score since the last step unless"
    )
    assert re.search(r"step \d+: sum of reward_terms\[\d\]: 0.0, want 1.0", text)


def test_a_report_can_be_had_instead_of_the_error():
    report = ae.check_env(RewardIsTheScore, only=["reward_is_the_change_of_score", "padding"], raises=False)
    assert [(check.name, check.outcome) for check in report.checks] == [
        ("padding", "passed"),
        ("reward_is_the_change_of_score", "failed"),
    ]


def test_a_promise_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="only: promptness: no such promise"):
        ae.check_env(TwoRooms, only=["padding", "promptness"])
