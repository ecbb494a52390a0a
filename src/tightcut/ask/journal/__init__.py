"""The journal: every answer in a file, what an answer may say, and the constraints that follow from all of them."""
