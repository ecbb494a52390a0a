"""
The fewest questions to the right clustering
============================================

A session chooses the questions from which it learns most; random pairs lead to worse clusters.

Somebody can tell whether two of six hundred handwritten digits are the same. Here the known classes give the answers.
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
# For comparison, as many random pairs, with the number of clusters given.
marks = np.array([10, 25, 50, 100])
random = [COSC(10, random_state=0).fit(X, constraints=sample_constraints(y, n, random_state=0)).labels_ for n in marks]

figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(*curve(pairs), label="chosen pairs")
axes.plot(*curve(picks), label="picks")
axes.plot(marks, [adjusted_rand_score(y, labels) for labels in random], "o--", label="random pairs, k given")
axes.set(xlabel="answers", ylabel="adjusted Rand index", ylim=(0, 1.02))
axes.legend(loc="lower right")

# %%
# The question after 60 answers, and the reason for it.
session = Session(X, random_state=0)
simulate(session, y, 60)
question = session.question()
figure, axes = plt.subplots(1, 2, figsize=(4, 2.2))
for axis, row in zip(axes, (question.first, question.second), strict=True):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axis.set_axis_off()
figure.suptitle(f"Same or different? ({question.reason})", fontsize=9)
plt.show()
