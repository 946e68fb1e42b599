"""Repairs of PTX: what could order the two accesses of a finding, tried until one does."""
