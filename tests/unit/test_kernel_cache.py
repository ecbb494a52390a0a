"""Compiled code is kept where it can be, used where it lies, and its absence or damage ends nothing."""

import ctypes
import errno
import gc
import importlib
import io
import os
import pickle
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError

import tightcut
from tightcut import kernels as _kernels
from tightcut.kernels import cache
from tightcut.kernels.compiled import _warn_once, compiled, compiled_sum
from tightcut.progress import ProgressLine
from tightcut.utils import compiling
from tightcut.utils.compiling import compiling_reported, report_compiling
from tightcut.warmup import warmup

INNER = """
from tightcut.kernels.compiled import compiled

@compiled
def step(v):
    return v + 1
"""
OUTER = """
from kernels.inner import step
from tightcut.kernels.compiled import compiled

@compiled
def walk(v):
    return step(step(v))
"""
CAPABILITIES = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: with them, root may write what is read-only
PR_CAPBSET_DROP = 24


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A package of two kernels, a home and a folder for temporary files, all of them empty."""
    for folder in ("package/kernels", "home", "temporary"):
        (tmp_path / folder).mkdir(parents=True)
    for name, source in {"__init__": "", "inner": INNER, "outer": OUTER}.items():
        (tmp_path / "package/kernels" / f"{name}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "package")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    forget()


def forget():
    for name in ("kernels", "kernels.inner", "kernels.outer"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    cache._stamp.cache_clear()
    cache._warn_once.cache_clear()


def run():
    """The kernel as a new process would load or compile it: its value, the number of hits, the warnings."""
    forget()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        walk = importlib.import_module("kernels.outer").walk
        value = walk(5)
    return value, sum(walk.stats.cache_hits.values()), [str(warning.message) for warning in caught]


def files(folder):
    return sorted(folder.rglob("*.nbc*"))


def refuse(folder):
    """No user, not even root, can write below a file."""
    if folder.is_dir():
        folder.rmdir()
    folder.write_text("", encoding="utf-8")


def test_it_is_kept_with_the_package(kernels):
    assert run() == (7, 0, [])
    assert len(files(kernels / "package/kernels/__pycache__")) == 2
    assert run() == (7, 1, [])
    assert files(kernels / "home") == files(kernels / "temporary") == []


def test_a_chosen_folder_comes_before_all(kernels, monkeypatch):
    run()
    monkeypatch.setattr("numba.config.CACHE_DIR", str(kernels / "chosen"))
    assert run() == (7, 0, [])
    assert len(files(kernels / "chosen")) == 2
    assert run() == (7, 1, [])


def test_then_in_the_users_folder(kernels):
    refuse(kernels / "package/kernels/__pycache__")
    assert run() == (7, 0, [])
    assert len(files(kernels / "home")) == 2
    assert run() == (7, 1, [])


def test_homeless_it_is_kept_among_temporary_files_and_one_warning_says_so(kernels):
    refuse(kernels / "package/kernels/__pycache__")
    refuse(kernels / "home")
    value, hits, (message,) = run()
    (folder,) = (kernels / "temporary").iterdir()
    assert (value, hits) == (7, 0)
    assert f"is kept in {folder} instead" in message
    assert "NUMBA_CACHE_DIR" in message
    assert folder.stat().st_mode & 0o777 == 0o700
    assert run() == (7, 1, [])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know a user's folders in other ways")
def test_a_user_whom_the_machine_does_not_know_gets_no_folder_named_tilde(kernels, monkeypatch):
    """As in a container that is run with a number for a user."""
    refuse(kernels / "package/kernels/__pycache__")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    monkeypatch.chdir(kernels / "home")
    value, hits, (message,) = run()
    assert (value, hits) == (7, 0)
    assert "is kept in" in message
    assert list((kernels / "home").iterdir()) == []
    assert len(files(kernels / "temporary")) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="temporary files on Windows are the user's own")
@pytest.mark.parametrize("trap", ["open to all", "link"])
def test_code_in_a_folder_that_others_could_have_written_is_not_run(kernels, trap):
    refuse(kernels / "package/kernels/__pycache__")
    refuse(kernels / "home")
    folder = kernels / f"temporary/tightcut-kernels-{os.getuid()}"
    if trap == "link":
        (kernels / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(kernels / "elsewhere")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    for _ in range(2):
        value, hits, (message,) = run()
        assert (value, hits) == (7, 0)
        assert "is not kept" in message
    assert files(kernels) == []


def test_without_any_folder_it_works_and_one_warning_says_so(kernels, monkeypatch):
    refuse(kernels / "package/kernels/__pycache__")
    refuse(kernels / "home")
    monkeypatch.setattr(tempfile, "tempdir", str(kernels / "home/below_a_file"))
    value, hits, (message,) = run()
    assert (value, hits) == (7, 0)
    assert "is not kept: every new process compiles again" in message


@pytest.mark.parametrize("named", [False, True])
def test_the_current_folder_is_used_only_if_it_is_named(kernels, monkeypatch, named):
    """Where no folder for temporary files can be written, as in a read-only container, Python takes the current one."""
    refuse(kernels / "package/kernels/__pycache__")
    refuse(kernels / "home")
    monkeypatch.chdir(kernels / "temporary")
    for variable in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(variable, raising=False)
    if named:
        monkeypatch.setenv("TEMP", str(kernels / "temporary"))
    value, hits, (message,) = run()
    assert (value, hits) == (7, 0)
    assert ("is kept in" in message) == named
    assert ("is not kept" in message) != named
    assert len(files(kernels)) == (2 if named else 0)
    assert any((kernels / "temporary").iterdir()) == named


def test_a_full_disk_ends_nothing_and_leaves_no_scraps(kernels, monkeypatch):
    def dump_half(obj, file, **_options):
        file.write(pickle.dumps(obj)[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(
        "numba.core.caching.pickle", SimpleNamespace(load=pickle.load, loads=pickle.loads, dump=dump_half)
    )
    value, hits, (message,) = run()
    assert (value, hits) == (7, 0)
    assert "is not kept" in message
    assert files(kernels) == []


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["empty", "short", "half", "one byte missing", "one bit changed", "a folder", "old"])
def test_a_damaged_file_is_compiled_again(kernels, damage, kind):
    run()
    for file in kernels.rglob(f"*.{kind}"):
        whole = bytearray(file.read_bytes())
        length = {"empty": 0, "short": 40, "half": len(whole) // 2, "one byte missing": len(whole) - 1}.get(damage)
        whole[-200 if kind == "nbc" else -20] ^= damage == "one bit changed"
        file.write_bytes(b"\x80\x05N." if damage == "old" else whole[:length])
        if damage == "a folder":
            file.unlink()
            file.mkdir()
    assert run()[:2] == (7, 0)
    assert run() == (7, 1, [])


def test_an_edit_in_a_file_that_is_called_is_noticed(kernels):
    run()
    inner = kernels / "package/kernels/inner.py"
    inner.write_text(INNER.replace("v + 1", "v + 10"), encoding="utf-8")
    assert run() == (25, 0, [])
    assert len(files(kernels)) == 2, "code of the former source is overwritten"


@pytest.mark.parametrize("missing", ["CompileResultCacheImpl", "_CacheLocator", "IndexDataCacheFile.flush"])
@pytest.mark.parametrize("writable", [True, False])
def test_a_numba_without_these_hooks_compiles_in_its_own_way(kernels, monkeypatch, missing, writable):
    """As a later version may be."""
    if not writable:
        refuse(kernels / "package/kernels/__pycache__")
        refuse(kernels / "home")
    _warn_once.cache_clear()
    monkeypatch.delattr(f"numba.core.caching.{missing}")
    monkeypatch.delitem(sys.modules, "tightcut.kernels.cache")
    value, hits, (message,) = run()
    assert (value, hits) == (7, 0)
    assert f"numba {numba.__version__} lacks what kernels are compiled with" in message
    assert run()[1:] == (int(writable), []), "kept where numba can keep it, and said once"


def test_it_says_where_the_code_of_this_installation_is(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "new"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert cache.folders_in_use() == []
    (folder,) = cache._folders(Path(cache.__file__).resolve().parent)
    folder.mkdir(parents=True)
    assert cache.folders_in_use() == []
    (folder / "partition.refine.nbc").touch()
    assert cache.folders_in_use() == [folder]


def test_a_warm_up_that_cannot_keep_its_code_says_so(monkeypatch):
    """It hides all other warnings, which are about its made-up problems."""

    def neighbors():
        warnings.warn("about a made-up problem", stacklevel=1)
        warnings.warn("Compiled code cannot be written to a folder and is not kept", stacklevel=1)

    monkeypatch.setattr("tightcut.clustering.cluster.cluster", lambda *_arguments, **_keywords: None)
    monkeypatch.setattr("tightcut.warmup._steps_of_large_graphs", lambda *_arguments: None)
    monkeypatch.setattr("tightcut.warmup._search_for_neighbors", neighbors)
    with pytest.warns(UserWarning, match="Compiled code cannot be written") as caught:
        warmup()
    assert len(caught) == 1


def test_every_kernel_uses_it():
    modules = [
        importlib.import_module(f"tightcut.kernels.{module.name}") for module in pkgutil.iter_modules(_kernels.__path__)
    ]
    kernels = {value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)}
    assert len(kernels) > 40
    assert {type(kernel._cache) for kernel in kernels} == {cache.KernelCache}


def only_read():
    """Before the interpreter starts: take from root the right to write anywhere."""
    for capability in CAPABILITIES:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def start(kernels, statement, **options):
    paths = [str(kernels / "package"), str(Path(tightcut.__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(kernels / "temporary")}
    command = [sys.executable, "-B", "-W", "error", "-c", statement]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )


REPORT = "from kernels.outer import walk; print(walk(5), sum(walk.stats.cache_hits.values()))"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems take rights from a process in other ways")
@pytest.mark.parametrize("chosen", [False, True])
def test_a_cache_in_a_read_only_image_is_used(kernels, monkeypatch, chosen):
    if chosen:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(kernels / "chosen"))
        monkeypatch.setattr("numba.config.CACHE_DIR", str(kernels / "chosen"))
    run()
    refuse(kernels / "home")
    (folder,) = {file.parent for file in files(kernels)}
    assert folder.is_relative_to(kernels / "chosen") == chosen
    folder.chmod(0o555)
    if os.getuid() == 0:
        for path in (folder, *files(folder)):  # as if another user had built the image
            os.chown(path, 65534, 65534)
    attempt = f"import pathlib; pathlib.Path({str(folder / 'new')!r}).touch()"
    if start(kernels, attempt, preexec_fn=only_read).wait() == 0:
        pytest.skip("the right to write cannot be taken from this process")
    assert start(kernels, REPORT, preexec_fn=only_read).communicate()[0] == "7 1\n"
    folder.chmod(0o755)


FIT = """
import numpy as np
from tightcut import COSC, KnnAffinity

