"""CFR on public trees: update rules, kernels, best response."""
