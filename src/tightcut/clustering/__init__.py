"""From a problem to a clustering: `cluster` and `tradeoff_path`, their result, its alignment and its audit."""
