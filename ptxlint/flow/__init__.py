"""Control flow; knows nothing of memory."""
