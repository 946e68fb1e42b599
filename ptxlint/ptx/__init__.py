"""PTX as text."""
