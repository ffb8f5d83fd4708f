"""Training data for value networks: random situations and their values, in sharded storage.

    python -m data_gen stage=river_start samples=1000000 seed=1 out=data/river_start
    python -m data_gen.chain budget=small

``situations`` draws boards, pots and ranges (families ``random_ranges`` and ``play``); ``solving``
solves them to the end, ``labels`` with networks; ``stages`` says for each network what a sample is,
``storage`` is the format on disk, ``generation`` the loop over shards, ``chain`` the whole of it.
"""
