"""What continuous integration reads: the action, the problem matcher, the hooks, the README's examples."""

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from ptxlint.report.finding import Severity
from ptxlint.report.formats import render
from tests.conftest import FIXTURES, ROOT
from tests.report.reports import report, weak_wait, write_sources

HAZARD = FIXTURES / "ptx201" / "two_stage_copy.sm_90a.ptx"
CLEAN = FIXTURES / "ptx201" / "two_stage_copy_fixed.sm_90a.ptx"
README = (ROOT / "README.md").read_text("utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def readme_yaml(heading: str) -> list[Any]:
    """Return the YAML examples under *heading*."""
    section = README.split(f"\n### {heading}\n")[1].split("\n#")[0]
    return [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", section, re.M | re.S)]


def validate(document: Any, name: str) -> None:
    """Check *document* against the published schema called *name*."""
    schemas = pytest.importorskip("check_jsonschema.builtin_schemas", reason="has the schemas")
    # YAML 1.1 reads the key `on` as true.
    keyed = {"on" if key is True else key: value for key, value in document.items()}
    jsonschema.validate(keyed, schemas.get_builtin_schema(name))


def test_the_action_fits_its_schema() -> None:
    validate(ACTION, "vendor.github-actions")
    text = (ROOT / "action.yml").read_text("utf-8")
    scripts = "\n".join(step.get("run", "") for step in ACTION["runs"]["steps"])
    assert "${{" not in scripts, "inputs reach scripts through the environment, never as their text"
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    assert {step["shell"] for step in ACTION["runs"]["steps"] if "run" in step} == {"bash"}


def step(name: str) -> dict[str, Any]:
    """Return the step of the action called *name*."""
    [found] = [step for step in ACTION["runs"]["steps"] if step["name"] == name]
    return dict(found)


@pytest.fixture
def runner(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run a script of the action in a workspace, as a runner does."""
    for folder in ("workspace/build", "workspace/more files", "temp", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(HAZARD, tmp_path / "workspace" / "build" / "hazard.ptx")
    shutil.copy(CLEAN, tmp_path / "workspace" / "more files" / "clean.ptx")
    program = tmp_path / "bin" / "ptxlint"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ptxlint "$@"\n', "utf-8")
    program.chmod(0o755)

    def run(script: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
            cwd=tmp_path / "workspace",
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "RUNNER_TEMP": str(tmp_path / "temp"),
                "GITHUB_OUTPUT": str(tmp_path / "output"),
                "GITHUB_PATH": str(tmp_path / "path"),
                "GITHUB_ACTION_PATH": str(ROOT),
                **environment,
            },
        )

    return run


@needs_bash
@pytest.mark.parametrize(("tools", "package"), [("false", str(ROOT)), ("true", f"{ROOT}[tools]")])
def test_the_action_installs_itself(
    runner: Callable[..., "subprocess.CompletedProcess[str]"], tmp_path: Path, tools: str, package: str
) -> None:
    python = tmp_path / "bin" / "python3"
    python.write_text(
        '#!/bin/sh\necho "$@" >> "$RUNNER_TEMP/calls"\n'
        'if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi\n',
        "utf-8",
    )
    python.chmod(0o755)
    done = runner(step("Install ptxlint")["run"], INPUT_CUDA_TOOLS=tools)
    assert done.returncode == 0, done.stderr
    venv = tmp_path / "temp" / "ptxlint-venv"
    calls = (tmp_path / "temp" / "calls").read_text("utf-8").splitlines()
    assert calls == [f"-m venv {venv}", f"-m pip install --quiet {package}"]
    assert (tmp_path / "path").read_text("utf-8") == f"{venv}/bin\n"


@needs_bash
def test_the_action_checks_and_reports(
    runner: Callable[..., "subprocess.CompletedProcess[str]"], tmp_path: Path
) -> None:
    check = functools.partial(runner, step("Check")["run"])
    files = "build/\nmore files/*.ptx\n\n"
    done = check(INPUT_FILES=files, INPUT_ARGS="--fail-on\nerror\n", INPUT_ANNOTATIONS="true")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("error[PTX201]: ")
    [line] = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert line.startswith("::error file=build/hazard.ptx,line=172,col=2,title=PTX201 ")
    output = dict(line.split("=", 1) for line in (tmp_path / "output").read_text("utf-8").splitlines())
    assert output == {"status": "1", "sarif-file": str(tmp_path / "temp" / "ptxlint.sarif")}
    log = json.loads(Path(output["sarif-file"]).read_text("utf-8"))
    analysed = [
        artifact["location"]["uri"]
        for artifact in log["runs"][0]["artifacts"]
        if "analysisTarget" in artifact.get("roles", [])
    ]
    assert analysed == ["build/hazard.ptx", "more%20files/clean.ptx"]
    assert runner(step("Result")["run"], STATUS=output["status"]).returncode == 1

    evil = "$(touch evil)`touch evil`;touch evil\nmissing.ptx"
    done = check(INPUT_FILES=evil, INPUT_ARGS="", INPUT_ANNOTATIONS="false")
    assert done.returncode == 0
    assert "missing.ptx: no such file" in done.stderr
    assert "::" not in done.stdout
    assert not list((tmp_path / "workspace").rglob("evil*"))
    assert "status=2" in (tmp_path / "output").read_text("utf-8")


def test_the_matcher_reads_concise_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = json.loads((ROOT / ".github" / "ptxlint-matcher.json").read_text("utf-8"))
    notes = weak_wait(severity=Severity.NOTE, code="PTX502")
    made = report(weak_wait(message="a [b] c: 1:2: d [error]"), weak_wait(severity=Severity.WARNING), notes)
    for in_source in (False, True):
        if in_source:
            write_sources(tmp_path)
        place = ("copy.cu", "9", "3") if in_source else ("copy.sm_90a.ptx", "8", "2")
        found = [
            matched(owner["pattern"][0], line, owner.get("severity", ""))
            for line in render(made, "concise").splitlines()
            for owner in file["problemMatcher"]
            if re.search(owner["pattern"][0]["regexp"], line)
        ]
        assert [(*finding[:4], finding[5]) for finding in found] == [
            (*place, "PTX201", "error"),
            (*place, "PTX201", "warning"),
            (*place, "PTX502", "notice"),
        ]
        assert found[0][4] == "a [b] c: 1:2: d [error]"
    assert len({owner["owner"] for owner in file["problemMatcher"]}) == 2


def matched(pattern: dict[str, Any], line: str, severity: str) -> tuple[str, ...]:
    """Return file, line, column, code, message and severity, as the runner takes them from *line*."""
    match = re.search(pattern["regexp"], line)
    assert match is not None
    names = ("file", "line", "column", "code", "message", "severity")
    return tuple(match[pattern[name]] if name in pattern else severity for name in names)


def test_readme_workflows_fit_their_schema() -> None:
    workflows = readme_yaml("GitHub")
    assert len(workflows) == 2
    for workflow in workflows:
        validate(workflow, "vendor.github-workflows")
    uses = [step for step in workflows[0]["jobs"]["ptxlint"]["steps"] if "ptxlint@" in step.get("uses", "")]
    assert set(uses[0]["with"]) <= set(ACTION["inputs"])


@needs_bash
def test_readme_workflow_without_the_action(
    runner: Callable[..., "subprocess.CompletedProcess[str]"],
) -> None:
    install, *checks = [step["run"] for step in readme_yaml("GitHub")[1]["jobs"]["ptxlint"]["steps"][1:]]
    assert install.startswith("pip install git+https://")
    github, concise = (runner(script) for script in checks)
    assert (github.returncode, concise.returncode) == (1, 1)
    assert github.stdout.startswith("::error file=build/hazard.ptx,")
    assert concise.stdout.startswith(
        "::add-matcher::.github/ptxlint-matcher.json\nbuild/hazard.ptx:172:2: PTX201"
    )


def test_own_workflow_fits_its_schema_and_uses_the_action() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    validate(workflow, "vendor.github-workflows")
    own = [step for step in workflow["jobs"]["action"]["steps"] if step.get("uses") == "./"]
    assert [sorted(step["with"]) for step in own] == [["fail", "files"], ["files"]]


def test_readme_gitlab_job(tmp_path: Path) -> None:
    [pipeline] = readme_yaml("GitLab")
    validate(pipeline, "vendor.gitlab-ci")
    install, check = pipeline["ptxlint"]["script"]
    assert install.startswith("pip install git+https://")
    (tmp_path / "build").mkdir()
    shutil.copy(HAZARD, tmp_path / "build")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(check)],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1
    for file in pipeline["ptxlint"]["artifacts"]["reports"].values():
        assert (tmp_path / file).stat().st_size > 100


def test_readme_hooks_are_those_of_the_repository() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    [config] = readme_yaml("pre-commit")
    assert [hook["id"] for hook in hooks] == [hook["id"] for hook in config["repos"][0]["hooks"]]
    for hook, names in zip(hooks, (("a/k.ptx",), ("a/k.cu",)), strict=True):
        assert [
            name for name in ("a/k.ptx", "a/k.cu", "k.cuh", "k.ptx.txt") if re.search(hook["files"], name)
        ] == [*names]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_pre_commit_runs_the_hooks(tmp_path: Path) -> None:
    pytest.importorskip("pre_commit")
    project = tmp_path / "project"
    for name in (
        "ptxlint",
        "grammar",
        "rules",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".pre-commit-hooks.yaml",
    ):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (project / name).parent.mkdir(exist_ok=True)
        copy(ROOT / name, project / name)
    revision = committed(project)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    shutil.copy(HAZARD, scratch / "hazard.ptx")
    shutil.copy(CLEAN, scratch / "clean.ptx")
    (scratch / "notes.txt").write_text("no PTX\n", "utf-8")
    [config] = readme_yaml("pre-commit")
    config["repos"][0].update(repo=str(project), rev=revision)
    config["repos"][0]["hooks"].append({"id": "ptxlint", "alias": "strict", "args": ["--fail-on", "note"]})
    (scratch / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), "utf-8")
    committed(scratch)

    def hooks(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "--color", "never", *arguments],
            cwd=scratch,
            capture_output=True,
            text=True,
            env={**git_environment(), "PRE_COMMIT_HOME": str(tmp_path / "home")},
        )

    done = hooks("ptxlint", "--all-files")
    offline = re.search(r".*(?:No matching distribution|connection|ConnectTimeout).*", done.stdout)
    if done.returncode == 3 and offline:
        pytest.skip(f"pip cannot install the hooks: {offline[0].strip()}")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "error[PTX201]: " in done.stdout
    assert "kernel two_stage_copy_fixed (sm_90a): analysed" in done.stdout
    assert hooks("strict", "--files", "clean.ptx").returncode == 0
    assert "no files to check" in hooks("ptxlint-cuda", "--all-files").stdout
    if shutil.which("nvcc"):
        shutil.copy(HAZARD.with_name("two_stage_copy.cu"), scratch / "copy.cu")
        done = hooks("ptxlint-cuda", "--files", "copy.cu")
        assert done.returncode == 1
        assert "--> copy.cu:88:" in done.stdout
        assert "compiled for" not in done.stdout  # the architecture is that of `args`


def committed(folder: Path) -> str:
    """Make *folder* a git repository with all its files and return the revision."""
    commands = ("init -q", "add -A", "-c user.name=t -c user.email=t@example.org commit -qm test --no-verify")
    for command in commands:
        subprocess.run(["git", *command.split()], cwd=folder, check=True, env=git_environment())
    shown = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env=git_environment(),
    )
    return shown.stdout.strip()


def git_environment() -> dict[str, str]:
    """Return the environment without what git hands to hooks, in which these tests may run."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
