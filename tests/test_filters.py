"""Globs on paths: what they match."""

import os

import pytest

from ptxlint.filters import matches_path


@pytest.mark.parametrize(
    ("path", "pattern", "is_match"),
    [
        ("a/b/k.ptx", "k.ptx", True),
        ("a/b/k.ptx", "*.ptx", True),
        ("a/b/k.ptx", "b", True),
        ("a/b/k.ptx", "a/b", True),
        ("a/b/k.ptx", "a/*", True),
        ("a/b/k.ptx", "a/**/k.ptx", True),
        ("a/b/k.ptx", "./a/b/", True),
        ("a/b/k.ptx", "/a", False),
        ("a/b/k.ptx", "b/k.ptx", False),
        ("a/b/k.ptx", "k", False),
        ("a/b/k.ptx", "", False),
        ("lib/x.so#k.sm_90a.ptx", "*.so", True),
        ("lib/x.so#k.sm_90a.ptx", "lib", True),
        ("lib/x.so#k.sm_90a.ptx", "*.sm_90a.ptx", True),
        ("lib/x.so#k.sm_90a.ptx", "*.a", False),
        ("../k.ptx", "k.ptx", True),
        ("../k.ptx", "a/*", False),
    ],
)
def test_paths(path: str, pattern: str, is_match: bool) -> None:
    assert matches_path(path, pattern, "") is is_match
    assert matches_path(os.path.abspath(path), pattern, os.getcwd()) is is_match
