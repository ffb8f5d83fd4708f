"""Speed and memory, always as a ratio against a peer or a stated limit in the same run."""
