"""The asynchronous pipeline of a kernel as its author sees it: buffers, barriers, roles, one steady turn."""
