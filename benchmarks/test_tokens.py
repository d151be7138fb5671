"""Tokens: what it costs to have token ids in each observation, against encoding the text at each step."""

import agentenv_fast as ae
from agentenv_fast.cli import measure


def test_tokens_per_second(benchmark, suite):
    record = benchmark.pedantic(
        measure.env_steps, args=(suite, 1024, "tokens"), kwargs={"seconds": 0.2}, rounds=1
    )
    benchmark.extra_info.update(record)
    assert record["tokens_per_second"] > 0


def test_encoding_the_text_in_python_for_comparison(benchmark, suite):
    """The habit that compiled tokens replace: split each observation at each step."""
    env = ae.make(suite, 64, seed=0)
    env.reset()
    words: dict[str, int] = {}

    def encode():
        return [[words.setdefault(word, len(words) + 2) for word in text.split()] for text in env.get_state()]

    ids = benchmark(encode)
    benchmark.extra_info["tokens_per_second"] = sum(map(len, ids)) / benchmark.stats["median"]
    assert len(ids) == 64
