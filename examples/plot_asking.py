"""
The fewest questions to the right clustering
============================================

A session asks about the pairs that it can learn most from; random pairs are no match.

Six hundred handwritten digits, and somebody who can tell whether two of them are the same. Here the known classes answer.
"""

# %%
# Let the classes answer 100 questions about pairs, and 50 questions of the kind *which of these groups?*
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from tightcut import COSC
from tightcut.ask import Session, simulate
from tightcut.datasets import sample_constraints

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
pairs = simulate(Session(X, random_state=0), y, 100)
picks = simulate(Session(X, random_state=0), y, 50, kind="pick")


def curve(rounds):
    return [r.n_answers for r in rounds], [adjusted_rand_score(y, r.labels) for r in rounds]


# %%
# As many random pairs, with the number of clusters told.
marks = np.array([10, 25, 50, 100])
random = [COSC(10, random_state=0).fit(X, constraints=sample_constraints(y, n, random_state=0)).labels_ for n in marks]

figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(*curve(pairs), label="chosen pairs")
axes.plot(*curve(picks), label="picks")
axes.plot(marks, [adjusted_rand_score(y, labels) for labels in random], "o--", label="random pairs, k told")
axes.set(xlabel="answers", ylabel="adjusted Rand index", ylim=(0, 1.02))
axes.legend(loc="lower right")

# %%
# What was asked last, and why.
session = Session(X, random_state=0)
simulate(session, y, 60)
question = session.question()
figure, axes = plt.subplots(1, 2, figsize=(4, 2.2))
for axis, row in zip(axes, (question.first, question.second), strict=True):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axis.set_axis_off()
figure.suptitle(f"Same or different? ({question.reason})", fontsize=9)
plt.show()
