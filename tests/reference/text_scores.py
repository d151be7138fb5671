"""The text scores, slow and obvious: Python strings, regular expressions, matrices. docs/rewards.md defines them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_PUNCTUATION = frozenset(string.punctuation)


def decoded(text: str | bytes) -> str:
    """The characters of a text: a byte that is no UTF-8 is a character of its own."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def lower(text: str) -> str:
    return "".join(character.lower() for character in text)


def normal_words(text: str | bytes) -> list[str]:
    """normalize_answer of SQuAD's evaluate-v2.0.py, but for the lower case of each character by itself."""
    kept = "".join(c for c in lower(decoded(text)) if c not in _PUNCTUATION)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def normalise(text: str | bytes) -> bytes:
    return b" ".join(encoded(word) for word in normal_words(text))


def token_f1(text: Sequence, reference: Sequence) -> float:
    if not text or not reference:
        return float(not text and not reference)
    same = sum((Counter(text) & Counter(reference)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(text), same / len(reference)
    return 2 * precision * recall / (precision + recall)


def levenshtein(a: Sequence, b: Sequence) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def lcs(a: Sequence, b: Sequence) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], before + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def edit_similarity(a: Sequence, b: Sequence, kind: str) -> float:
    if not a and not b:
        return 1.0
    if kind == "indel":
        return 2 * lcs(a, b) / (len(a) + len(b))
    longest = max(len(a), len(b))
    return (longest - levenshtein(a, b)) / longest


def rouge_words(text: str | bytes) -> list[str]:
    return re.findall("[a-z0-9]+", lower(decoded(text)))


def rouge_l(text: Sequence, reference: Sequence) -> float:
    if not text or not reference:
        return 0.0
    same = lcs(text, reference)
    precision, recall = same / len(text), same / len(reference)
    return 2 * precision * recall / (precision + recall) if same else 0.0


def repetition(words: Sequence, n: int) -> float:
    grams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


# Numbers: grammar as regular expressions over bytes.
_U = rb"(?:[0-9]{1,3}(?:,[0-9]{3}(?![0-9]))+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
_UNSIGNED = re.compile(_U)
_SIGN = re.compile(rb"(?<![A-Za-z0-9_)\]}%])(?:[+-]|\xe2\x88\x92)")
_CURRENCY = re.compile(rb"\$|\xe2\x82\xac|\xc2\xa3")
_FRAC = re.compile(rb"\\[dt]?frac\{(" + _U + rb")\}\{(" + _U + rb")\}")
_MIXED = re.compile(rb"([0-9]+) ([0-9]+)/([0-9]+)")
_SIGNS = rb"[A-Za-z%]|\xc2[\xb0\xb5\xb2\xb3]|\xce[\xbc\xa9]"
_UNIT = re.compile(rb" ?((?:" + _SIGNS + rb")(?:" + _SIGNS + rb"|[0-9/^*])*)")


def decimal(digits: bytes) -> float:
    """The first 19 significant digits, times a power of ten."""
    mantissa, _, exponent = digits.lower().partition(b"e")
    whole, _, part = mantissa.replace(b",", b"").partition(b".")
    significant = (whole + part).lstrip(b"0")
    value = float(int(significant[:19] or b"0"))
    power = max(-200000, min(200000, int(exponent[:8] or b"0"))) - len(part) + max(0, len(significant) - 19)
    if value == 0:
        return 0.0
    if power > 308:
        return float("inf")
    if power >= 0:
        return value * float(10**power)
    if power >= -308:
        return value / float(10**-power)
    return value / 1e308 / float(10 ** min(308, -power - 308))


def _number_at(text: bytes, begin: int):
    """(value, currency, unit, end) of the number that begins here, or None."""
    at, negative, currency, value = begin, False, b"", None
    if found := _SIGN.match(text, at):
        negative, at = found[0] != b"+", found.end()
    if found := _CURRENCY.match(text, at):
        currency, at = found[0], found.end()
    if (found := _FRAC.match(text, at)) and decimal(found[2]) != 0:
        value, at = decimal(found[1]) / decimal(found[2]), found.end()
    elif at == begin and begin and re.match(rb"[A-Za-z0-9_]", text[begin - 1 : begin]):
        return None
    elif (found := _MIXED.match(text, at)) and decimal(found[2]) < decimal(found[3]):
        whole, above, below = map(decimal, found.groups())
        value, at = (whole * below + above) / below, found.end()
    elif found := _UNSIGNED.match(text, at):
        value, at = decimal(found[0]), found.end()
        below = _UNSIGNED.match(text, at + 1) if text[at : at + 1] == b"/" else None
        if below and decimal(below[0]) != 0:
            value, at = value / decimal(below[0]), below.end()
    if value is None:
        return None
    unit = _UNIT.match(text, at)
    return -value if negative else value, currency, unit[1] if unit else b"", unit.end() if unit else at


def last_number(text: bytes):
    at, last = 0, None
    while at < len(text):
        found = _number_at(text, at)
        if found is None:
            at += 1
        else:
            last, at = found[:3], found[3]
    return last


def number_match(text: bytes, reference: bytes, tolerance: float, units: bool) -> float:
    got, want = last_number(text), last_number(reference)
    if got is None or want is None:
        return 0.0
    most = max(abs(got[0]), abs(want[0]))
    if not most < float("inf") or not abs(got[0] - want[0]) <= tolerance * most:
        return 0.0
    if units and ((want[1] and want[1] != got[1]) or (want[2] and want[2] != got[2])):
        return 0.0
    return 1.0


def chosen(text: bytes, choices: int) -> int | None:
    """The four rules of docs/rewards.md, each a search of its own."""
    upper = "".join(chr(65 + i) for i in range(choices)).encode()
    alone = rb"(?<![A-Za-z0-9_'\x80-\xff])([" + upper + upper.lower() + rb"])(?![A-Za-z0-9_'\x80-\xff])"
    marks = rb"[\s\x1c-\x1f:=(\[{*\"`$\\#>_-]"
    word = rb"(?i:is|the|option|choice|answer|text)(?![A-Za-z0-9_])"
    cue = re.compile(rb"(?:(?<![A-Za-z0-9_])(?i:answer|choice|option)|\\(?i:boxed))(?![A-Za-z0-9_])")
    skip = re.compile(rb"(?:" + marks + rb"|" + word + rb")*+")
    letter = re.compile(alone)

    def index(found) -> int:
        return found[1].lower()[0] - 97

    result = None
    for found in cue.finditer(text):
        after = letter.match(text, skip.match(text, found.end()).end())
        if after and (after[1].isupper() or re.match(rb"\Z|[^ \x80-\xff]", text[after.end() :])):
            result = index(after)
    if result is not None:
        return result
    for found in letter.finditer(text):
        around = text[found.start() - 1 : found.start()] + text[found.end() : found.end() + 1]
        if found.start() and around in (b"()", b"[]", b"{}"):
            result = index(found)
    if result is not None:
        return result
    for found in letter.finditer(text):
        if found[1].isupper() and text[found.end() : found.end() + 1] in (
            b"",
            *(bytes([c]) for c in b"\n\r.):,*"),
        ):
            result = index(found)
    if result is not None:
        return result
    only = re.fullmatch(rb"[\s\x1c-\x1f]*([" + upper + upper.lower() + rb"])[\s\x1c-\x1f]*", text)
    return index(only) if only else None


def multiple_choice(text: bytes, reference: bytes, choices: int) -> float:
    want = chosen(reference, choices)
    return float(want is not None and chosen(text, choices) == want)
