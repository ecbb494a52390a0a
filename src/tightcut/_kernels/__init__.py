"""All compiled code: free functions on flat arrays, one file per task."""

from tightcut._kernels.blocks import (
    best_moves,
    best_neighbours,
    confirmed_moves,
    join_units,
    make_moves,
    measure_block,
)
from tightcut._kernels.coarsening import connected_regions, contract, heavy_edge_matching
from tightcut._kernels.colouring import colour_by_tabu, colour_exactly, complete_labels, peel
from tightcut._kernels.fista import fista_steps
from tightcut._kernels.front import enter_front, walk_front
from tightcut._kernels.minimum_cut import UNREACHED, reverse_arcs, route_excess, total_variation_prox
from tightcut._kernels.partition import (
    agglomerate,
    measure_partition,
    near_boundary,
    refine_partition,
    relation_inside,
)
from tightcut._kernels.resolving import resolve_components
from tightcut._kernels.spins import measure, near_the_cut, refine, tabu_search
from tightcut._kernels.splitting import weigh_branches
from tightcut._kernels.thresholding import cut_changes, total_variation
from tightcut._kernels.trees import average_votes, grow_trees

__all__ = [
    "UNREACHED",
    "agglomerate",
    "average_votes",
    "best_moves",
    "best_neighbours",
    "colour_by_tabu",
    "colour_exactly",
    "complete_labels",
    "confirmed_moves",
    "connected_regions",
    "contract",
    "cut_changes",
    "enter_front",
    "fista_steps",
    "grow_trees",
    "heavy_edge_matching",
    "join_units",
    "make_moves",
    "measure",
    "measure_block",
    "measure_partition",
    "near_boundary",
    "near_the_cut",
    "peel",
    "refine",
    "refine_partition",
    "relation_inside",
    "resolve_components",
    "reverse_arcs",
    "route_excess",
    "tabu_search",
    "total_variation",
    "total_variation_prox",
    "walk_front",
    "weigh_branches",
]
