"""Read nvcc's command line: which architectures it names, and what does not go with ``-ptx``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

DEFAULT_ARCHITECTURE = "compute_90a"

_GENCODE = ("-gencode", "--generate-code")
_ARCH = ("-arch", "--gpu-architecture")
_CODE = ("-code", "--gpu-code")

# Names of options that choose another output or write files; then those with a value after them.
_OUTPUT_FLAGS = frozenset(
    (
        "c",
        "compile",
        "dc",
        "device-c",
        "dw",
        "device-w",
        "dlink",
        "device-link",
        "ptx",
        "cubin",
        "fatbin",
        "optix-ir",
        "ltoir",
        "lib",
        "link",
        "run",
        "E",
        "preprocess",
        "cuda",
        "M",
        "MM",
        "MD",
        "MMD",
        "MP",
        "generate-dependencies",
        "generate-nonsystem-dependencies",
        "generate-dependencies-with-compile",
        "generate-nonsystem-dependencies-with-compile",
        "generate-dependency-targets",
        "keep",
        "dryrun",
        "save-temps",
        "dlto",
        "dlink-time-opt",
        "lineinfo",
        "generate-line-info",
    )
)
_OUTPUT_VALUES = frozenset(
    (
        "o",
        "output-file",
        "MF",
        "dependency-output",
        "MT",
        "dependency-target-name",
        "MQ",
        "odir",
        "output-directory",
        "keep-dir",
        "time",
        "fdevice-time-trace",
        "run-args",
    )
)


@dataclass(frozen=True, slots=True)
class NvccFlags:
    """The arguments for ``nvcc -ptx``, less the architectures, and those, in order, each once."""

    arguments: tuple[str, ...]
    architectures: tuple[str, ...]

    @staticmethod
    def of(arguments: Sequence[str]) -> "NvccFlags":
        """Take nvcc's *arguments* apart; output options are dropped."""
        kept: list[str] = []
        found: list[str] = []
        rest = iter(arguments)
        for argument in rest:
            name, equals, value = argument.partition("=")
            if name in (*_GENCODE, *_ARCH, *_CODE):
                if not equals:
                    value = next(rest, "")
                if name not in _CODE:
                    found += _architectures(name, value)
            elif argument.startswith("-") and name.lstrip("-") in _OUTPUT_VALUES:
                if not equals:
                    next(rest, None)
            elif not argument.startswith("-") or name.lstrip("-") not in _OUTPUT_FLAGS:
                kept.append(argument)
        return NvccFlags(tuple(kept), tuple(dict.fromkeys(found)))


def target_of(architecture: str) -> str:
    """Return the name of the target that PTX for *architecture* has: ``sm_90a`` for ``compute_90a``."""
    return architecture.replace("compute_", "sm_")


def _architectures(name: str, value: str) -> list[str]:
    if name in _GENCODE:
        return re.findall(r"arch=[\"']?((?:compute|sm)_\w+)", value)
    return [value.strip("\"'").replace("sm_", "compute_")] if value else []
