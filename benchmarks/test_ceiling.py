"""The ceiling: what this machine's memory takes, and what a call from Python costs."""

import pytest

import agentenv_fast as ae
from agentenv_fast.cli import measure


@pytest.mark.parametrize("row_bytes", [256, 1024, 9216])
def test_rows_written_by_memcpy(benchmark, row_bytes):
    record = benchmark.pedantic(measure.ceiling, args=(1024, row_bytes), kwargs={"seconds": 0.1}, rounds=1)
    benchmark.extra_info.update(record)
    assert record["bytes_per_second"] > 0


def test_one_call_from_python(benchmark, suite):
    """observe() of one row with everything off: the price of crossing the border."""
    env = ae.make(suite, 1, seed=0, text=False, tokens=None, admissible=None, copy=False)
    env.reset()
    benchmark(env.observe)
    benchmark.extra_info["calls_per_second"] = 1 / benchmark.stats["median"]
