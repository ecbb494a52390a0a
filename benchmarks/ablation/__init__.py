"""The source with one branch switched off at a time: what does each of them gain?"""
