"""The parts of the package that run on a GPU, with PyTorch and Triton, of the extra `tightcut[gpu]`."""
