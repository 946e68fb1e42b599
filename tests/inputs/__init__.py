"""Tests of ptxlint.inputs."""
