import pytest
from sklearn.datasets import make_moons


@pytest.fixture(scope="session")
def moons():
    X, y = make_moons(60, noise=0.1, random_state=0)
    X.flags.writeable = False
    return X, y


@pytest.fixture(scope="session")
def X(moons):
    return moons[0]
