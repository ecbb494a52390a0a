"""From a problem to a clustering: `cluster` and `tradeoff_path`, their result, and matching its numbers to earlier ones."""
