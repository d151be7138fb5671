"""Codec: how observation text becomes token ids. Id 0 pads, id 1 is unknown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentenv_fast.errors import CodecError
from agentenv_fast.native import _core

PAD_ID, UNKNOWN_ID = 0, 1
SECTIONS = ("banner", "objective", "body", "score", "status", "end")


class Codec:
    """A tokenizer of one kind.

    Kinds:
      words: lower-case words and single digits; punctuation and layout separate them (csrc/core/text.h). Runs natively:
        every literal of a game is encoded once, a step copies ids.
      tokenizer: a Hugging Face `tokenizer.json`. It runs on the rendered text at every step
        (`spec.tokens_exact` is False), which is exact and slow.

    Attributes:
      kind: "words" or "tokenizer".
      vocab_size: number of ids, pad and unknown included.
      sections: which parts of a text give tokens, a subset of `SECTIONS` (words only).
      hash: hex digest; equal hashes give equal ids for equal texts.
    """

    def __init__(self, words: Sequence[str], *, sections: Iterable[str] = SECTIONS) -> None:
        self.kind = "words"
        self.sections = _sections(sections)
        self._vocabulary = _core.Vocabulary(list(words))
        self._words = tuple(words)
        self._tokenizer: Any = None
        self._tokenizer_json = ""
        self.vocab_size = len(self._vocabulary)
        self.hash = _digest(self.to_dict())

    @classmethod
    def words(cls, suite, *, sections: Iterable[str] = SECTIONS) -> Codec:
        """The word vocabulary of a suite: a family's fixed one, else every word of its texts and commands.

        Args:
          suite: a Suite, or an iterable of words.
          sections: which parts of a text give tokens, e.g. ("body", "score") to hide objective and status line.
        """
        words = suite.words if hasattr(suite, "words") else list(suite)
        return cls(words, sections=sections)

    @classmethod
    def from_tokenizer(cls, path: str | Path) -> Codec:
        """A Hugging Face tokenizer.json (needs the package `tokenizers`).

        Raises: CodecError if the file cannot be read or is not a tokenizer.
        """
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise CodecError(
                f"tokens={str(path)!r} needs the package tokenizers: pip install tokenizers"
            ) from error
        try:
            text = Path(path).read_text(encoding="utf-8")
            tokenizer = Tokenizer.from_str(text)
        except Exception as error:  # the library raises plain Exception
            raise CodecError(f"{path}: not a tokenizer.json that can be read: {error}") from error
        codec = cls((), sections=SECTIONS)
        codec.kind = "tokenizer"
        codec._tokenizer, codec._tokenizer_json = tokenizer, text
        codec.vocab_size = tokenizer.get_vocab_size()
        codec.hash = _digest(codec.to_dict())
        return codec

    @property
    def native(self) -> bool:
        """Whether ids are copied from tables inside a step."""
        return self.kind == "words"

    @property
    def section_mask(self) -> int:
        """Bit i: tokens of SECTIONS[i] are wanted."""
        return sum(1 << SECTIONS.index(name) for name in self.sections)

    def encode(self, text: str) -> np.ndarray:
        """→ int32[n] ids of the text."""
        if self.kind == "words":
            return self._vocabulary.encode(text)
        return np.asarray(self._tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.int32)

    def encode_batch(self, texts: Sequence[str]) -> list[np.ndarray]:
        """→ one int32[n] per text."""
        if self.kind == "words":
            return [self._vocabulary.encode(text) for text in texts]
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [np.asarray(one.ids, dtype=np.int32) for one in encoded]

    def decode(self, ids: Iterable[int]) -> str:
        """Ids → text: words joined by blanks (the layout is gone), or what the tokenizer gives back."""
        if self.kind == "tokenizer":
            return self._tokenizer.decode([int(i) for i in ids], skip_special_tokens=False)
        return " ".join(self.token(int(i)) for i in ids if int(i) != PAD_ID)

    def token(self, token_id: int) -> str:
        """The word of one id; "<pad>" and "<unk>" for 0 and 1."""
        if self.kind == "tokenizer":
            return self._tokenizer.id_to_token(token_id) or "<unk>"
        if not 0 <= token_id < self.vocab_size:
            raise CodecError(f"token id {token_id} outside [0, {self.vocab_size})")
        return ("<pad>", "<unk>")[token_id] if token_id < 2 else self._words[token_id - 2]

    def command_tokens(self, commands: Sequence[str]) -> np.ndarray:
        """→ int32[C, Lc], padded with 0."""
        rows = self.encode_batch(commands)
        out = np.zeros((len(rows), max([1, *(len(row) for row in rows)])), dtype=np.int32)
        for row, ids in zip(out, rows, strict=True):
            row[: len(ids)] = ids
        return out

    def bind(self, bank):
        """The native token tables of this codec for a bank of games."""
        return _core.BoundCodec(bank, self._vocabulary, self.section_mask)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` turns back into an equal codec."""
        if self.kind == "tokenizer":
            return {"kind": self.kind, "tokenizer": self._tokenizer_json}
        return {"kind": self.kind, "sections": list(self.sections), "words": list(self._words)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Codec:
        """Raises: CodecError if `data` did not come from `to_dict`."""
        try:
            if data["kind"] == "words":
                words = data["words"]
                if not all(isinstance(word, str) for word in words):
                    raise TypeError("words must be strings")
                return cls(words, sections=data["sections"])
            if data["kind"] == "tokenizer":
                import tempfile

                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "tokenizer.json"
                    path.write_text(data["tokenizer"], encoding="utf-8")
                    return cls.from_tokenizer(path)
        except (KeyError, TypeError) as error:
            raise CodecError(
                f"codec: {error!r} in {sorted(data)}: want what Codec.to_dict() wrote"
            ) from error
        raise CodecError(f"codec: kind {data['kind']!r}, want 'words' or 'tokenizer'")

    def save(self, path: str | Path) -> None:
        """Writes JSON; a run folder keeps its codec as codec.json."""
        Path(path).write_text(json.dumps(self.to_dict()), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Codec:
        """Raises: CodecError if the file is missing or damaged."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CodecError(f"{path}: not a codec: {error}") from error
        return cls.from_dict(data)

    def __getstate__(self) -> dict[str, Any]:
        return self.to_dict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(Codec.from_dict(state).__dict__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Codec) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"Codec({self.kind}, vocab_size={self.vocab_size}, hash={self.hash[:12]})"


def _sections(names: Iterable[str]) -> tuple[str, ...]:
    names = tuple(names)
    for name in names:
        if name not in SECTIONS:
            raise CodecError(f"sections: {name!r}, want some of {', '.join(SECTIONS)}")
    return tuple(name for name in SECTIONS if name in names)


def _digest(data: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
