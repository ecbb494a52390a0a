"""How good a cut is: lower bounds on all cuts, with proofs that `verify` checks on its own."""

from tightcut.certificates.certificate import Certificate
from tightcut.certificates.certify import certify

__all__ = ["Certificate", "certify"]
