"""The pages: links lead somewhere, code runs, every error text is explained, no path of somebody's machine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
RUN = [
    "README.md",
    "docs/getting_started.md",
    "docs/migrate.md",
]  # the blocks that import us run, in one process


def blocks(page: Path, language: str = "python") -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_names_a_path_of_somebodys_machine(page):
    assert not re.findall(r"/(?:home|root|work|tmp|Users)/\S*", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RUN)
def test_the_code_on_the_page_runs(name):
    code, ours = "", False
    for block in blocks(ROOT / name):
        ours = ours or "agentenv_fast" in block  # the first block that imports us, and what follows on
        code += block if "agentenv_fast" in block or (ours and name != "docs/migrate.md") else ""
    assert "ae.make" in code
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_the_pages_is_python(page):
    for block in blocks(page):
        compile(block, page.name, "exec")


def test_the_example_in_the_readme_has_fifteen_lines():
    assert len(blocks(ROOT / "README.md")[0].strip().splitlines()) <= 16


def test_every_error_text_in_the_code_is_on_the_troubleshooting_page_and_none_is_stale():
    done = subprocess.run(
        [sys.executable, "tools/error_texts.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_every_verb_is_in_the_readme():
    verbs = {path.stem for path in (ROOT / "agentenv_fast/cli").glob("*.py")} & set(
        re.findall(r'app\.command\("(\w+)"\)', (ROOT / "agentenv_fast/cli/app.py").read_text())
    )
    assert len(verbs) == 9
    text = (ROOT / "README.md").read_text()
    assert all(f"agentenv-fast {verb}" in text or f"`{verb}`" in text for verb in verbs)


def test_every_target_that_make_help_lists_exists():
    text = (ROOT / "Makefile").read_text()
    listed = re.findall(r'echo "make ([\w-]+) ', text)
    assert len(listed) >= 10
    assert all(re.search(rf"^{target}:", text, re.MULTILINE) for target in listed)
