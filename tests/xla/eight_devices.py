"""Run by test_functional.py in a process of its own: JAX must be told of eight devices before it starts."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import agentenv_fast as ae
from agentenv_fast.errors import ConfigError
from agentenv_fast.xla.shard import shard

N = 64
f = ae.xla.make(ae.suite("keyquest-v0", size=12), N, max_episode_steps=9, group_size=3)
actions = np.random.default_rng(0).integers(-1, 7, (25, N)).astype(np.int32)
mask = np.arange(N) % 3 == 0
seeds = np.arange(N).astype(np.uint64) * 2**40


def play(g):
    @jax.jit
    def run(state):
        return jax.lax.scan(g.step, state, actions)

    first, _ = g.reset(7)
    after, batches = run(first)
    again, obs = g.reset(None, state=after, mask=mask)
    seeded, _ = g.reset(seeds)
    return after, batches, again, obs, seeded, g.observe(again)


whole = play(f)
for devices in (1, 2, 8):
    mesh = Mesh(np.array(jax.devices()[:devices]), ("data",))
    split = play(shard(f, mesh))
    assert len(split[0].rows.sharding.device_set) == devices
    assert len(split[1].obs["tokens"].sharding.device_set) == devices
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(split), strict=True):
        np.testing.assert_array_equal(one, other)
    print(devices)

mesh = Mesh(np.array(jax.devices()), ("data",))


def local(seed, actions):  # in a shard_map of one's own, with its checks on
    first = jax.lax.axis_index("data") * (N // 8)
    state, _ = f.reset(seed, first_row=first, num_envs=N // 8)
    return jax.lax.scan(f.step, state, actions)[1].obs["tokens"]


split = jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "data")), out_specs=P(None, "data"))
np.testing.assert_array_equal(split(np.array([7, 0], np.uint32), actions), whole[1].obs["tokens"])
print("own")

for bad in (lambda: shard(f, mesh, "rows"), lambda: shard(ae.xla.make(f.suite, 60), mesh)):
    try:
        bad()
    except ConfigError as error:
        assert "shard: " in str(error)
    else:
        raise AssertionError("not refused")
print("refused")
