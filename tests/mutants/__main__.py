"""usage: python -m tests.mutants [-v] [NAME ...].

Prints, kernel by kernel, how many mutants are reported with a code of the right family, and which are not.
Mutants that the memory model allows are listed in equivalent.json, each with its reason, and are not counted:
-v prints them too. NAMEs are parts of kernel names. Exit status 1: the score is below 95 %, an unchanged
kernel is reported, or an entry of equivalent.json is out of date.
"""

import sys
from multiprocessing import Pool

from tests.mutants.score import KERNELS, Result, run

PROCESSES = 2
REQUIRED = 95.0


def show(result: Result, verbose: bool) -> None:
    """Print one kernel's result."""
    breaking = result.total - len(result.explained)
    print(
        f"{result.kernel}: {result.caught} of {breaking} breaking mutants caught, "
        f"{len(result.explained)} are no hazard"
    )
    if result.unchanged:
        print(f"  reported unchanged: {', '.join(result.unchanged)}")
    for mutant, found in result.missed:
        other = f" (only {', '.join(found)})" if found else ""
        print(f"  line {mutant.line}: survived: {mutant.operator}{other}: {mutant.statement} [{mutant.nth}]")
    for mutant, reason in result.explained if verbose else ():
        print(f"  line {mutant.line}: no hazard: {mutant.operator}: {reason}")
    for entry in result.stale:
        print(f"  out of date in equivalent.json: {entry}")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Run the mutants of the kernels named; return the exit status."""
    verbose = "-v" in arguments
    names = [argument for argument in arguments if argument != "-v"]
    kernels = [k for k in KERNELS if not names or any(name in k for name in names)]
    caught = breaking = explained = 0
    wrong = False
    with Pool(PROCESSES) as pool:
        for result in pool.imap_unordered(run, kernels):
            show(result, verbose)
            caught += result.caught
            breaking += result.total - len(result.explained)
            explained += len(result.explained)
            wrong = wrong or bool(result.unchanged or result.stale)
    score = 100 * caught / breaking if breaking else 0.0
    print(
        f"{caught} of {breaking} breaking mutants caught ({score:.1f} %); "
        f"{explained} further mutants are no hazard"
    )
    return int(wrong or score < REQUIRED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
