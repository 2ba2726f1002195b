"""What the shell proposes, asked as the scripts of typer ask."""

from __future__ import annotations

import pytest
import typer

from dalembert.cli.app import app


@pytest.fixture
def proposals(dalembert, monkeypatch):
    """`proposals("run", "pen")`: what is offered for the last word."""

    def ask(*words: str) -> list[str]:
        line = ["dalembert", *words]
        monkeypatch.setenv("_DALEMBERT_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(line))
        monkeypatch.setenv("COMP_CWORD", str(len(line) - 1))
        done = dalembert()
        assert done.err == ""
        return done.out.split()

    return ask


def test_models_are_library_systems_and_documents(proposals, tmp_path):
    (tmp_path / "penalty.toml").write_text("")
    (tmp_path / "pen.txt").write_text("")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "own.toml").write_text("")
    assert proposals("run", "pen") == ["penny", "pendulum", "penalty.toml"]
    assert proposals("run", "models/") == ["models/own.toml"]
    assert proposals("run", "nowhere/x") == []
    assert proposals("examples", "pen") == ["penny", "pendulum"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("equations", "penny", "--form", "ap"), ["appell"]),
        (("equations", "penny", "--form", "al"), ["all"]),
        (("compare", "penny", "--form", "al"), []),
        (("run", "penny", "--method", "do"), ["dop853", "dopri5"]),
        (("run", "penny", "--backend", "n"), ["native"]),
        (("run", "penny", "--set", "al"), ["alpha="]),
        (("run", "no_such_system", "--set", "al"), []),
    ],
)
def test_options_are_proposed(proposals, words, expected):
    assert proposals(*words) == expected


def test_the_script_asks_for_the_command_by_its_name(dalembert):
    done = dalembert("--show-completion", "bash")
    assert "_DALEMBERT_COMPLETE=complete_bash" in done.out


def test_every_command_and_option_says_what_it_is_for():
    commands = typer.main.get_command(app).commands
    assert len(commands) > 10
    silent = [(name, part.name) for name, verb in commands.items() for part in (verb, *verb.params) if not part.help]
    assert silent == []


@pytest.mark.parametrize("option", ["--install-completion", "--show-completion"])
def test_a_shell_without_completion_is_refused(dalembert, monkeypatch, tmp_path, option):
    monkeypatch.setenv("HOME", str(tmp_path))
    done = dalembert(option, "tcsh")
    assert (done.status, done.out) == (2, "")
    assert (
        done.err
        == f"dalembert: {option}: there is no completion for 'tcsh'; there is for bash, zsh, fish, powershell, pwsh\n"
    )
    assert not list(tmp_path.iterdir())


def test_the_shell_that_is_named_gets_its_completion(dalembert, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (
        "fish_source" in dalembert("--show-completion", "fish").out
        or "complete --command dalembert" in dalembert("--show-completion", "fish").out
    )
    done = dalembert("--install-completion", "fish")
    assert done.status == 0
    assert (tmp_path / ".config" / "fish" / "completions" / "dalembert.fish").is_file()
