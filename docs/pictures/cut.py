"""A cut, and why it must be balanced."""

import matplotlib.pyplot as plt
import numpy as np
from drawing import PLACES, affinity, draw_graph

from tightcut import COSC

straggler = (np.arange(len(PLACES)) == 11).astype(int)
balanced = COSC(affinity="precomputed", random_state=0).fit_predict(affinity())

figure, axes = plt.subplots(1, 2, figsize=(9, 1.7), layout="constrained")
draw_graph(axes[0], straggler, "fewest edges cut: 1 edge, but one point alone")
draw_graph(axes[1], balanced, "normalized cut: 3 edges, two groups")
