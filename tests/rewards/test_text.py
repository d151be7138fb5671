"""Text scores: equal to the slow reference on ordinary and hostile texts, and to the libraries that they name."""

import random
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentenv_fast.errors import AgentEnvError, ArrayError, ConfigError
from agentenv_fast.rewards import text
from tests.reference import text_scores as slow

HOSTILE = [
    "",
    " ",
    "\0",
    "a\0b",
    "the a an",
    "A, the; AN!",
    "The  quick\tbrown\u00a0fox\u2028jumps",
    "İstanbul K Ⱥ ẞ ΑΣ",
    "a\u0300 e\u0301\u0301 the\u0301",
    "👩‍👩‍👧‍👦 🇩🇪 👍🏽",
    "brown–a–fox the—an",
    "\ud800 lone \udfff",
    b"\xff\xfe the \xc3(\xe2\x82 \xf0\x9f\x98 \xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80",
    b"\xc3.\xa9 \xc3\xa9",
    "x" * 10_000,
    ("the cat sat on the mat, " * 420)[:10_000],
    "é" * 5_000,
    "".join(chr(0x4E00 + i) for i in range(3_300)),
]
WORDS = (
    "the a an cat Cat. sat SAT, on mat 12 1,234.5 -3/4 answer is (B) B) C. option É naïve 😀 e\u0301 don't"
)
WORDS = WORDS.split()
NUMBERS = "0 1 12 7.50 1,234 1,2345 12,345,678.9 .5 1e3 1.5E-2 1e400 1e-400 3/4 1/0 2_3/4 1_5/4 \\frac{1}{2} $5 £7 -€3 "
NUMBERS += "5-3 −4 --5 x2 12_km/h 12% 9°C m^2 1.2.3 3. e5 1e , 1/3 0.333333333333 012 1/2/2024 \\dfrac{3}{0} _ and"
NUMBERS = [one.replace("_", " ") for one in NUMBERS.split(" ")] + ["9" * 40, "0." + "1" * 40]
CHOICES = "A B (C) [d] {E} A. (B) answer Answer: is the \\boxed{ } a dog option_ B. A) choice ** é I '"
CHOICES += " answers - $ \\text{ E _"
CHOICES = [*CHOICES.split(" "), "\n", " ", " ", "\u00a0", "\x1c", b"\x85", b"\xa0"]


def raw(one) -> bytes:
    return one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass")


def some_texts(seed: int, pieces, count: int = 400, longest: int = 12, glue=("", " ", " ")):
    draw = random.Random(seed)
    made = [
        [raw(draw.choice(pieces)) + raw(draw.choice(glue)) for _ in range(draw.randrange(longest))]
        for _ in range(count)
    ]
    return [_as_str(b"".join(one)) for one in made]


def _as_str(data: bytes):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def paired(seed: int, pieces=WORDS, **settings):
    """Random pairs, some of them alike, and every hostile text against another and against itself."""
    texts = some_texts(seed, pieces, **settings)
    references = [
        one if i % 5 == 0 else other for i, (one, other) in enumerate(zip(texts, texts[1:] + texts[:1]))
    ]
    return texts + HOSTILE + HOSTILE, references + HOSTILE[1:] + HOSTILE[:1] + HOSTILE


def arrays(texts):
    rows = [raw(one) for one in texts]
    out = np.full((len(rows), max(map(len, rows))), 0xAA, np.uint8)
    for row, data in zip(out, rows):
        row[: len(data)] = np.frombuffer(data, np.uint8)
    return out, np.array([len(data) for data in rows], np.int32)


def agree(got, want):
    assert got.dtype == np.float32
    wrong = np.flatnonzero(got != np.asarray(want, np.float32))
    assert not len(wrong), [(int(i), float(got[i]), float(want[i])) for i in wrong[:5]]


def small(texts, references, most=250):
    """Pairs that a quadratic reference in Python can do."""
    kept = [(a, b) for a, b in zip(texts, references) if len(a) <= most and len(b) <= most]
    return [a for a, _ in kept], [b for _, b in kept]


@pytest.mark.parametrize("seed", range(3))
def test_exact_match_equals_the_reference(seed):
    texts, references = paired(seed)
    agree(text.exact_match(texts, references), [raw(a) == raw(b) for a, b in zip(texts, references)])
    normal = [slow.normalise(a) == slow.normalise(b) for a, b in zip(texts, references)]
    agree(text.exact_match(texts, references, normalised=True), normal)
    assert 0.1 < np.mean(normal) < 0.9
    assert text.normalise(texts) == [slow.normalise(one) for one in texts]


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the tables are those of Unicode 14")
def test_the_normal_form_knows_every_character():
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    texts = ["".join(f"x{c}a{c}Y" for c in every[at : at + 64]) for at in range(0, len(every), 64)]
    assert text.normalise(texts) == [slow.normalise(one) for one in texts]


