"""How good a cut is: lower bounds on all cuts, with proofs that `verify` checks on its own."""