X = np.r_[np.zeros((9, 2)), np.ones((9, 2))] + np.arange(18)[:, None] / 100
print(COSC(2, n_neighbors=3, affinity=KnnAffinity(connect=False), effort=0, random_state=0).fit(X).n_clusters_)
"""


@pytest.mark.slow
def test_a_fit_in_a_sealed_installation_without_a_home(tmp_path):
    shutil.copytree(Path(tightcut.__file__).parent, tmp_path / "tightcut", ignore=shutil.ignore_patterns("__pycache__"))
    refuse(tmp_path / "tightcut/kernels/__pycache__")
    (tmp_path / "temporary").mkdir()
    environment = {"PYTHONPATH": str(tmp_path), "HOME": "/dev/null/home", "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-B", "-W", "ignore:The nearest", "-c", FIT]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert finished.stdout == "2\n", finished.stderr
    (warning,) = [line for line in finished.stderr.splitlines() if "Compiled code" in line]
    assert warning.startswith("<string>:6: UserWarning: Compiled code cannot be written to"), (
        "the line that calls the library"
    )


@pytest.mark.slow
def test_processes_may_compile_at_once(kernels):
    processes = [start(kernels, REPORT) for _ in range(3)]
    assert {process.communicate()[0][:2] for process in processes} == {"7 "}
    assert len(files(kernels)) == 2
    assert run() == (7, 1, [])


FIRST_FIT = """
import warnings
import numpy as np
from numba.core import event
from tightcut import COSC