@pytest.mark.parametrize("seed", range(3))
def test_number_match_equals_the_reference(seed):
    texts, references = paired(seed, NUMBERS, count=3000, longest=5)
    references[: len(NUMBERS)], texts[: len(NUMBERS)] = NUMBERS, [f"it is {one}" for one in NUMBERS]
    for tolerance, units in ((0.0, False), (1e-9, True), (0.5, True)):
        want = [slow.number_match(raw(a), raw(b), tolerance, units) for a, b in zip(texts, references)]
        agree(text.number_match(texts, references, tolerance=tolerance, units=units), want)
        assert 0.05 < np.mean(want) < 0.8


@pytest.mark.parametrize(
    ("said", "meant", "right"),
    [
        ("so she pays $1,234.50 in all.", "1234.5", 1),
        ("5-3 = 2", "2", 1),
        ("x = -3", "-3", 1),
        ("between 5-3", "3", 1),
        ("one half is 1/2", "0.5", 1),
        ("it takes 1 1/2 hours", "1.5", 1),
        ("\\boxed{\\frac{3}{4}}", "0.75", 1),
        ("12 m^2", "12", 1),
        ("3 then 4", "3", 0),
        ("none", "0", 0),
        ("50%", "50", 1),
        ("答案是12，不是13", "13", 1),
        ("version 1.2.3", "3", 1),
        ("0.1", "1/10", 1),
    ],
)
def test_number_match_reads_answers_as_people_write_them(said, meant, right):
    assert text.number_match([said], [meant]) == right


def test_units_count_only_where_the_reference_has_them():
    said = ["5 km", "5 miles", "5 km", "$5", "€5"]
    meant = ["5 km", "5 km", "5", "$5", "$5"]
    assert text.number_match(said, meant, units=True).tolist() == [1, 0, 1, 1, 0]
    assert text.number_match(said, meant).tolist() == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("choices", [2, 5, 26])
def test_multiple_choice_equals_the_reference(seed, choices):
    texts, references = paired(seed, CHOICES, count=3000, longest=7)
    want = [slow.multiple_choice(raw(a), raw(b), choices) for a, b in zip(texts, references)]
    agree(text.multiple_choice(texts, references, choices=choices), want)
    assert 0.02 < np.mean(want) < 0.9


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("The answer is (C).", "C"),
        ("Answer: **D**", "D"),
        ("\\boxed{\\text{A}}", "A"),
        ("I think (A), no, (B)", "B"),
        ("A dog is here. The correct option is C because A dog barks.", "C"),
        ("the answer is b.", "B"),
        ("B) 42", "B"),
        ("A dog", None),
        ("the answer is a dog", None),
        ("don't", None),
        ("the answer is Z", None),
    ],
)
def test_multiple_choice_reads_letters_as_people_write_them(said, letter):
    hits = [c for c in "ABCDE" if text.multiple_choice([said], [c])[0]]
    assert hits == ([letter] if letter else [])


@pytest.mark.parametrize("seed", range(3))
def test_token_f1_equals_the_reference(seed):
    texts, references = paired(seed)
    want = [slow.token_f1(slow.normal_words(a), slow.normal_words(b)) for a, b in zip(texts, references)]
    agree(text.token_f1(texts, references), want)


@pytest.mark.parametrize("kind", ["levenshtein", "indel"])
@pytest.mark.parametrize("seed", range(2))
def test_edit_similarity_equals_the_reference(seed, kind):
    texts, references = small(*paired(seed, [*WORDS, "abcabcab" * 9, "x", "naïveté" * 3]))
    want = [slow.edit_similarity(slow.decoded(a), slow.decoded(b), kind) for a, b in zip(texts, references)]
    agree(text.edit_similarity(texts, references, kind=kind), want)


