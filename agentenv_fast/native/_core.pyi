"""
The native core of agentenv_fast; use it through agentenv_fast.make, load and suite.
"""
from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing
__all__: list[str] = ['Bank', 'BoundCodec', 'Env', 'FORMAT_VERSION', 'GroundGame', 'OPERAND0', 'OPS', 'PLAYER_HERE', 'PSEUDO', 'Program', 'Vocabulary', 'available_threads', 'build_info', 'compile_source', 'family_words', 'generate', 'ground_source', 'normalise_texts', 'philox', 'score_texts', 'text_lengths', 'xla_api_version', 'xla_register', 'xla_targets']
class Program:
    """
    One compiled game, for inspection.
    """
    def __init__(self, arg0: bytes) -> None:
        ...
    @property
    def caps(self) -> dict:
        ...
    @property
    def commands(self) -> list[str]:
        ...
    @property
    def extra(self) -> str:
        ...
    @property
    def family(self) -> str:
        ...
    @property
    def fluents(self) -> list[str]:
        ...
    @property
    def hash(self) -> int:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def objects(self) -> list:
        """
        list of (id, name, type)
        """
    @property
    def rules(self) -> list[str]:
        ...
    @property
    def static_facts(self) -> list[str]:
        ...
class Bank:
    """
    The games of a suite, decoded once and shared.
    """
    def __init__(self, arg0: collections.abc.Sequence[bytes]) -> None:
        ...
    def __len__(self) -> int:
        ...
    def bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> bytes:
        ...
    def extra(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> str:
        ...
    def family(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> str:
        ...
    def hash(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> int:
        ...
    def name(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> str:
        ...
    def words(self) -> list[str]:
        ...
    @property
    def commands(self) -> list[str]:
        ...
    @property
    def max_admissible(self) -> int:
        ...
    @property
    def max_episode_steps(self) -> int:
        ...
    @property
    def max_score(self) -> int:
        ...
    @property
    def max_text(self) -> int:
        ...
    @property
    def stride(self) -> int:
        ...
class Vocabulary:
    """
    Words to ids; 0 pads, 1 is unknown.
    """
    def __init__(self, arg0: collections.abc.Sequence[str]) -> None:
        ...
    def __len__(self) -> int:
        ...
    def command_tokens(self, arg0: Bank) -> numpy.typing.NDArray[numpy.int32]:
        ...
    def encode(self, arg0: str) -> numpy.typing.NDArray[numpy.int32]:
        ...
    @property
    def words(self) -> list[str]:
        ...
class BoundCodec:
    """
    Token ids of every literal of a bank.
    """
    def __init__(self, bank: Bank, vocabulary: Vocabulary, sections: typing.SupportsInt | typing.SupportsIndex = 255) -> None:
        ...
    @property
    def max_tokens(self) -> int:
        ...
class Env:
    """
    N rows of a bank; see agentenv_fast.envs.vec_env.VecEnv.
    """
    def __init__(self, bank: Bank, codec: BoundCodec, num_rows: typing.SupportsInt | typing.SupportsIndex, options: dict) -> None:
        ...
    def admissible(self, rows: typing.Any = None) -> list:
        ...
    def facts(self, row: typing.SupportsInt | typing.SupportsIndex) -> tuple:
        ...
    def fork(self, source: typing.Any, targets: typing.Any, split: bool) -> None:
        ...
    def get_rows(self, rows: typing.Any = None) -> numpy.typing.NDArray[numpy.uint8]:
        ...
    def last_event(self, row: typing.SupportsInt | typing.SupportsIndex) -> tuple:
        ...
    def observe(self, rows: typing.Any = None) -> tuple:
        ...
    def place_programs(self, row: typing.SupportsInt | typing.SupportsIndex) -> tuple:
        ...
    def render_program(self, row: typing.SupportsInt | typing.SupportsIndex, program: typing.SupportsInt | typing.SupportsIndex, text_mode: typing.SupportsInt | typing.SupportsIndex = 1) -> str:
        ...
    def reset(self, seed: typing.Any = None, row_seeds: typing.Any = None, mask: typing.Any = None, games: typing.Any = None) -> tuple:
        ...
    def row_hash(self, rows: typing.Any = None) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    def set_rows(self, values: numpy.ndarray, rows: typing.Any = None) -> None:
        ...
    def set_token_commands(self, arg0: collections.abc.Sequence[collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]]) -> None:
        ...
    def set_weights(self, arg0: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex]) -> None:
        ...
    def step(self, action: typing.Any, rows: typing.Any = None) -> tuple:
        ...
    def texts(self, rows: typing.Any = None) -> list:
        ...
    @property
    def started(self) -> bool:
        ...
    @property
    def unknown_commands(self) -> int:
        ...
class GroundGame:
    """
    A ground game between a front end's Source and its compiled bytes, for front ends that write their texts once they know what can ever be true. Raises WorldError.
    """
    def __init__(self, source: dict) -> None:
        ...
    def emit(self, actions: typing.Any, objects: typing.Any, programs: typing.Any, literals: typing.Any, texts: collections.abc.Sequence, extra_json: str) -> bytes:
        """
        Compiled game bytes, with (command, [operands], text) for each action and the objects' names.
        """
    def make_places(self, flags: collections.abc.Sequence, objects: collections.abc.Sequence) -> typing.Any:
        """
        Turns a one-hot group of flags into the player's place; the (variable, operator, value) that stands for each old variable, or None with the game unchanged if it is not one-hot.
        """
    def track_deletions(self, flags: collections.abc.Sequence) -> list:
        """
        Flags that say 'clear because it was deleted', -1 where nothing deletes.
        """
    @property
    def actions(self) -> list:
        """
        (rule, command) of each.
        """
    @property
    def flags(self) -> list:
        """
        Facts that change, 'predicate(a, b)'; the index is the flag.
        """
    @property
    def initial(self) -> list:
        """
        Values of flags and variables at the start.
        """
    @property
    def num_variables(self) -> int:
        """
        Flags and integer variables.
        """
    @property
    def statics(self) -> list:
        """
        Facts that always hold.
        """
def available_threads() -> int:
    """
    Cores that this process may use (affinity, cgroup, AE_NUM_THREADS).
    """
def build_info() -> dict:
    """
    Compiler, baseline instruction set and kind of build.
    """
def compile_source(source: dict) -> bytes:
    """
    A front end's dict (see agentenv_fast.worlds.source) → compiled game bytes. Raises WorldError.
    """
def family_words(family: str) -> list[str]:
    """
    The fixed vocabulary of a built-in family, sorted.
    """
def generate(family: str, params: dict, split: str, size: typing.SupportsInt | typing.SupportsIndex, seed: typing.SupportsInt | typing.SupportsIndex, threads: typing.SupportsInt | typing.SupportsIndex = 1) -> list:
    """
    The first `size` different games of a split → list of compiled games. Raises ConfigError, SuiteError.
    """
def ground_source(source: dict) -> dict:
    """
    The ground form of a source as plain data, for tests and inspection.
    """
def normalise_texts(texts: typing.Any) -> list:
    """
    list[bytes]: SQuAD's normal form of each text.
    """
def philox(arg0: typing.SupportsInt | typing.SupportsIndex, arg1: typing.SupportsInt | typing.SupportsIndex, arg2: typing.SupportsInt | typing.SupportsIndex, arg3: typing.SupportsInt | typing.SupportsIndex, arg4: typing.SupportsInt | typing.SupportsIndex) -> tuple[int, int, int, int]:
    """
    One Philox4x32-10 block, for tests.
    """
def score_texts(score: typing.SupportsInt | typing.SupportsIndex, texts: typing.Any, references: typing.Any, threads: typing.SupportsInt | typing.SupportsIndex, tolerance: typing.SupportsFloat | typing.SupportsIndex, units: bool, choices: typing.SupportsInt | typing.SupportsIndex, gram: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.float32]:
    """
    float32[N]: the score of each text; agentenv_fast.rewards.text has a function for each.
    """
def text_lengths(texts: typing.Any, unit: typing.SupportsInt | typing.SupportsIndex, threads: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.int32]:
    """
    int32[N]: bytes, characters or words of each text; of token ids, their number.
    """
def xla_api_version() -> tuple[int, int]:
    """
    (major, minor) of the XLA FFI headers that the core was built with; (0, 0) without XLA.
    """
def xla_register(key: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], bank: Bank, codec: BoundCodec, command_tokens: collections.abc.Sequence[collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]]) -> None:
    """
    Lets handlers find a suite by its operand, for the life of the process.
    """
