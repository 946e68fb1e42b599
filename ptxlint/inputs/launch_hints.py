"""What a JIT compiler wrote beside a kernel: Triton's ``NAME.json`` tells the threads of a CTA.

Triton's cache has a folder for each compiled kernel, with ``NAME.ptx``, ``NAME.json`` and other stages.
"""

import json
import os
from pathlib import Path
from typing import Any

from ptxlint.inputs.item import Shape

MAX_BYTES = 1 << 20
MAX_THREADS = 1024
MAX_CTAS = 16


def triton_hints(ptx_path: str) -> tuple[Shape | None, Shape | None]:
    """Return the threads a CTA and the CTAs a cluster of the kernel in *ptx_path*, as far as told.

    What is not Triton's, or does not make sense, tells nothing.
    """
    data = _read(Path(ptx_path).with_suffix(".json"))
    warps, lanes, ctas = (_number(data.get(key)) for key in ("num_warps", "warp_size", "num_ctas"))
    threads = warps * (lanes or 32)
    block = (threads, 1, 1) if 0 < threads <= MAX_THREADS else None
    return block, (ctas, 1, 1) if 1 < ctas <= MAX_CTAS else None


def _read(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file() or os.path.getsize(path) > MAX_BYTES:
            return {}
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):  # ValueError: no JSON, no Unicode, a zero in the path
        return {}
    return data if isinstance(data, dict) else {}


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