@pytest.mark.parametrize("kind", ["levenshtein", "indel"])
@pytest.mark.parametrize("alphabet", ["ab", "abcdefgh ", "aé😀\u0301"])
def test_edit_similarity_equals_rapidfuzz_at_every_length(kind, alphabet):
    distance = pytest.importorskip("rapidfuzz.distance")
    draw = random.Random(7)
    lengths = [*range(200), 255, 256, 257, 1000, 10_000]
    texts = ["".join(draw.choice(alphabet) for _ in range(n)) for n in lengths]
    references = ["".join(draw.choice(alphabet) for _ in range(draw.choice(lengths[:200]))) for _ in lengths]
    references[::4] = [one[: len(one) // 2] + alphabet[0] + one[len(one) // 2 + 1 :] for one in texts[::4]]
    oracle = {"levenshtein": distance.Levenshtein, "indel": distance.Indel}[kind].normalized_similarity
    got = text.edit_similarity(texts, references, kind=kind)
    # rapidfuzz computes 1 - d / n where we compute (n - d) / n: half an ulp of a double before both round to float32.
    np.testing.assert_allclose(got, [oracle(a, b) for a, b in zip(texts, references)], rtol=0, atol=6e-8)


@pytest.mark.parametrize("seed", range(2))
def test_rouge_l_equals_the_reference(seed):
    texts, references = small(*paired(seed), most=1500)
    want = [slow.rouge_l(slow.rouge_words(a), slow.rouge_words(b)) for a, b in zip(texts, references)]
    agree(text.rouge_l(texts, references), want)


def test_rouge_l_equals_rouge_score():
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    texts, references = paired(3, count=150, longest=60)
    texts, references = small(
        [one for one in texts if isinstance(one, str)],
        [one for one in references if isinstance(one, str)],
        most=900,
    )
    agree(
        text.rouge_l(texts, references),
        [scorer.score(reference, one)["rougeL"].fmeasure for one, reference in zip(texts, references)],
    )


def test_long_texts_span_many_words_of_bits():
    draw = random.Random(1)
    words = [[draw.choice("abcdefgh") for _ in range(draw.randrange(60, 400))] for _ in range(12)]
    texts = [" ".join(one) for one in words]
    want = [slow.rouge_l(a, b) for a, b in zip(words, words[1:] + words[:1])]
    agree(text.rouge_l(texts, texts[1:] + texts[:1]), want)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64])
def test_repetition_equals_the_reference(n):
    texts, _ = paired(n, longest=40)
    want = [slow.repetition(slow.lower(slow.decoded(one)).split(), n) for one in texts]
    agree(text.repetition(texts, n=n), want)


def test_lengths_equal_the_reference():
    texts, _ = paired(0)
    assert text.lengths(texts).tolist() == [len(slow.decoded(one).split()) for one in texts]
    assert text.lengths(texts, unit="characters").tolist() == [len(slow.decoded(one)) for one in texts]
    assert text.lengths(texts, unit="bytes").tolist() == [len(raw(one)) for one in texts]


def test_the_length_penalty_falls_linearly_over_the_buffer():
    texts = [" ".join("x" * n) for n in (0, 6, 7, 8, 10, 11, 50)]
    got = text.length_penalty(texts, limit=10, buffer=4)
    np.testing.assert_allclose(got, [0, 0, -0.25, -0.5, -1, -1, -1])
    np.testing.assert_allclose(text.length_penalty(texts, limit=10, buffer=0), [0, 0, 0, 0, 0, -1, -1])


SCORES = {
    "exact": text.exact_match,
    "normalised": lambda a, b, **k: text.exact_match(a, b, normalised=True, **k),
    "number": text.number_match,
    "choice": text.multiple_choice,
    "f1": text.token_f1,
    "levenshtein": text.edit_similarity,
    "indel": lambda a, b, **k: text.edit_similarity(a, b, kind="indel", **k),
    "rouge_l": text.rouge_l,
    "repetition": lambda a, _, **k: text.repetition(a, **k),
}


@pytest.mark.parametrize("name", SCORES)
def test_any_number_of_threads_and_any_form_of_texts_give_the_same_bytes(name):
    texts, references = paired(11, count=900)
    want = SCORES[name](texts, references, threads=1)
    for threads in (2, 3, 7):
        np.testing.assert_array_equal(SCORES[name](texts, references, threads=threads), want)
    np.testing.assert_array_equal(SCORES[name](arrays(texts), arrays(references)), want)
    np.testing.assert_array_equal(SCORES[name]([raw(one) for one in texts], references), want)


