"""Labels where little is known."""

from types import SimpleNamespace

import numpy as np
import pytest

from tightcut.ask.beliefs.labels import labels_of


@pytest.mark.parametrize(("own", "label"), [([0.45, 0.11, 0.11, 0.11, 0.11, 0.11], 0), ([0.4, 0.35, 0.25, 0, 0, 0], 6)])
def test_a_thing_that_is_clearly_of_one_group_names_its_part(own, label):
    """The first thing of a group was not compared with all others yet, and its class is not split for that."""
    shares = np.tile([0.1, 0, 0, 0, 0, 0.9], (8, 1))
    shares[0], shares[1] = own, [0.6, 0, 0, 0, 0, 0.4]
    beliefs = SimpleNamespace(
        evidence=SimpleNamespace(n_groups=5, points=np.array([0])),
        answered=np.array([own]),
        group=np.array([0]),
        coarse=np.repeat([1, 0], 4),
        shares=shares,
        mapped=shares,
        filled=lambda: shares[:, :-1],
        predictors=[],
    )
    assert labels_of(beliefs).tolist() == [0, 0, label, label, 5, 5, 5, 5]