def xla_targets() -> dict:
    """
    XLA handlers by name; empty where the core was built without XLA.
    """
FORMAT_VERSION: int = 5
OPERAND0: int = -1
OPS: dict = {'LIT': 1, 'NAME': 2, 'LISTED_NAME': 3, 'LIST': 4, 'JUMP': 5, 'UNLESS': 6, 'UNLESS_ANY': 7, 'UNLESS_FACT': 8, 'NUMBER': 9, 'NUMBER_WORDS': 10, 'CALL': 11, 'CALL_OBJECT': 12, 'CALL_PLACE': 13, 'CALL_EVENT': 14, 'SECTION': 15, 'END': 16, 'UNLESS_PRINTS': 17, 'UNLESS_HOLDS': 18, 'FACTS': 19, 'ITEM': 20, 'JOINED': 21}
PLAYER_HERE: int = -16
PSEUDO: dict = {'SCORE_CHANGE': 65280, 'SCORE': 65281, 'TURNS': 65282, 'MOVES': 65283, 'WON': 65284, 'LOST': 65285, 'EVENT': 65286, 'TEXT_MODE': 65287, 'OUTCOME': 65288, 'STEP': 65289, 'SCORE_CHANGE_ABS': 65290, 'SCORE_BEFORE': 65291, 'SCORE_TOLD': 65292, 'NEXT_TURN': 65293}
