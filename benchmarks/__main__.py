"""``python -m benchmarks [NAME …]``: every benchmark, or those named, one after the other."""

import importlib
import sys

NAMES = ("strength", "isomorphism", "solver", "batched", "leduc", "resolving")


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"benchmark {unknown[0]!r}: expected one of {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in names or NAMES:
        print(f"== {name}")
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
