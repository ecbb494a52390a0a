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
    code, out, err = run(f"{command.replace('--influence 0', '--influence 1')} --certify 1")
    assert code == 0, err
    assert "with influence 1 the fit does not look for the smallest cut" in err
    code, out, err = run(f"{command} --certify -1 -q")
    assert code == 2
    assert "--certify" in err


@pytest.mark.slow
def test_prices_are_proven_and_violations_are_allowed(run, folder):
    data = "moons.csv -k 2 --id name --drop class --constraints pairs.csv"
    with (folder / "pairs.csv").open("a", encoding="utf-8") as file:
        file.write("m00,m45,must\n")  # wrong, and so expensive
    code, out, err = run(f"audit {data} --certify 30 -o prices.csv --json")
    assert code == 0, err
    found = json.loads(out)
    assert 0 < found["bound"] <= found["cut"] * (1 + 1e-9)
    assert all(0 <= row["proven"] <= row["price"] + 1e-12 for row in found["constraints"])
    assert any(row["proven"] > 0 for row in found["constraints"])
    assert (folder / "prices.csv").read_text("utf-8").splitlines()[0].endswith(",proven")
    code, out, err = run(f"audit {data} --certify 30")
    assert " proven" in out
    code, out, err = run(f"cluster {data} --influence 0 --max-violations 1 --certify 30 --save soft.tcut")
    assert code == 0, err
    assert "no two clusters that violate at most 1 of belief have a cut below" in out + err
    code, out, err = run("certify soft.tcut -o soft.npz")
    assert code == 0, err
    assert run("verify soft.npz soft.tcut")[0] == 0
