"""tightcut certify and tightcut verify."""

import json
import re

import pytest


@pytest.fixture
def model(run):
    assert (
        run("cluster moons.csv -k 2 --id name --drop class --constraints pairs.csv --influence 0 --save model.tcut -q")[
            0
        ]
        == 0
    )
    return "model.tcut"


@pytest.mark.slow
def test_a_proof_is_written_and_checked(run, model, folder):
    code, out, err = run(f"certify {model} -o proof.npz --json")
    assert code == 0, err
    facts = json.loads(out)
    assert facts["bound"] <= facts["cut"]
    assert facts["gap"] < 1e-2
    code, out, err = run(f"verify proof.npz {model}")
    assert code == 0, err
    assert out.startswith("verified: cut ")
    code, out, err = run("cluster moons.csv -k 2 --id name --drop class --influence 0 --save other.tcut -q")
    code, out, err = run("verify proof.npz other.tcut")
    assert code == 1
    assert "other pairs" in err
    content = bytearray((folder / "proof.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "proof.npz").write_bytes(content)
    assert run(f"verify proof.npz {model}")[0] == 1


@pytest.mark.slow
def test_cluster_proves_its_cut_and_the_report_shows_it(run, folder):
    command = "cluster moons.csv -k 2 --id name --drop class --constraints pairs.csv --influence 0 --no-prices"
    code, out, err = run(f"{command} --certify 30 --report page.html --json")
    assert code == 0, err
    facts = json.loads(out)
    assert 0 < facts["bound"] <= facts["cut"]
    assert facts["gap"] < 1e-2
    page = (folder / "page.html").read_text("utf-8")
    shown = float(re.search(r"have a cut below ([\d.]+)", page)[1])
    assert 0.99 * facts["bound"] < shown <= facts["bound"]
    assert page.count("<polyline") == 2
    code, out, err = run(f"{command} --certify -1 -q")
    assert code == 2
    assert "--certify" in err
