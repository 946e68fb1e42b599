"""The page in a real browser: it draws, nothing goes wrong, and choosing a finding shows its trace."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.show.test_show import COMBINE, COPY, GEMM, shown

BROWSER = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)

_CLICK = """<script>
{
const errors = [];
window.addEventListener("error", (e) => errors.push(e.message));
const button = document.querySelector(".hazard");
if (button) button.click();
const item = document.querySelector(".item");
const box = item.getBoundingClientRect();
document.body.dataset.errors = errors.join(";");
document.body.dataset.drawn = box.width > 0 && box.height > 0 ? "yes" : "no";
document.body.dataset.accesses = document.querySelectorAll(".item.access").length;
document.body.dataset.traces = document.querySelectorAll(".trace:not([hidden])").length;
document.body.dataset.gaps = document.querySelectorAll("path.gap.chosen").length;
if (button) button.click();
document.body.dataset.after = document.querySelectorAll(".item.access").length;
const filter = document.querySelector("[data-filter=role]");
filter.checked = false;
filter.dispatchEvent(new Event("change", { bubbles: true }));
document.body.dataset.gone = document.querySelectorAll(".item.gone").length;
item.focus();
}
</script></body>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
@pytest.mark.parametrize("path", [COPY, COMBINE, GEMM], ids=lambda path: path.stem)
def test_page(path: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(shown(path, "html").replace("</body>", _CLICK), "utf-8")
    assert BROWSER is not None
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert said == []
    found = dict(re.findall(r'data-(\w+)="([^"]*)"', re.findall(r"<body[^>]*>", done.stdout)[0]))
    assert (found["errors"], found["drawn"], found["after"]) == ("", "yes", "0")
    hazards = 0 if path == GEMM else 1
    assert (found["accesses"], found["traces"], found["gaps"]) == (
        str(2 * hazards),
        str(hazards),
        str(hazards),
    )
    assert int(found["gone"]) > 0
