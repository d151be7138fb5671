"""Training from Python: a few updates on generated games, then held-out games, each once. Needs the extra `train`."""

from pathlib import Path

from agentenv_fast.evaluation import RandomAgent, evaluate, load_run
from agentenv_fast.train import load_config, train


def main(out: str | Path = "runs/example", total_steps: int = 200_000) -> dict:
    config = load_config(
        {
            "suite": {"id": "keyquest-v0", "level": "easy", "size": 1024},
            "train": {"total_steps": total_steps, "num_envs": 64, "rollout_steps": 32},
            "eval": {"every": 100_000, "episodes": 64, "test_episodes": 64},
        }
    )
    result = train(config, out=out)
    print(
        f"{result.folder}: success {result.results['success']:.2f}, random {result.results['random_success']:.2f}"
    )

    import agentenv_fast as ae

    run, held_out = (
        load_run(result.folder),
        ae.suite("keyquest-v0", split="test", size=32, level="easy", seed=1),
    )
    again = evaluate(run.agent(greedy=False), held_out, make=run.make)
    chance = evaluate(RandomAgent(), held_out)
    print(f"other held-out games: sampled {again['success']:.2f}, random {chance['success']:.2f}")
    return result.results


if __name__ == "__main__":
    main()