@pytest.mark.parametrize("seed", range(2))
def test_token_ids_are_symbols(seed):
    draw = np.random.default_rng(seed)
    sizes = draw.integers(0, 150, (2, 60)).astype(np.int32)
    tokens = draw.integers(-3, 9, (2, 60, 150)).astype(np.int32)
    tokens[:, ::7] += np.int32(2**31 - 9)
    tokens[1, ::5], sizes[1, ::5] = tokens[0, ::5], sizes[0, ::5]
    a, b = ([row[:n].tolist() for row, n in zip(tokens[k], sizes[k])] for k in (0, 1))
    one, other = (tokens[0], sizes[0]), (tokens[1], sizes[1])
    agree(text.exact_match(one, other), [x == y for x, y in zip(a, b)])
    agree(text.token_f1(one, other), [slow.token_f1(x, y) for x, y in zip(a, b)])
    agree(text.rouge_l(one, other), [slow.rouge_l(x, y) for x, y in zip(a, b)])
    agree(text.repetition(one, n=2), [slow.repetition(x, 2) for x in a])
    for kind in ("levenshtein", "indel"):
        agree(
            text.edit_similarity(one, other, kind=kind),
            [slow.edit_similarity(x, y, kind) for x, y in zip(a, b)],
        )
    assert text.lengths(one).tolist() == sizes[0].tolist()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=90), st.binary(max_size=90)), min_size=1, max_size=6))
def test_any_bytes_score_as_the_reference_says(pairs):
    texts, references = [a for a, _ in pairs], [b for _, b in pairs]
    for kind in ("levenshtein", "indel"):
        want = [slow.edit_similarity(slow.decoded(a), slow.decoded(b), kind) for a, b in pairs]
        agree(text.edit_similarity(texts, references, kind=kind), want)
    agree(text.token_f1(texts, references), [slow.token_f1(*map(slow.normal_words, pair)) for pair in pairs])
    agree(text.number_match(texts, references), [slow.number_match(a, b, 1e-9, False) for a, b in pairs])
    agree(text.multiple_choice(texts, references), [slow.multiple_choice(a, b, 5) for a, b in pairs])
    assert text.normalise(texts) == [slow.normalise(one) for one in texts]


_ALPHABET = st.text("AaBe1 ,./-\\{}()$%é😀\u0301\0answer is", max_size=40)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(_ALPHABET, _ALPHABET), min_size=1, max_size=8))
def test_answer_like_texts_score_as_the_reference_says(pairs):
    texts, references = [a for a, _ in pairs], [b for _, b in pairs]
    data = [(raw(a), raw(b)) for a, b in pairs]
    agree(
        text.number_match(texts, references, units=True),
        [slow.number_match(a, b, 1e-9, True) for a, b in data],
    )
    agree(text.multiple_choice(texts, references), [slow.multiple_choice(a, b, 5) for a, b in data])
    agree(text.rouge_l(texts, references), [slow.rouge_l(*map(slow.rouge_words, pair)) for pair in pairs])


def test_hostile_repetition_of_cues_takes_linear_time():
    said = "answer " * 100_000 + "(B)"
    assert text.multiple_choice([said, "\\frac{" * 100_000, "1 " * 300_000], ["B", "A", "C"]).tolist() == [
        1,
        0,
        0,
    ]
    assert text.number_match(["1/" * 300_000, "9" * 600_000], ["1", "1"]).tolist() == [1, 0]


def test_one_reference_serves_all_texts_and_the_best_of_several_counts():
    assert text.exact_match(["a", "b"], "b").tolist() == [0, 1]
    assert text.exact_match(["a", "b", "c"], [["x", "a"], ["y"], ["c", "c", "z"]]).tolist() == [1, 0, 1]
    assert text.rouge_l(["a b"], [["a c", "a b"]]).tolist() == [1]


def test_a_composition_shows_its_terms():
    score = text.Composition(
        right=(2.0, text.number_match), loops=(-0.5, lambda texts, _: text.repetition(texts, n=1))
    )
    scored = score(["it is 4", "4 4 4 5"], ["4", "5"])
    assert scored.names == ("right", "loops")
    np.testing.assert_allclose(scored.terms, [[2, 0], [2, -0.25]])
    np.testing.assert_allclose(scored.total, [2, 1.75])


def test_nothing_scores_nothing():
    for score in SCORES.values():
        assert score([], []).shape == (0,)


