"""Must-links and cannot-links move the border."""

import matplotlib.pyplot as plt
from drawing import PLACES, affinity, draw_graph, draw_link
from matplotlib.lines import Line2D

from tightcut import COSC

model = COSC(affinity="precomputed", random_state=0)
must, cannot = (5, 8), (3, 5)
before = model.fit_predict(affinity())
after = model.fit_predict(affinity(), must_link=[must], cannot_link=[cannot])

figure, axes = plt.subplots(1, 2, figsize=(9, 2.1), layout="constrained")
draw_graph(axes[0], before, "what the graph says")
draw_graph(axes[1], after, "what you know, too")
draw_link(axes[1], *PLACES[list(must)], "must", bend=-0.25)
draw_link(axes[1], *PLACES[list(cannot)], "cannot", bend=-0.4)
figure.legend(
    handles=[
        Line2D([], [], color="black", lw=2.2, label="must-link"),
        Line2D([], [], color="black", lw=2.2, ls=(0, (4, 2)), label="cannot-link"),
        Line2D([], [], color="#D55E00", lw=2, ls=":", label="edge cut"),
    ],
    loc="outside lower center",
    ncols=3,
    frameon=False,
)
