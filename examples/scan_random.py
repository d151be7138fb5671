"""A random agent in one compiled program: policy, steps and resets in a lax.scan, no Python between them."""

import time

import jax
import jax.numpy as jnp

import agentenv_fast as ae


def main(num_envs: int = 1024, steps: int = 100) -> float:
    f = ae.xla.make(ae.suite("keyquest-v0", size=64, level="easy"), num_envs)

    def step(state, key):
        count = jnp.maximum(state.obs["admissible_count"], 1)  # the state holds the observation to act on
        action = jax.random.randint(key, (num_envs,), 0, count)
        state, batch = f.step(state, action)
        ended = batch.terminated | batch.truncated
        return state, (ended.sum(), (ended & batch.info["won"]).sum())

    @jax.jit
    def play(seed):
        state, _ = f.reset(seed)
        _, (ended, won) = jax.lax.scan(step, state, jax.random.split(jax.random.key(0), steps))
        return ended.sum(), won.sum()

    jax.block_until_ready(play(0))  # compiles; other seeds do not
    began = time.perf_counter()
    ended, won = (int(x) for x in play(1))
    speed = num_envs * steps / (time.perf_counter() - began)
    print(f"{speed:,.0f} steps/s; {ended} episodes, {won} won by chance")
    return won / max(ended, 1)


if __name__ == "__main__":
    main()
