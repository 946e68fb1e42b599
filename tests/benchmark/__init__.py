"""How long a check takes, against ptxas on the same file."""
