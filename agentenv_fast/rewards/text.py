"""Scores of many texts against references in one call; docs/rewards.md defines each score exactly.

Texts are list[str], list[bytes], or arrays with sizes: (uint8[N, B], int32[N]) of UTF-8, (int32[N, L], int32[N]) of
token ids. References are as many and of the same kind (text or ids); one text for all, or a list of several for each
text (the best counts), where texts are lists. Every score is float32[N], in [0, 1] unless it says otherwise.

All functions take `threads` (0: all cores that the process may use) and give the same bytes for any number. ArrayError
tells of a wrong type, dtype, shape or size; ConfigError of a setting that cannot be honoured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agentenv_fast.errors import ArrayError, ConfigError
from agentenv_fast.native import _core

Texts = Sequence[str] | Sequence[bytes] | tuple[npt.NDArray[Any], npt.NDArray[np.int32]]
References = Texts | str | bytes | Sequence[Sequence[str]] | Sequence[Sequence[bytes]]
Scores = npt.NDArray[np.float32]

# csrc/rewards/text_scores.h: Score and Unit
_EXACT, _EXACT_NORMALISED, _NUMBER, _CHOICE, _TOKEN_F1, _LEVENSHTEIN, _INDEL, _ROUGE_L, _REPETITION = range(9)
_UNITS = {"bytes": 0, "characters": 1, "words": 2}


def exact_match(
    texts: Texts, references: References, *, normalised: bool = False, threads: int = 0
) -> Scores:
    """1 where text and reference are the same bytes (or ids), or have the same normal form (`normalise`); else 0."""
    return _against(_EXACT_NORMALISED if normalised else _EXACT, texts, references, threads)


def number_match(
    texts: Texts,
    references: References,
    *,
    tolerance: float = 1e-9,
    units: bool = False,
    threads: int = 0,
) -> Scores:
    """1 where the last number of the text equals the last number of the reference, else 0 (also where one has none).

    Args:
      tolerance: in [0, 1), relative to the larger of the two.
      units: also compare currency and unit, where the reference has them.
    """
    if not 0 <= tolerance < 1:
        raise ConfigError(f"tolerance: {tolerance!r}, want a number in [0, 1)")
    return _against(_NUMBER, texts, references, threads, tolerance=float(tolerance), units=bool(units))


def multiple_choice(texts: Texts, references: References, *, choices: int = 5, threads: int = 0) -> Scores:
    """1 where the letter that the text chooses is the one that the reference chooses, else 0.

    Args:
      choices: how many letters there are to choose from, A first; in [2, 26].
    """
    return _against(_CHOICE, texts, references, threads, choices=_integer("choices", choices, 2, 26))


def token_f1(texts: Texts, references: References, *, threads: int = 0) -> Scores:
    """F1 of the words of the normalised texts as multisets, or of token ids: SQuAD 2.0's (Rajpurkar et al. 2018)."""
    return _against(_TOKEN_F1, texts, references, threads)


def edit_similarity(
    texts: Texts, references: References, *, kind: str = "levenshtein", threads: int = 0
) -> Scores:
    """1 - distance / its maximum, over characters or token ids; 1 for two empty texts.

    Args:
      kind: "levenshtein" (insert, delete, replace; maximum: the longer length) or "indel" (insert, delete; maximum: the
        sum of lengths). They equal rapidfuzz's Levenshtein and Indel normalized_similarity.
    """
    kinds = {"levenshtein": _LEVENSHTEIN, "indel": _INDEL}
    if kind not in kinds:
        raise ConfigError(f"kind: {kind!r}, want one of {', '.join(kinds)}")
    return _against(kinds[kind], texts, references, threads)


def rouge_l(texts: Texts, references: References, *, threads: int = 0) -> Scores:
    """F-measure of the longest common subsequence of words, or of token ids (Lin 2004).

    Equals rouge-score's rougeL without a stemmer.
    """
    return _against(_ROUGE_L, texts, references, threads)


def repetition(texts: Texts, *, n: int = 3, threads: int = 0) -> Scores:
    """The share of n-grams that came before: 1 - distinct / all; 0 for fewer than n words. A penalty weighs it below 0.

    Args:
      n: words (or token ids) of an n-gram, in [1, 64]. Words are those of str.lower and str.split.
    """
    gram = _integer("n", n, 1, 64)
    return _core.score_texts(_REPETITION, _listed(texts), None, _threads(threads), 0.0, False, 0, gram)


def length_penalty(texts: Texts, *, limit: int, buffer: int, unit: str = "words", threads: int = 0) -> Scores:
    """In [-1, 0]: 0 up to limit - buffer, then falling linearly to -1 at `limit` and beyond.

    The soft overlong punishment of DAPO (Yu et al. 2025, arXiv:2503.14476, eq. 13).

    Args:
      limit, buffer: in units, 0 <= buffer <= limit.
      unit: as for `lengths`.
    """
    limit = _integer("limit", limit, 0, 2**31 - 1)
    buffer = _integer("buffer", buffer, 0, limit)
    count = lengths(texts, unit=unit, threads=threads).astype(np.int64)
    over = np.where(count > limit, 1.0, (count - (limit - buffer)) / max(buffer, 1))
    return -np.clip(over, 0.0, 1.0).astype(np.float32)


