"""The command `agentenv-fast`. Needs the extra `cli`; without it, says how to get it and exits 2."""

from __future__ import annotations

import importlib.util
import os
import sys

from agentenv_fast.errors import AgentEnvError

_NEEDS = ("typer", "rich", "pydantic", "yaml")


def main(argv: list[str] | None = None) -> None:
    """Run one verb and exit: 0 done, 1 a check failed, 2 bad input or a missing package, 130 interrupted."""
    missing = [name for name in _NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        print(
            f"error: agentenv-fast needs {', '.join(missing)}; get them with: pip install 'agentenv-fast[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    from agentenv_fast.cli.app import app

    try:
        app(args=argv, prog_name="agentenv-fast")
    except AgentEnvError as error:
        _leave(error)
    except BrokenPipeError:  # `| head` went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _leave(error: AgentEnvError) -> None:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
