"""All compiled code: free functions on flat arrays, one file per task, imported when one of its names is used."""

from importlib import import_module

_NAMES = {
    "agglomeration": "agglomerate",
    "arrays": "add_up_between",
    "blocks": "add_up_arcs best_moves best_neighbours confirmed_moves join_units leaving_shares make_moves measure_block "
    "spread_shares",
    "coarsening": "connected_regions contract contract_signed heavy_edge_matching members_of",
    "colouring": "colour_by_tabu colour_exactly complete_labels peel",
    "fista": "fista_steps",
    "pareto": "enter_front walk_front",
    "min_cut": "UNREACHED reverse_arcs route_excess total_variation_prox",
    "partition": "measure_partition near_boundary refine_partition relation_inside",
    "multicut": "bound_components improve_components join_components resolve_components solve_components solve_parts",
    "bipartition": "measure near_the_cut refine tabu_search",
    "multicut_margins": "weigh_branches",
    "thresholding": "cut_changes total_variation",
    "forest": "average_votes grow_trees",
    "semidefinite": "partition_lagrangian spin_lagrangian worst_near_partition_triangles worst_near_spin_triangles "
    "worst_spin_triangles",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'tightcut.kernels' has no attribute {name!r}")
    value = getattr(import_module(f"tightcut.kernels.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
