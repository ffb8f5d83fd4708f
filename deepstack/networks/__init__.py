"""Trained value networks: ``STAGE.safetensors`` and ``STAGE.json`` (``deepstack.values``)."""