NO_IDS = (np.zeros((0, 3), np.int32), np.zeros(0, np.int32))
TOO_MANY = (np.zeros((1, 300_000), np.uint8), np.array([300_000], np.int32))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: text.exact_match("a", ["a"]), ArrayError, r"texts: str, want list\[str\]"),
        (
            lambda: text.exact_match(["a"], ["a", "b"]),
            ArrayError,
            "references: 2, want one for each of the 1 texts",
        ),
        (lambda: text.exact_match(["a", 3], ["a", "b"]), ArrayError, r"texts\[1\]: int, want str or bytes"),
        (
            lambda: text.exact_match(["a", "b"], ["a", None]),
            ArrayError,
            r"references\[1\]: NoneType, want str",
        ),
        (
            lambda: text.token_f1((np.zeros((2, 3)), np.zeros(2, np.int32)), ["a", "b"]),
            ArrayError,
            "texts: dtype float64, want uint8",
        ),
        (
            lambda: text.token_f1((np.zeros(3, np.uint8), np.zeros(2, np.int32)), ["a", "b"]),
            ArrayError,
            r"texts: shape \(3,\), want \(N, B\)",
        ),
        (
            lambda: text.token_f1((np.zeros((2, 3), np.uint8), np.zeros(2, np.int64)), ["a", "b"]),
            ArrayError,
            "texts: sizes: dtype int64, want int32",
        ),
        (
            lambda: text.token_f1((np.zeros((2, 3), np.uint8), np.array([1, 4], np.int32)), ["a", "b"]),
            ArrayError,
            r"texts: row 1: size 4 outside \[0, 3\]",
        ),
        (
            lambda: text.token_f1((np.zeros((2, 6), np.uint8)[:, ::2], np.zeros(2, np.int32)), ["a", "b"]),
            ArrayError,
            "strides along a row of 2 bytes, want 1",
        ),
        (
            lambda: text.token_f1((np.zeros((1, 3), np.int32), np.zeros(1, np.int32)), ["a"]),
            ArrayError,
            "references: bytes, want token ids",
        ),
        (
            lambda: text.number_match(
                (np.zeros((0, 3), np.int32), np.zeros(0, np.int32)),
                (np.zeros((0, 3), np.int32), np.zeros(0, np.int32)),
            ),
            ArrayError,
            "texts: token ids, want text",
        ),
        (
            lambda: text.edit_similarity(TOO_MANY, TOO_MANY),
            ArrayError,
            r"texts: row 0: 300000 bytes .* 2\^36 cells",
        ),
        (
            lambda: text.edit_similarity(["a"], ["a"], kind="hamming"),
            ConfigError,
            "kind: 'hamming', want one of",
        ),
        (lambda: text.lengths(["a"], unit="lines"), ConfigError, "unit: 'lines', want one of"),
        (lambda: text.repetition(["a"], n=65), ConfigError, r"n: 65, want an int in \[1, 64\]"),
        (
            lambda: text.multiple_choice(["a"], ["a"], choices=1),
            ConfigError,
            r"choices: 1, want an int in \[2, 26\]",
        ),
        (lambda: text.number_match(["1"], ["1"], tolerance=-1), ConfigError, "tolerance: -1, want a number"),
        (
            lambda: text.length_penalty(["a"], limit=3, buffer=4),
            ConfigError,
            r"buffer: 4, want an int in \[0, 3\]",
        ),
        (lambda: text.rouge_l(["a"], ["a"], threads=-1), ConfigError, "threads: -1, want"),
        (
            lambda: text.exact_match(["a", "b"], [["a"], "b"]),
            ArrayError,
            r"references\[1\]: 'b', want a list",
        ),
        (
            lambda: text.exact_match(["a"], [["a"], ["b"]]),
            ArrayError,
            "references: 2, want one for each of the 1",
        ),
        (
            lambda: text.exact_match(TOO_MANY, [["a"]]),
            ArrayError,
            "references: several for each text, want texts as",
        ),
        (lambda: text.Composition(), ConfigError, "Composition: no terms"),
        (lambda: text.Composition(x=(float("nan"), text.rouge_l)), ConfigError, "Composition.x: .* want"),
        (
            lambda: text.Composition(x=(1, lambda a, b: np.zeros(3)))(["a"], ["a"]),
            ArrayError,
            r"shape \(3,\), want \(1,\)",
        ),
        (
            lambda: text.Composition(x=(1, lambda a, b: [float("nan")]))(["a"], ["a"]),
            ArrayError,
            "row 0: nan, want",
        ),
        (
            lambda: text.Composition(x=(1, lambda a, b: ["1"]))(["a"], ["a"]),
            ArrayError,
            "dtype <U1, want numbers",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused_with_a_message(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert isinstance(caught.value, AgentEnvError)
