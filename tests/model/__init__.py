"""Tests of what PTX means for memory."""
