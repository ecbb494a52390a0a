"""Where the GPU code is tested: on a GPU, and on the CPU as far as PyTorch and Triton's interpreter allow."""

import os

import pytest


def has_gpu():
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install torch")
    return torch.cuda.is_available()


@pytest.fixture(params=["cpu", "cuda"])
def torch_device(request):
    """A device for the code that is PyTorch alone."""
    if not has_gpu() and request.param == "cuda":
        pytest.skip("needs an NVIDIA GPU")
    return request.param


@pytest.fixture
def triton_device():
    """The GPU where there is one; otherwise the CPU, with the kernels interpreted."""
    if has_gpu():
        return "cuda"
    os.environ["TRITON_INTERPRET"] = "1"  # read when the kernels are defined
    pytest.importorskip("triton", reason="needs Triton, which runs on Linux")
    return "cpu"


@pytest.fixture
def gpu():
    if not has_gpu():
        pytest.skip("needs an NVIDIA GPU")
