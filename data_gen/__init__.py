"""Training data for value networks: random situations, solved, in sharded storage.

    python -m data_gen stage=river_start samples=1000000 seed=1 out=data/river_start

``situations`` draws boards, pots and ranges, ``solving`` solves them, ``stages`` says for each
network what a sample is, ``storage`` is the format on disk, ``generation`` the loop over shards.
"""
