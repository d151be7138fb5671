"""Settings: where they come from, and what is said about those that cannot be honoured."""

import pytest

pytest.importorskip("pydantic")

from agentenv_fast.errors import ConfigError
from agentenv_fast.train import load_config, presets


def test_defaults_presets_files_and_overrides_are_layered(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("train: {total_steps: 100000, num_envs: 64}\n")
    config = load_config(
        file, ["train.num_envs=128", "ppo.learning_rate=3e-4", "suite.params={rooms: 5}"], suite="x-v0"
    )
    assert (
        config.train.total_steps == 100_000
        and config.train.num_envs == 128
        and config.train.rollout_steps == 32
    )
    assert (
        config.ppo.learning_rate == 3e-4 and config.suite.params == {"rooms": 5} and config.suite.id == "x-v0"
    )


def test_every_preset_can_be_loaded():
    assert {"demo", "coin_collector"} <= set(presets())
    for name in presets():
        assert load_config(name) == load_config(load_config(name).model_dump())


def test_a_config_survives_its_yaml(tmp_path):
    config = load_config("demo", ["ppo.target_kl=null", "policy.last_command=false"])
    (tmp_path / "config.yaml").write_text(config.to_yaml())
    assert load_config(tmp_path / "config.yaml") == config


@pytest.mark.parametrize(
    ("source", "overrides", "message"),
    [
        (
            {"ppo": {"clipp": 1}},
            [],
            r"settings: ppo\.clipp: no such setting; ppo takes learning_rate, schedule,",
        ),
        ({"pppo": {}}, [], r"settings: pppo: no such setting; sections are suite, env, train,"),
        (None, ["ppo.epochs=0"], r"settings: ppo\.epochs: got 0: input should be greater than 0"),
        (None, ["ppo.epochs=many"], r"settings: ppo\.epochs: got 'many': .*integer"),
        (None, ["train.total_steps"], r"--set train\.total_steps: want section\.setting=value"),
        (None, ["total_steps=1"], r"--set total_steps=1: want section\.setting=value"),
        (None, ["ppo.clip=[1"], r"--set ppo\.clip=\[1: the value is not YAML"),
        (None, ["ppo.minibatches=3"], r"ppo\.minibatches: 3 does not divide train\.num_envs = 256"),
        (
            None,
            ["train.total_steps=100"],
            r"train\.total_steps: 100 is less than one update: num_envs x rollout_steps = 8192",
        ),
        (
            "nowhere.yaml",
            [],
            r"nowhere\.yaml: No such file or directory; want a YAML file or a preset: .*demo",
        ),
        ({"train": 3}, ["train.seed=1"], r"--set train\.seed=1: train: got 3, want a section of settings"),
    ],
)
def test_a_wrong_setting_is_named_with_the_way_out(source, overrides, message):
    with pytest.raises(ConfigError, match=message):
        load_config(source, overrides)


@pytest.mark.parametrize(("text", "message"), [("a: [", "not YAML"), ("- 1\n", "a list, want sections")])
def test_a_file_that_is_not_settings_is_named(tmp_path, text, message):
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=rf"bad\.yaml: .*{message}"):
        load_config(file)
