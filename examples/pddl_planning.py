"""A PDDL domain as a text game: written in five minutes, played by name, searched breadth-first with forks."""

import numpy as np

import agentenv_fast as ae

DOMAIN, PROBLEM, TEXTS = (f"examples/pddl/{name}" for name in ("domain.pddl", "two-cups.pddl", "texts.toml"))


def solve(suite: ae.Suite, limit: int = 20_000) -> list[str]:
    """A shortest list of commands that reaches the goal: states are told apart by their world_hash."""
    env = ae.make(suite, num_envs=1, text=False, tokens=None, autoreset="disabled")
    _, info = env.reset(seed=0)
    frontier = [(env.snapshot(), [])]
    seen = {tuple(info["world_hash"][0])}
    while frontier and len(seen) < limit:
        snapshot, commands = frontier.pop(0)
        env.restore(snapshot)
        for index, command in enumerate(env.get_available_actions()[0]):
            env.restore(snapshot)
            _, _, _, _, info = env.step(np.array([index], np.int32))
            if info["won"][0]:
                return [*commands, command]
            if (state := tuple(info["world_hash"][0])) not in seen:
                seen.add(state)
                frontier.append((env.snapshot(), [*commands, command]))
    raise RuntimeError(f"no plan among {len(seen)} states")


def main() -> list[str]:
    suite = ae.load(DOMAIN, problem=PROBLEM, grammar=TEXTS)
    plan = solve(suite)
    env = ae.make(suite, num_envs=1, autoreset="disabled")
    env.reset(seed=0)
    print(env.get_state()[0])
    for command in plan:
        env.step([command])
        print(f"> {command}\n{env.get_state()[0]}")
    return plan


if __name__ == "__main__":
    main()
