"""The pipeline view: what it says of known kernels, and every format of it."""

import json
import re
import shutil
import subprocess
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import ptxlint
from ptxlint.cli import cli
from ptxlint.settings import Settings
from ptxlint.show.data import document
from ptxlint.show.drawing import draw
from ptxlint.show.model import View
from ptxlint.show.views import views_of_text
from tests.conftest import ROOT

FIXTURES = ROOT / "fixtures"
COPY = FIXTURES / "ptx201" / "two_stage_copy.sm_90a.ptx"
COMBINE = FIXTURES / "ptx102" / "two_stage_combine.sm_90a.ptx"
GEMM = FIXTURES / "clean" / "gemm_warp_specialised.sm_90a.ptx"
SCHEMA = json.loads((Path(ptxlint.__file__).parent / "show" / "schema.json").read_text("utf-8"))
SEVERAL = [COPY, COMBINE, GEMM, *sorted((FIXTURES / "clean").glob("triton*.ptx"))[:1]]


@cache
def views(path: Path) -> list[View]:
    found, _ = views_of_text(path.read_text("utf-8"), str(path), Settings())
    return found


@cache
def shown(path: Path, output_format: str) -> str:
    result = CliRunner().invoke(cli, ["show", str(path), "--output-format", output_format])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_copy_and_what_it_lacks() -> None:
    [view] = views(COPY)
    assert [(b.high - b.low) for b in view.buffers] == [4096, 4096]
    assert [b.count for b in view.barriers] == [1, 1]
    assert [b.buffers for b in view.barriers] == [("b0",), ("b1",)]
    [hazard] = view.hazards
    items = {item.id: item for item in view.items}
    assert hazard.code == "PTX201"
    assert (items[hazard.first].kind, items[hazard.second].kind) == ("store", "load")
    assert {items[p].kind for p in hazard.path} >= {"drain", "commit"}
    assert any(a.kind == "completion" and items[a.start].kind == "load" for a in view.arrows)
    assert any(a.kind == "group" and items[a.start].kind == "store" for a in view.arrows)


def test_roles_of_a_warp_specialised_kernel() -> None:
    [view] = views(GEMM)
    titles = [role.title for role in view.roles]
    assert "warp 0 lane 0" in titles
    assert "warps 4-11" in titles
    consumer = next(role.id for role in view.roles if role.title == "warps 4-11")
    producer = next(role.id for role in view.roles if role.title == "warp 0 lane 0")
    full = [b for b in view.barriers if b.buffers]
    empty = [b for b in view.barriers if not b.buffers]
    assert len(full) == len(empty) == 4
    assert all(b.arrives == (producer,) and b.waits == (consumer,) for b in full)
    assert all(b.arrives == (consumer,) and b.waits == (producer,) and b.count == 256 for b in empty)
    multiply = next(item for item in view.items if item.kind == "multiply")
    assert len(multiply.buffers) == 2


@pytest.mark.parametrize("path", SEVERAL, ids=lambda path: path.stem)
def test_json_is_as_its_schema_says(path: Path) -> None:
    data = json.loads(json.dumps(document(views(path))))
    jsonschema.validate(data, SCHEMA)
    for view in data["kernels"]:
        ids = {item["id"] for item in view["items"]}
        assert all(arrow["start"] in ids and arrow["end"] in ids for arrow in view["arrows"])
        assert [item["order"] for item in view["items"]] == list(range(len(view["items"])))


def test_arrows_point_down_unless_they_wrap() -> None:
    for path in SEVERAL:
        for view in views(path):
            order = {item.id: item.order for item in view.items}
            assert all((order[a.start] < order[a.end]) != a.wraps for a in view.arrows)


def test_nothing_overlaps_in_the_drawing() -> None:
    for path in (COPY, GEMM):
        [view] = views(path)
        drawing = draw(view)
        assert len({(box.x, box.y) for box in drawing.boxes}) == len(view.items)
        assert all(box.x + box.width <= drawing.width and box.y < drawing.height for box in drawing.boxes)
        for one in drawing.bars:
            for other in drawing.bars:
                if one is not other and one.x == other.x:
                    assert one.bottom <= other.top or other.bottom <= one.top


class Page(HTMLParser):
    """Collects what a page loads, its identities, and whether its elements are closed."""

    VOID = frozenset({"meta", "input", "br", "link", "img"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.open: list[str] = []
        self.hazards: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [value for name, value in attributes if name == "id" and value]
        self.loads += [v for n, v in attributes if n in ("src", "href") and v]
        if "data-hazard" in given:
            self.hazards.append(given)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("path", [COPY, COMBINE, GEMM], ids=lambda path: path.stem)
def test_html_stands_alone(path: Path) -> None:
    text = shown(path, "html")
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert page.loads == []
    assert "http" not in re.sub(r"https?://www\.w3\.org/\S*", "", text)
    ids = [identity for identity in page.ids if identity != "tip"]
    assert len(set(ids)) == len(ids)
    for hazard in page.hazards:
        assert hazard["data-first"] in ids
        assert hazard["data-second"] in ids
    assert len(text) < 2_000_000


def test_names_are_escaped() -> None:
    [view] = views(COPY)
    from ptxlint.records import replace
    from ptxlint.show.html import Lines, page

    text = page([replace(view, kernel='<script>alert("x")</script>\x1b[31m')], Lines(), "a & b")
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert "a &amp; b" in text


def test_text_marks_both_accesses() -> None:
    text = shown(COPY, "text")
    assert re.search(r"store cp\.async\.bulk \[b1\].*<-- \(1\) PTX201", text)
    assert re.search(r"load cp\.async\.bulk \[b1 m1\].*<-- \(2\) PTX201", text)
    assert "missing between (1) and (2): " in text


def test_graphs() -> None:
    mermaid, dot = shown(COMBINE, "mermaid"), shown(COMBINE, "dot")
    assert mermaid.startswith("flowchart TB\n")
    assert "PTX102: no order" in mermaid
    assert mermaid.count("subgraph") == len(re.findall(r"^  end$", mermaid, re.MULTILINE))
    assert dot.startswith("digraph pipeline {\n")
    assert dot.count("{") == dot.count("}")
    program = shutil.which("dot")
    if program is not None:
        done = subprocess.run([program, "-Tsvg"], input=dot, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_kernels_by_name_and_errors(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(cli, ["show", str(COPY), "--kernel", "two_stage_copy"]).exit_code == 0
    wrong = run(cli, ["show", str(COPY), "--kernel", "no_such"])
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "no kernel no_such; there are two_stage_copy" in wrong.stderr
    assert run(cli, ["show", str(tmp_path / "no.ptx")]).exit_code == 2
    out = tmp_path / "view.html"
    assert run(cli, ["show", str(COPY), "--output-format", "html", "--output-file", str(out)]).exit_code == 0
    assert out.read_text("utf-8").startswith("<!doctype html>")


def test_nothing_asynchronous(tmp_path: Path) -> None:
    path = tmp_path / "plain.ptx"
    path.write_text(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n", "utf-8")
    result = CliRunner().invoke(cli, ["show", str(path)])
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing asynchronous to show" in result.stderr
