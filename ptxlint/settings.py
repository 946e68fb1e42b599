"""What applies to a check: the settings of a file, whoever gave them."""

from dataclasses import dataclass

from ptxlint.report.finding import Severity

Triple = tuple[int, int, int]

BLOCK_LIMITS = ((1024, 1024, 64), 1024, "threads")
CLUSTER_LIMITS = ((16, 16, 16), 16, "CTAs")


@dataclass(frozen=True, slots=True)
class Settings:
    """What applies to one file. Codes are matched by prefix; shapes are (x, y, z).

    *block* is threads a CTA and *cluster* is CTAs a cluster, where the PTX does not say.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    block: Triple | None = None
    cluster: Triple | None = None
    strict: bool = False
    fail_on: Severity = Severity.WARNING
    output_format: str = "full"
    max_steps: int | None = None


def read_shape(value: str, limits: Triple, most: int, what: str) -> Triple:
    """Read ``X[,Y[,Z]]``: positive numbers, 1 where absent, within *limits*, no more than *most* in all.

    Raises:
        ValueError: it is of another form, or out of the limits.
    """
    parts = value.split(",")
    if len(parts) > 3 or not all(part.strip().isdecimal() for part in parts):
        raise ValueError(f"{value!r} is not of the form X[,Y[,Z]].")
    x, y, z = [int(part) for part in parts] + [1] * (3 - len(parts))
    for number, limit in zip((x, y, z), limits, strict=True):
        if not 1 <= number <= limit:
            raise ValueError(f"{number} is not between 1 and {limit}.")
    if x * y * z > most:
        raise ValueError(f"{x * y * z} {what} are more than {most}.")
    return x, y, z
