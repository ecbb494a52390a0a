"""Where to compute: "cpu", "cuda" or "auto". PyTorch is imported only if a GPU is asked for."""

from __future__ import annotations

from importlib.util import find_spec
from threading import RLock
from typing import TYPE_CHECKING, Any

from tightcut.exceptions import NoGpuError
from tightcut.utils.validation import check_choice

if TYPE_CHECKING:
    from tightcut.search.backend import Backend

DEVICES = ("cpu", "cuda", "auto")
# One thread at a time uses the device: its work would only queue there, with more levels in memory at once.
LOCK = RLock()


def resolve_device(device: Any) -> str:
    """The device behind a `device` argument: "cpu" or "cuda".

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"}
        "auto" is "cuda" where PyTorch finds a GPU and has Triton, and "cpu", silently, everywhere else.

    Raises
    ------
    ImportError
        If "cuda" is asked for and PyTorch or Triton is not installed.
    NoGpuError
        If "cuda" is asked for and PyTorch finds no GPU.

    Examples
    --------
    >>> from tightcut.gpu.device import resolve_device
    >>> resolve_device("cpu")
    'cpu'
    """
    check_choice("device", device, DEVICES)
    if device == "cpu":
        return "cpu"
    if find_spec("torch") is None:
        if device == "auto":
            return "cpu"
        raise ImportError('device="cuda" needs PyTorch: pip install "tightcut[gpu]", or pass device="cpu".')
    if find_spec("triton") is None:
        if device == "auto":
            return "cpu"
        raise ImportError('device="cuda" needs Triton, which PyTorch brings along on Linux; pass device="cpu".')
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if device == "auto":
        return "cpu"
    raise NoGpuError(
        f'device="cuda" needs an NVIDIA GPU, and PyTorch {torch.__version__} finds none. '
        'Pass device="cpu", or device="auto" to use a GPU only where there is one.'
    )


def backend_of(device: Any) -> Backend | None:
    """What a `device` argument stands for: a back end of the search, or None for the CPU."""
    if resolve_device(device) == "cpu":
        return None
    from tightcut.gpu.backend import DeviceBackend  # imports PyTorch

    return DeviceBackend()
