"""The order of the gallery: from the simplest use to comparisons."""

ORDER = (
    "two_moons",
    "digits",
    "entity_resolution",
    "scribbles",
    "own_graph",
    "multiway",
    "choose_k",
    "noisy_pairs",
    "penalty_path",
    "rivals",
)


def place(filename):
    """Where a script goes; new ones come last."""
    name = filename.removeprefix("plot_").removesuffix(".py")
    return ORDER.index(name) if name in ORDER else len(ORDER)
