"""An update on eight devices: parameters and optimizer state are split, and the result is that of one device."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("jax")
pytestmark = pytest.mark.slow

PROGRAM = """
import json, os
import jax, numpy as np
from agentenv_fast.learner.mesh import make_mesh
from agentenv_fast.learner.optimizers import make_optimizer
from agentenv_fast.learner.ppo import PPO, PPOConfig
from agentenv_fast.policy import SmallConfig, SmallPolicy
from agentenv_fast.rollout.actor import Actor
from agentenv_fast.rollout.collect import Collector
from tests.probe_envs import ProbeEnv

assert jax.device_count() == 8
env = ProbeEnv("matching", 32)
config = SmallConfig(embed=16, hidden=24, words=16, pairs=32, match_pairs=64, positions=3, slot_hidden=8, issued=8)
policy = SmallPolicy(config, env.command_tokens)
trajectory, _ = Collector(env, Actor(policy), policy.commands, 8, seed=0).collect(policy.init(0))
states, metrics = [], []
for mesh in (make_mesh(devices=jax.devices()[:1]), make_mesh(data=2, fsdp=2, model=2)):
    ppo = PPO(policy, PPOConfig(minibatches=2, epochs=2, target_kl=None), make_optimizer("sgd", momentum=0.9), mesh)
    state = ppo.init(policy.init(0))
    before = jax.tree.map(lambda x: x.sharding.num_devices, state)
    state, logs = ppo.update(state, trajectory, jax.random.key(0), 0.1)
    states.append(state)
    metrics.append({name: float(value) for name, value in logs.items()})
sharded = states[1]
def split(tree):
    return sum(x.addressable_shards[0].data.size < x.size for x in jax.tree.leaves(tree) if x.ndim >= 2)
pairs = list(zip(jax.tree.leaves(states[0]), jax.tree.leaves(sharded)))
start = jax.tree.leaves(policy.init(0))
print(json.dumps({
    "split_params": split(sharded.params), "matrices": sum(x.ndim >= 2 for x in jax.tree.leaves(sharded.params)),
    "split_moments": split(sharded.opt_state),
    "difference": max(float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in pairs if a.size),
    "moved": max(float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in zip(start,
    jax.tree.leaves(sharded.params))), "loss": [m["loss"] for m in metrics],
}))
"""


@pytest.fixture(scope="module")
def report():
    environment = {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": ".",
    }
    import os

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_parameters_and_optimizer_state_are_split_over_the_mesh(report):
    # All matrices but those with odd sizes: at least two thirds of them, and their moments with them.
    assert report["split_params"] >= 2 * report["matrices"] / 3
    assert report["split_moments"] == report["split_params"]


def test_the_update_on_eight_devices_equals_that_on_one(report):
    assert report["moved"] > 1e-3
    # Sums over shards are added in another order: float32 rounding of values near 1, four steps deep.
    assert report["difference"] < 2e-5
    assert report["loss"][0] == pytest.approx(report["loss"][1], abs=1e-5)