warnings.simplefilter("ignore")
with event.install_recorder("numba:compile") as compiling:
    COSC(3, random_state=0).fit(np.random.default_rng(0).normal(size=(150, 4)))
kernels = [event.data["dispatcher"].py_func.__qualname__ for _, event in compiling.buffer if event.is_start]
print(len(kernels), *sorted(set(kernels)))
"""


@pytest.mark.slow
def test_a_first_fit_compiles_only_what_a_small_problem_needs(tmp_path):
    """Each kernel, and each part of numpy that a kernel uses, is a tenth of a second that a new user waits."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": str(Path(tightcut.__file__).parents[1]),
    }
    report = subprocess.run([sys.executable, "-c", FIRST_FIT], env=environment, capture_output=True, text=True)
    count, *kernels = report.stdout.split()
    assert 0 < int(count) <= 61, "see which are new, and whether a first fit needs them"
    assert "refine_partition" in kernels
    assert not {"peel", "complete_labels", "full", "array_sum_impl"} & set(kernels)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_waits_for_the_compiler_and_is_left_as_it_was(tmp_path, monkeypatch, enabled):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    seen = []
    monkeypatch.setattr(cache, "report_compiling", lambda: seen.append(gc.isenabled()))

    @compiled
    def halve(x):
        return x / 2

    @compiled
    def fail(x):
        return x.nothing_of_that_name

    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        assert halve(3.0) == 1.5
        with pytest.raises(TypingError):
            fail(3.0)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
    assert seen == [False, False]


