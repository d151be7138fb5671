"""Commands as typed, in any case and spacing: done, refused in the original's words, or marked as not known."""

from pathlib import Path

import agentenv_fast as ae
from agentenv_fast.spec import Status


def main(game: str | Path = Path(__file__).parent / "games/simple.json") -> list[Status]:
    """Types four commands into four rows; returns the status of each."""
    env = ae.make(ae.load(game), num_envs=4, seed=0)
    env.reset()
    first = env.get_available_actions()[0][0]
    typed = [first.upper(), "  look ", "fly to the moon", "open door then go north"]
    _, _, _, _, info = env.step(typed)
    status = [Status(number) for number in info["status"]]
    for text, found, answer in zip(typed, status, env.get_state(), strict=True):
        print(f"> {text}    [{found.name.lower()}]\n{answer.strip()}\n")
    print(f"{env.unknown_commands} of {len(typed)} commands were not known")
    return status


if __name__ == "__main__":
    main()
