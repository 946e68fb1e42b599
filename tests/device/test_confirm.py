"""``confirm`` with a process in the place of the one that launches: what is run, counted, and told."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ptxlint.cli import cli
from ptxlint.device import child, confirm
from ptxlint.device.results import Confirmation, ConfirmError
from ptxlint.device.spec import SpecError, read_spec
from ptxlint.settings import Settings
from tests.conftest import FIXTURES

FAKE = Path(__file__).with_name("fake_worker.py")
COPY = FIXTURES / "ptx201" / "two_stage_copy.toml"
CLEAN = FIXTURES / "ptx301" / "test_wait_spin_lookalike.toml"
NAMES = ["as it is, natural", "as it is, witness", "repaired, natural", "repaired, witness"]


class Fake:
    """A worker that does as planned; ``jobs`` are those it was given."""

    def __init__(self, folder: Path) -> None:
        self.plan, self.log = folder / "plan.json", folder / "jobs.jsonl"
        self.command = (sys.executable, str(FAKE), str(self.plan))
        self.does()

    def does(self, **plan: Any) -> None:
        self.plan.write_text(json.dumps({"jobs": str(self.log), **plan}), "utf-8")

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]

    def confirm(self, path: Path, runs: int | None = None) -> Confirmation:
        return confirm.confirm(read_spec(path), Settings(), runs)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake(tmp_path)
    monkeypatch.setattr(child, "WORKER", made.command)
    return made


def edited(folder: Path, of: Path, *edits: tuple[str, str]) -> Path:
    """Return a copy of a specification with *edits*, beside links to the kernels."""
    for kernel in of.parent.glob(f"{of.stem}*.ptx"):
        (folder / kernel.name).write_text(kernel.read_text("utf-8"), "utf-8")
    text = of.read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / of.name
    path.write_text(text, "utf-8")
    return path


def counts(found: Confirmation) -> list[tuple[int, int, int, int]]:
    return [(t.wrong_runs, t.runs, t.wrong_words, t.words) for t in found.tallies.values()]


def test_a_hazard_and_its_repair(fake: Fake) -> None:
    fake.does(wrong={NAMES[1]: 3})
    found = fake.confirm(COPY, 4)
    assert list(found.tallies) == NAMES
    assert counts(found) == [(0, 4, 0, 256), (4, 4, 12, 256), (0, 4, 0, 256), (0, 4, 0, 256)]
    assert found.is_reproduced
    assert not found.repaired_is_wrong
    assert found.finding is not None
    assert found.finding.code == "PTX201"
    assert found.about["card"] == "a card"
    [job] = fake.jobs
    assert (job["runs"], job["spec"]) == (4, str(COPY.absolute()))
    # Four texts that are not one another: the witness has a queue, the repaired one waits for all groups.
    texts = job["texts"]
    assert len(set(texts.values())) == 4
    assert ["__ptxlint_queue" in texts[name] for name in NAMES] == [False, True, False, True]
    assert "wait_group 1" in texts[NAMES[0]]
    assert "wait_group 1" not in texts[NAMES[2]]
    assert "%ptxlint_group, 1;" in texts[NAMES[1]]


@pytest.mark.parametrize(
    "name", ["ptx606/row_written_late", "ptx604/local_consumers_only", "ptx302/pair_without_barrier"]
)
def test_the_repaired_text_is_late_at_the_same_access(fake: Fake, name: str) -> None:
    """Whether the repair is a text of its own, and moved the access, or not."""
    found = fake.confirm(FIXTURES / f"{name}.toml", 1)
    assert list(found.tallies) == NAMES
    late = []
    for witness in (NAMES[1], NAMES[3]):
        lines = fake.jobs[-1]["texts"][witness].splitlines()
        [at] = [n for n, line in enumerate(lines) if "nanosleep" in line]
        late.append(re.sub(r"%\w+|//.*", "", lines[at + 2]).split())
    assert late[0] == late[1]


def test_the_specification_says_how_often(fake: Fake) -> None:
    assert counts(fake.confirm(COPY))[0][1] == 10


def test_seeds_differ(fake: Fake) -> None:
    fake.confirm(COPY, 1)
    fake.confirm(COPY, 1)
    assert fake.jobs[0]["seed"] != fake.jobs[1]["seed"]


def test_a_clean_kernel_is_run_under_each_schedule(fake: Fake) -> None:
    found = fake.confirm(CLEAN, 2)
    assert found.finding is None
    [job] = fake.jobs
    assert len(job["texts"]) == len(set(job["texts"].values())) == len(found.tallies) > 2
    assert (found.is_reproduced, found.clean_is_wrong, found.repaired_is_wrong) == (False, False, False)
    name = list(found.tallies)[-1]
    assert "is held back in its thread" in name
    fake.does(wrong={name: 1})
    found = fake.confirm(CLEAN, 2)
    assert found.clean_is_wrong
    assert not found.repaired_is_wrong


def test_what_counts_as_right(fake: Fake, tmp_path: Path) -> None:
    # A clean kernel without expressions is its own reference; a reference that is given comes first.
    own = edited(
        tmp_path, CLEAN, (CLEAN.read_text("utf-8")[CLEAN.read_text("utf-8").index("\n[expect]") :], "")
    )
    fake.confirm(own, 1)
    assert fake.jobs[-1]["right"] == fake.jobs[-1]["texts"]["as it is, natural"]
    fake.confirm(FIXTURES / "ptx202" / "scale_no_wait.toml", 1)
    assert fake.jobs[-1]["right"] == fake.jobs[-1]["texts"]["repaired, natural"]
    twin = FIXTURES / "ptx201" / "padding_not_committed.toml"
    fake.confirm(twin, 1)
    assert fake.jobs[-1]["right"] == read_spec(twin).reference.read_text("utf-8")  # type: ignore[union-attr]


@pytest.mark.parametrize("plan", ["hang", "fault"])
def test_a_text_that_does_not_end_is_left_out(fake: Fake, tmp_path: Path, plan: str) -> None:
    spec = edited(tmp_path, COPY, ("block =", "time-limit = 2\nblock ="))
    fake.does(**{plan: NAMES[1]}, wrong={NAMES[0]: 1})
    found = fake.confirm(spec, 3)
    # The text before it had one run by then; the others go on in a second process.
    assert [(t.wrong_runs, t.runs) for t in found.tallies.values()] == [(4, 4), (0, 0), (0, 3), (0, 3)]
    lost = found.tallies[NAMES[1]]
    assert (lost.hang, lost.fault is not None) == (plan == "hang", plan == "fault")
    assert found.is_reproduced
    assert not found.repaired_is_wrong
    assert [job["runs"] for job in fake.jobs] == [3, 3]
    assert [v["name"] for v in fake.jobs[1]["variants"]] == [NAMES[0], NAMES[2], NAMES[3]]


def test_a_hang_of_the_repaired_kernel_is_wrong(fake: Fake, tmp_path: Path) -> None:
    fake.does(fault=NAMES[3])
    assert fake.confirm(COPY, 1).repaired_is_wrong


def test_loading_that_takes_too_long(fake: Fake, tmp_path: Path) -> None:
    spec = edited(tmp_path, COPY, ("block =", "time-limit = 1\nblock ="))
    fake.does(silent=30)
    with pytest.raises(ConfirmError, match="could not be loaded within 1 seconds"):
        fake.confirm(spec, 1)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"error": "ModuleNotFoundError: No module named 'cupy'"}, r'pip install "ptxlint\[device\]"'),
        ({"error": "CUDARuntimeError: cudaErrorNoDevice: no CUDA-capable device"}, "there is no GPU to run on"),
        ({"error": "CUDARuntimeError: cudaErrorInsufficientDriver: too old"}, "there is no GPU to run on"),
        ({"error": "MemoryError: the buffers need 9 bytes, and 8 are free"}, "the buffers need 9 bytes"),
        ({"error": "RuntimeError: tensor maps need the package cuda-bindings"}, "cuda-bindings"),
        ({"status": 3}, "the last line of standard error"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_told(fake: Fake, plan: dict[str, Any], message: str) -> None:
    fake.does(**plan)
    with pytest.raises(ConfirmError, match=message):
        fake.confirm(COPY, 1)
    result = CliRunner().invoke(cli, ["confirm", str(COPY), "--runs", "1"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("ptxlint: error: ")


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([('kernel = "two_stage_copy"', 'kernel = "other"')], "there is no kernel 'other'; there are two_stage_copy"),
        ([('"two_stage_copy.sm_90a.ptx"', '"none.ptx"')], "none.ptx: cannot be read: No such file"),
        ([("block =", 'finding = "PTX101"\nblock =')], "PTX101 is not reported of two_stage_copy"),
        ([("block =", 'fixed = "none.ptx"\nblock =')], "none.ptx: cannot be read"),
        ([("block =", 'fixed = "two_stage_copy_fixed.sm_90a.ptx"\nblock =')], "there is no kernel 'two_stage_copy'"),
    ],
)  # fmt: skip
def test_kernels_that_are_not_there(
    fake: Fake, tmp_path: Path, edits: list[tuple[str, str]], message: str
) -> None:
    with pytest.raises((SpecError, ConfirmError), match=message):
        fake.confirm(edited(tmp_path, COPY, *edits), 1)


def test_ptx_with_an_error_is_named(fake: Fake, tmp_path: Path) -> None:
    spec = edited(tmp_path, COPY)
    kernel = tmp_path / "two_stage_copy.sm_90a.ptx"
    kernel.write_text(kernel.read_text("utf-8") + "\n}\n", "utf-8")
    with pytest.raises(SpecError, match=r"two_stage_copy\.sm_90a\.ptx:\d+:\d+: "):
        fake.confirm(spec, 1)


def test_where_nothing_says_what_is_right(fake: Fake, tmp_path: Path) -> None:
    of = FIXTURES / "ptx208" / "values_over_keys.toml"
    lines = [
        line for line in of.read_text("utf-8").splitlines() if not line.startswith(("fixed", "reference"))
    ]
    spec = edited(tmp_path, of)
    spec.write_text("\n".join(lines), "utf-8")
    with pytest.raises(
        ConfirmError, match=r"no \[expect\] and no reference, and there is no repaired kernel"
    ):
        fake.confirm(spec, 1)


def test_the_real_worker_without_cupy() -> None:
    pytest.importorskip("numpy")
    try:
        import cupy  # noqa: F401
    except ImportError:
        with pytest.raises(ConfirmError, match="CuPy is not installed"):
            confirm.confirm(read_spec(COPY), Settings(), 1)
    assert child.WORKER[1:] == ("-m", "ptxlint.device.worker")


# -- the commands -----------------------------------------------------------------------------------


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def test_text(fake: Fake) -> None:
    fake.does(wrong={NAMES[1]: 3}, fault=NAMES[2])
    status, out, _ = run("confirm", str(COPY), "--runs", "2")
    lines = out.splitlines()
    assert lines[0].startswith("PTX201: ")
    assert lines[1].startswith("witness: ")
    assert lines[2] == "repair: wait until at most 0 groups are pending"
    assert lines[3] == "on a card, driver 13000, CuPy 13.6.0"
    assert lines[5] == "  as it is, witness  3 of 3 runs wrong, 9 of 192 words"
    assert lines[6].endswith("0 of 0 runs wrong, 0 of 0 words; an illegal memory access was encountered")
    assert lines[-1] == "the repaired kernel gave wrong results"
    assert status == 1


def test_not_reproduced(fake: Fake) -> None:
    status, out, _ = run("confirm", str(COPY), "--runs", "1")
    assert status == 0
    assert "not reproduced: no run of the kernel as it is gave a wrong result" in out


def test_clean_text(fake: Fake) -> None:
    status, out, _ = run("confirm", str(CLEAN), "--runs", "1")
    assert status == 0
    assert out.endswith("nothing is reported of the kernel, and it was right under each\n")
    assert "repair" not in out
    fake.does(wrong={"as it is, natural": 1})
    status, out, _ = run("confirm", str(CLEAN), "--runs", "1")
    assert status == 1
    assert out.endswith("nothing is reported of the kernel, and it gave wrong results\n")


def test_json(fake: Fake) -> None:
    fake.does(wrong={NAMES[1]: 3, NAMES[3]: 1})
    status, out, _ = run("confirm", str(COPY), "--runs", "2", "--output-format", "json")
    told = json.loads(out)
    assert status == 1
    assert told["finding"]["code"] == "PTX201"
    assert told["device"] == {"card": "a card", "driver": 13000, "cupy": "13.6.0"}
    assert [v["name"] for v in told["variants"]] == NAMES
    assert told["variants"][1] == {
        "name": "as it is, witness",
        "runs": 2,
        "wrong_runs": 2,
        "wrong_words": 6,
        "words": 128,
        "hang": False,
        "fault": None,
    }
    assert (told["reproduced"], told["repaired_is_wrong"], told["clean_is_wrong"]) == (True, True, False)


def test_bad_specification(tmp_path: Path) -> None:
    path = tmp_path / "kernel.toml"
    path.write_text("kernel = 1\n", "utf-8")
    status, out, err = run("confirm", str(path))
    assert (status, out) == (2, "")
    assert str(path) in err
    assert run("confirm", str(tmp_path / "none.toml"))[0] == 2


PTX = str(FIXTURES / "ptx202" / "scale_no_wait.sm_90a.ptx")


def test_witness(tmp_path: Path) -> None:
    status, out, err = run("witness", PTX, "--finding", "PTX202")
    assert status == 0
    assert "__ptxlint_queue" in out
    assert err.startswith("PTX202 of scale_no_wait: ")
    target = tmp_path / "witness.ptx"
    assert run("witness", PTX, "--finding", "ptx202", "--output", str(target))[:2] == (0, "")
    assert target.read_text("utf-8") == out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([PTX, "--finding", "PTX101"], "no finding is called 'PTX101'; there are PTX202 "),
        (["none.ptx", "--finding", "PTX202"], "none.ptx"),
        ([str(FIXTURES / "README.md"), "--finding", "PTX202"], "README.md"),
        ([PTX, "--finding", "PTX202", "--output", "no/such/folder/x"], "cannot write"),
        ([str(FIXTURES / "ptx501" / "ring_wait_too_weak.sm_90a.ptx"), "--finding", "PTX501"], "several findings are called"),
    ],
)  # fmt: skip
def test_witness_mistakes(arguments: list[str], message: str) -> None:
    status, out, err = run("witness", *arguments)
    assert (status, out) == (2, "")
    assert message in err