@pytest.mark.usefixtures("kernels")
def test_compiling_is_reported_once_and_only_if_it_is_needed():
    reports = []
    for _ in range(2):
        with compiling_reported(lambda *report: reports.append(report)):
            run()
        assert reports == [("compiling", 0, 1, float("inf"))]


def test_without_progress_compiling_is_logged_once_in_a_process(kernels, caplog):
    compiling._log_once.cache_clear()
    with caplog.at_level("WARNING", logger="tightcut"):
        for _ in range(2):
            for file in files(kernels):
                file.unlink()
            with compiling_reported(None):
                assert run()[1] == 0
    (record,) = caplog.records
    assert re.match(r"tightcut: compiling once, about \d+ s", record.getMessage())


def test_the_line_of_progress_says_how_long_compiling_takes():
    stream = io.StringIO()
    line = ProgressLine(stream)
    line.say("has just said something else")
    with compiling_reported(line):
        report_compiling()
    assert re.fullmatch(r"tightcut: has .* else\ntightcut: compiling once, about \d+ s\n", stream.getvalue())


def test_a_kernel_is_compiled_once_for_integers_of_any_width(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))

    @compiled
    def add(x, step):
        return x[0] + step

    @compiled_sum
    def add_all(x):
        return add(x, 0) + add(x, np.int32(1)) + add(x, len(x)) + add(x, x[0])

    assert add_all(np.array([2.5, 1.0])) == 2.5 + 3.5 + 4.5 + 5.0
    assert [len(add.signatures), len(add_all.signatures)] == [2, 1]


@pytest.mark.parametrize("used", [False, True])
def test_a_private_kernel_is_for_kernels_only(tmp_path, monkeypatch, used):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))

    @compiled
    def _double(x):
        return 2 * x

    @compiled
    def double(x):
        return _double(x)

    assert not used or double(2.0) == 4.0
    with pytest.raises(TypeError, match="_double is a part of other kernels"):
        _double(2.0)
    assert _double.py_func(2.0) == 4.0
