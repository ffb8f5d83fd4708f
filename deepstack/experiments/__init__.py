"""Named reproductions of published results, and the report made from their result files.

A method is a module with ``UNIT``, what its progress counts; ``steps(config)``, how many of them
(None where nobody knows before); and ``run(config, progress)``, the figures of the result file.
Configurations of ``conf/experiment`` name the method they use.
"""

METHODS = (
    "abstract_leduc",
    "cfrd_leduc",
    "continual_leduc",
    "large_limit",
    "lbr_table2",
    "leaf_shortcut",
    "matrix_slopes",
    "nolimit_leduc",
    "table_2_1",
    "theorem12",
    "tree_slopes",
    "turn_river_resolving",
    "variance_reduction",
)
