"""What is packed: the wheel of the files that the container file copies, the recipe, the versions of tools."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copy, copytree, ignore_patterns
from zipfile import ZipFile

import pytest
import yaml
from project import ROOT

from antipodes.cli.main import SITE

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
METADATA = PROJECT["project"]
CONTAINER = (ROOT / "workshop" / "packaging" / "Containerfile").read_text(encoding="utf-8")
RECIPE = yaml.safe_load((ROOT / "workshop" / "packaging" / "recipe.yaml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
CONDA_NAMES = {"dask": "dask-core", "lazy-loader": "lazy_loader", "igraph": "python-igraph"}
"""Packages that conda-forge has under another name."""
LEFT_OUT = ignore_patterns("__pycache__")
SHARED = {
    "share/man/man1/antipodes.1",
    "share/bash-completion/completions/antipodes",
    "share/zsh/site-functions/_antipodes",
    "share/fish/vendor_completions.d/antipodes.fish",
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files of a wheel that is built of what the container file copies."""
    source = tmp_path_factory.mktemp("source")
    for line in re.findall(r"^COPY (.+) /source", CONTAINER, re.MULTILINE):
        for name in line.split():
            original = ROOT / name
            copytree(original, source / name, ignore=LEFT_OUT) if original.is_dir() else copy(original, source)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "--target", "wheel"], cwd=source, check=True)
    (wheel,) = (source / "dist").glob("*.whl")
    with ZipFile(wheel) as file:
        return set(file.namelist())


def files_in(folder: Path, name: str) -> set[str]:
    """The files below a folder as the wheel names them."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {f"{name}/{path.relative_to(folder).as_posix()}" for path in paths}


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("pipeline/antipodes", "antipodes"),
        ("tasks/antipodes_tasks", "antipodes_tasks"),
        ("configs", "antipodes/configs"),
    ],
)
def test_the_wheel_has_every_file(folder: str, name: str, packed: set[str]) -> None:
    assert files_in(ROOT / folder, name) <= packed


def test_the_wheel_has_the_man_page_and_completions(packed: set[str]) -> None:
    assert {name.partition(".data/data/")[2] for name in packed if ".data/" in name} == SHARED


def test_the_container_installs_what_the_project_names() -> None:
    (extras,) = re.findall(r"/source\[(.+)\]", CONTAINER)
    assert set(extras.split(",")) <= METADATA["optional-dependencies"].keys()
    (version,) = re.findall(r"^FROM .*/python:([\d.]+)-slim$", CONTAINER, re.MULTILINE)
    assert version in claimed_pythons()
    assert "ENTRYPOINT" not in CONTAINER  # it would take the arguments of the pods for its own


def claimed_pythons() -> list[str]:
    return re.findall(r"Python :: (\d\.\d+)", " ".join(METADATA["classifiers"]))


def test_the_recipe_has_the_dependencies_of_the_project() -> None:
    pairs = (one.partition(">=") for one in METADATA["dependencies"])
    wanted = [f"{CONDA_NAMES.get(name, name)}>={least}" for name, _, least in pairs]
    named = [one.replace(" ", "") for one in RECIPE["requirements"]["run"] if not one.startswith("python ")]
    assert sorted(named) == sorted(wanted)
    assert METADATA["requires-python"] == f">={RECIPE['context']['python_min']}"
    assert RECIPE["context"]["version"] == METADATA["version"]
    assert RECIPE["about"]["summary"] == METADATA["description"]
    (entry,) = (f"{name} = {function}" for name, function in METADATA["scripts"].items())
    assert RECIPE["build"]["python"]["entry_points"] == [entry]


def test_the_citation_is_of_this_version() -> None:
    assert (CITATION["version"], CITATION["license"]) == (METADATA["version"], METADATA["license"])
    assert [one["name"] for one in CITATION["authors"]] == [one["name"] for one in METADATA["authors"]]
    assert CITATION["url"] == METADATA["urls"]["Documentation"] == SITE


def test_commits_are_checked_by_the_tools_of_ci() -> None:
    pinned = dict(one.split("==") for one in METADATA["optional-dependencies"]["lint"])
    used = {repo["repo"].rpartition("/")[2]: repo["rev"] for repo in HOOKS["repos"]}
    assert used["ruff-pre-commit"] == f"v{pinned['ruff']}"
    assert used["mirrors-mypy"] == f"v{pinned['mypy']}"


def test_the_workflow_runs_what_is_here_on_the_pythons_that_are_claimed() -> None:
    linux, macos = (WORKFLOW["jobs"][name] for name in ("linux", "macos"))
    assert linux["strategy"]["matrix"]["python"] == claimed_pythons()
    assert linux["steps"][-1]["run"] == ".ci/run"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [step["run"].split()[1] for step in macos["steps"] if "run" in step]
    assert targets
    assert all(f"\n{target}: " in makefile for target in targets)
