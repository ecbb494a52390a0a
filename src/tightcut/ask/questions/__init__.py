"""Which question to ask next, and how far the answers have led."""
