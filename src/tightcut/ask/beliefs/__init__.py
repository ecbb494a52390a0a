"""What the answers say of all other points: beliefs, their evidence, and the labels that follow."""
