"""One exception for each way to be wrong. Every message says what, got, wanted, where, and the way out."""


class AgentEnvError(Exception):
    """Base of every error that agentenv_fast raises on purpose."""


class WorldError(AgentEnvError, ValueError):
    """A world file cannot be used: it is missing, truncated, hostile, or uses a feature that is not supported."""


class SuiteError(AgentEnvError, ValueError):
    """A suite id, split or selection that does not exist."""


class ConfigError(AgentEnvError, ValueError):
    """A keyword or setting has a value that cannot be honoured."""


class ActionError(AgentEnvError, ValueError):
    """Actions of the wrong type, dtype, shape or device, or (strict=True) out of range. Nothing has been stepped."""


class SnapshotError(AgentEnvError, ValueError):
    """A snapshot of another suite or version, or with the wrong shape."""


class CodecError(AgentEnvError, ValueError):
    """A tokenizer that cannot be used with this suite."""


class EnvBusyError(AgentEnvError, RuntimeError):
    """One env was used from two threads at once."""


class CheckpointError(AgentEnvError, ValueError):
    """A run folder or checkpoint is missing, damaged or of another version."""


class ConformanceError(AgentEnvError, AssertionError):
    """check_env: an env breaks its contract. Its message names each sentence that it breaks."""


class DependencyError(AgentEnvError, ImportError):
    """An optional part needs packages that are not installed; the message has the command that installs them."""


class ArrayError(AgentEnvError, ValueError):
    """Texts or arrays handed over in bulk have the wrong type, dtype, shape or size. Nothing has been computed."""


class PatternError(AgentEnvError, ValueError):
    """A regular expression that cannot be compiled to an automaton; the message names the position."""
