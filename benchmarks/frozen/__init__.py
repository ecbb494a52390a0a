"""Two states of the source side by side, or the present one against stored hashes: the same labels, in what time?"""
