"""The options of ``check`` that say what is read, and how the work is done."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ptxlint.inputs import InputOptions

if TYPE_CHECKING:
    from ptxlint.cache import Cache

F = TypeVar("F", bound=Callable[..., Any])

_NVCC_KEY = "ptxlint.nvcc_arguments"
_MOST_JOBS = 1024


class CheckCommand(click.Command):
    """A command whose arguments after ``--`` are nvcc's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put what follows ``--`` aside, and read the rest."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_NVCC_KEY] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage line, with the arguments of nvcc."""
        pieces = [*self.collect_usage_pieces(ctx), "[-- NVCC_ARGUMENTS...]"]
        formatter.write_usage(ctx.command_path, " ".join(pieces))


def suffixes(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Read suffixes, with or without the dot, repeated or in comma lists."""
    found = [part.strip().removeprefix("*").removeprefix(".") for v in values for part in v.split(",")]
    if not all(part and "/" not in part and "*" not in part for part in found):
        raise click.BadParameter("expected suffixes, as in ptx,cu.")
    return tuple(dict.fromkeys(found)) or InputOptions().include


_OPTIONS = (
    click.option(
        "--include",
        metavar="SUFFIXES",
        multiple=True,
        callback=suffixes,
        help="Which files folders give: ptx by default; also cu, cubin, fatbin, o, so, a, whl.",
    ),
    click.option(
        "--compile-commands",
        metavar="FILE",
        type=click.Path(),
        help="Compile CUDA files as this compile_commands.json says; without FILES, all that are in it.",
    ),
    click.option(
        "--nvcc-argument",
        "nvcc_arguments",
        metavar="ARGUMENT",
        multiple=True,
        help="Hand ARGUMENT to nvcc, as those after -- are; for hooks, where FILES come last.",
    ),
    click.option("--stdin-filename", metavar="NAME", help="What standard input (-) is called in reports."),
    click.option(
        "--tool-timeout",
        metavar="SECONDS",
        type=click.FloatRange(0, min_open=True),
        default=InputOptions().tool_time_limit,
        show_default=True,
        help="The longest that one run of nvcc or cuobjdump may take.",
    ),
    click.option(
        "-j",
        "--jobs",
        metavar="N",
        type=click.IntRange(0, _MOST_JOBS),
        default=0,
        help="How many processes may work; by default one a processor.",
    ),
    click.option("--no-cache", is_flag=True, envvar="PTXLINT_NO_CACHE", help="Neither use nor keep results."),
)

cache_dir_option = click.option(
    "--cache-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="PTXLINT_CACHE_DIR",
    help="Where results are kept; by default in the user's cache folder.",
)


def reading_options(command: F) -> F:
    """Add the options, and pass what they say as ``reading`` and ``running``."""

    def run(
        include: tuple[str, ...],
        compile_commands: str | None,
        nvcc_arguments: tuple[str, ...],
        stdin_filename: str | None,
        tool_timeout: float,
        jobs: int,
        no_cache: bool,
        cache_dir: Path | None,
        **others: Any,
    ) -> Any:
        ctx = click.get_current_context()
        explicit = ctx.get_parameter_source("cache_dir") is click.core.ParameterSource.COMMANDLINE
        flagged = ctx.get_parameter_source("no_cache") is click.core.ParameterSource.COMMANDLINE
        reading = InputOptions(
            include=include,
            nvcc_arguments=(*nvcc_arguments, *ctx.meta.get(_NVCC_KEY, ())),
            compile_commands=compile_commands,
            stdin_name=stdin_filename,
            tool_time_limit=tool_timeout,
        )
        from ptxlint.runner import Running

        # What is on the command line counts more than the environment.
        cache = None if no_cache and (flagged or not explicit) else _cache(cache_dir)
        return command(reading=reading, running=Running(jobs, cache), **others)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__click_params__ = list(getattr(command, "__click_params__", []))  # type: ignore[attr-defined]
    wrapped: Any = run
    for option in (cache_dir_option, *reversed(_OPTIONS)):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]


def _cache(folder: Path | None) -> "Cache":
    from ptxlint.cache import Cache, default_dir

    return Cache(folder or default_dir())
