"""The pages under ``rules/``: front matter, sections and the PTX examples in them."""

import re
from dataclasses import dataclass

from ptxlint._data import data_dir

_FRONT = re.compile(r"\A\+\+\+\n(.*?)\n\+\+\+\n", re.S)
_FIELD = re.compile(r'^(\w+) = (?:"([^"]*)"|\[(.*)\])$', re.M)
_SECTION = re.compile(r"^## (.+)$", re.M)
_EXAMPLE = re.compile(r"^```ptx\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True, slots=True)
class RulePage:
    """One page: its fields, its title, its text without the front matter, its sections by heading."""

    code: str
    name: str
    fields: dict[str, str]
    title: str
    text: str
    sections: dict[str, str]

    def examples(self, heading: str) -> list[str]:
        """Return the PTX examples under *heading*."""
        return _EXAMPLE.findall(self.sections.get(heading, ""))


def read_page(code: str) -> RulePage:
    """Read the page of rule *code*.

    Raises:
        KeyError: there is no page for *code*.
        ValueError: the page has no front matter or no title.
    """
    path = data_dir("rules") / f"{code}.md"
    if not path.is_file():
        raise KeyError(code)
    return parse_page(path.read_text("utf-8"), path.name)


def parse_page(text: str, name: str) -> RulePage:
    """Parse the *text* of the page called *name*.

    Raises:
        ValueError: it has no front matter or no title.
    """
    front = _FRONT.match(text)
    if front is None:
        raise ValueError(f"{name}: no front matter")
    fields = {key: value or listed for key, value, listed in _FIELD.findall(front[1])}
    body = text[front.end() :].strip("\n")
    title = body.split("\n", 1)[0]
    if not title.startswith("# "):
        raise ValueError(f"{name}: no title")
    parts = _SECTION.split(body)
    sections = {parts[i].strip(): parts[i + 1].strip("\n") for i in range(1, len(parts), 2)}
    return RulePage(fields.get("code", ""), fields.get("name", ""), fields, title[2:].strip(), body, sections)


def page_codes() -> list[str]:
    """Return the codes that have a page, in order."""
    return sorted(path.stem for path in data_dir("rules").glob("PTX*.md"))