def lengths(texts: Texts, *, unit: str = "words", threads: int = 0) -> npt.NDArray[np.int32]:
    """int32[N]. unit: "words" (str.split), "characters" (code points) or "bytes"; token ids are counted as they are."""
    if unit not in _UNITS:
        raise ConfigError(f"unit: {unit!r}, want one of {', '.join(_UNITS)}")
    return _core.text_lengths(_listed(texts), _UNITS[unit], _threads(threads))


def normalise(texts: Texts) -> list[bytes]:
    """SQuAD's normal form, in UTF-8: lower case, no ASCII punctuation, no a, an, the, words one space apart."""
    return _core.normalise_texts(_listed(texts))


class Scorer(Protocol):
    """What a Composition takes: any function of texts and references that returns float[N]."""

    def __call__(self, texts: Texts, references: References, /) -> npt.NDArray[Any]: ...


@dataclass(frozen=True)
class Scored:
    """What a Composition returns: the weighted terms stay visible, so that reward hacking can be seen."""

    total: Scores  # [N]: the sum of terms
    terms: npt.NDArray[np.float32]  # [N, R], weights included
    names: tuple[str, ...]  # R


class Composition:
    """A weighted sum of scores.

    >>> score = Composition(right=(1.0, number_match), loops=(-0.5, lambda texts, _: repetition(texts, n=4)))
    >>> score(texts, references).total  # doctest: +SKIP
    """

    def __init__(self, **terms: tuple[float, Scorer]):
        if not terms:
            raise ConfigError("Composition: no terms, want name=(weight, scorer)")
        for name, term in terms.items():
            if not (isinstance(term, tuple) and len(term) == 2 and callable(term[1]) and _finite(term[0])):
                raise ConfigError(f"Composition.{name}: {term!r}, want (a finite weight, a scorer)")
        self.names = tuple(terms)
        self.weights = tuple(float(weight) for weight, _ in terms.values())
        self._scorers: tuple[Callable[..., Any], ...] = tuple(scorer for _, scorer in terms.values())

    def __call__(self, texts: Texts, references: References) -> Scored:
        """Scores of N texts. Raises ArrayError if a scorer returns anything but N numbers, all finite."""
        count = _count(texts)
        terms = np.empty((count, len(self.names)), np.float32)
        for column, (name, weight, scorer) in enumerate(zip(self.names, self.weights, self._scorers)):
            values = np.asarray(scorer(texts, references))
            if values.shape != (count,):
                raise ArrayError(f"Composition.{name}: shape {values.shape}, want ({count},)")
            if not (np.issubdtype(values.dtype, np.number) or values.dtype == bool):
                raise ArrayError(f"Composition.{name}: dtype {values.dtype}, want numbers")
            if not np.isfinite(values).all():
                row = int(np.flatnonzero(~np.isfinite(values))[0])
                raise ArrayError(f"Composition.{name}: row {row}: {values[row]}, want a finite number")
            terms[:, column] = weight * values
        return Scored(terms.sum(axis=1, dtype=np.float32), terms, self.names)


def _against(
    score: int,
    texts: Texts,
    references: References,
    threads: int,
    tolerance: float = 0.0,
    units: bool = False,
    choices: int = 5,
) -> Scores:
    settings = (_threads(threads), tolerance, units, choices, 1)
    texts = _listed(texts)
    if isinstance(references, (str, bytes)):
        one: list[Any] = [references]
        references = one * _count(texts)
    if _several(references):
        flat, of_text, starts = _flattened(texts, references)
        values = _core.score_texts(score, of_text, flat, *settings)
        return np.maximum.reduceat(values, starts) if len(starts) else values
    return _core.score_texts(score, texts, _listed(references), *settings)


def _several(references: Any) -> bool:
    """Whether each text has a list of references of its own; a mixture is refused later, where it changes."""
    return (
        isinstance(references, (list, tuple))
        and bool(references)
        and isinstance(references[0], (list, tuple))
    )


def _flattened(texts: Any, references: Any) -> tuple[list[Any], list[Any], npt.NDArray[np.intp]]:
    """Every pair of a text and one of its references, and where the pairs of each text begin."""
    if _arrays(texts):
        raise ArrayError("references: several for each text, want texts as a list of str or bytes for that")
    if len(references) != len(texts):
        raise ArrayError(f"references: {len(references)}, want one for each of the {len(texts)} texts")
    for row, several in enumerate(references):
        if not isinstance(several, (list, tuple)) or not several:
            raise ArrayError(
                f"references[{row}]: {several!r}, want a list of at least one, as the others are"
            )
    counts = [len(several) for several in references]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp)
    flat = [one for several in references for one in several]
    return flat, [text for text, count in zip(texts, counts) for _ in range(count)], starts


def _arrays(texts: Any) -> bool:
    return isinstance(texts, tuple) and len(texts) == 2 and isinstance(texts[0], np.ndarray)


def _listed(texts: Any) -> Any:
    """Lists, tuples and arrays go down as they are; any other sequence but one text becomes a list."""
    if isinstance(texts, (list, tuple, str, bytes, np.ndarray)) or not isinstance(texts, Sequence):
        return texts
    return list(texts)


def _count(texts: Any) -> int:
    return len(texts[0]) if _arrays(texts) else len(texts)


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _integer(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ConfigError(f"{name}: {value!r}, want an int in [{low}, {high}]")
    return int(value)


def _threads(value: Any) -> int:
    return _integer("threads", value, 0, 4096)
