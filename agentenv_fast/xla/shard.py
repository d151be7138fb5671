"""The functional form over several devices: each steps its own rows, together exactly as the whole would."""

from __future__ import annotations

import math
from typing import Any

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from agentenv_fast.errors import ConfigError
from agentenv_fast.spec import StepBatch
from agentenv_fast.xla.functional import Functional, State, seed_operand


class Sharded:
    """reset, step and observe of a Functional, rows split over one or more axes of a mesh; arrays are global.

    A row draws from the stream of its global index, so results do not depend on the number of devices. Left to plain
    jit, XLA would gather all rows on every device.

    Args:
      f: from ae.xla.make, with num_envs of all devices together.
      mesh: of CPU devices.
      axis: the name of a mesh axis, or several.
    Raises: ConfigError if the rows do not split evenly or a mesh axis is not known.
    """

    def __init__(self, f: Functional, mesh: Mesh, axis: str | tuple[str, ...] = "data") -> None:
        axes = (axis,) if isinstance(axis, str) else tuple(axis)
        unknown = [name for name in axes if name not in mesh.shape]
        if unknown:
            raise ConfigError(f"shard: axis {unknown[0]!r}, the mesh has {', '.join(mesh.shape)}")
        shards = math.prod(mesh.shape[name] for name in axes)
        if f.num_envs % shards:
            raise ConfigError(
                f"shard: num_envs={f.num_envs} does not split over {shards} devices ({' x '.join(axes)}); "
                "use a multiple"
            )
        self.f, self.mesh, self.axes = f, mesh, axes
        self.num_envs, self.spec, self.suite = f.num_envs, f.spec, f.suite
        self._local = f.num_envs // shards
        self._rows, self._all = P(axes), P()
        final = self._rows if f.blank(1).final_obs else self._all
        self.state_spec = State(
            self._rows, self._rows, self._rows, self._rows, final, suite=self._all, weights=self._all
        )
        self._step = self._map(f.step, (self.state_spec, self._rows), (self.state_spec, self._rows))
        self._observe = self._map(f.observe, (self.state_spec,), self._rows)
        self._resets: dict[Any, Any] = {}  # by which arguments there are

    def reset(self, seed, *, state: State | None = None, mask=None, game=None) -> tuple[State, dict]:
        """As Functional.reset; mask, game and seeds of rows are of all N rows."""
        by_row = {"state": state, "mask": mask, "game": game}
        seed, form = seed_operand(seed, self.num_envs)
        by_row = {
            name: x for name, x in {**by_row, "seeds": seed if form == 2 else None}.items() if x is not None
        }
        whole = {"seed": seed} if form == 1 else {}
        key = (*by_row, *whole)
        if key not in self._resets:
            specs = {name: self.state_spec if name == "state" else self._rows for name in by_row}
            self._resets[key] = self._map(self._reset, (specs, self._all), (self.state_spec, self._rows))
        return self._resets[key](by_row, whole)

    def _reset(self, by_row: dict[str, Any], whole: dict[str, Any]) -> tuple[State, dict]:
        first = jax.lax.axis_index(self.axes) * self._local
        arguments = dict(by_row)
        seed = arguments.pop("seeds", whole.get("seed"))
        return self.f.reset(seed, first_row=first, num_envs=self._local, **arguments)

    def step(self, state: State, action) -> tuple[State, StepBatch]:
        """As Functional.step."""
        return self._step(state, action)

    def observe(self, state: State) -> StepBatch:
        """As Functional.observe."""
        return self._observe(state)

    def _map(self, function, in_specs, out_specs):
        split = jax.shard_map(
            function, mesh=self.mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False
        )
        return jax.jit(split)


def shard(f: Functional, mesh: Mesh, axis: str | tuple[str, ...] = "data") -> Sharded:
    """The same functions over a mesh; see Sharded."""
    return Sharded(f, mesh, axis)
