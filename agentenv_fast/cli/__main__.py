"""`python -m agentenv_fast.cli`, for a Python whose scripts are not on the PATH."""

from agentenv_fast.cli import main

if __name__ == "__main__":
    main()
