"""Find and read what is to be checked."""

from ptxlint.inputs.content import decode
from ptxlint.inputs.item import STDIN, STDIN_NAME, Input, InputError, InputOptions
from ptxlint.inputs.read import Reader, read_input, read_inputs

__all__ = [
    "STDIN",
    "STDIN_NAME",
    "Input",
    "InputError",
    "InputOptions",
    "Reader",
    "decode",
    "read_input",
    "read_inputs",
]
