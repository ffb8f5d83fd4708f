"""Training of value networks.

    python -m train stage=river_start net=quantile_conv data=data/river_start minutes=60
    python -m train.promote runs/train/river_start/checkpoints/best.ckpt

``data`` reads samples, ``module`` is what Lightning trains, ``metrics`` what is measured,
``pictures`` what TensorBoard shows, ``program`` the command and ``promote`` the way into
``deepstack/networks``.
"""
