"""The report as a person sees it, in Chromium: on a phone, on paper, by clicks."""

import shutil
from io import BytesIO

import numpy as np
import pytest

from tightcut import Constraints, Graph, knn_affinity
from tightcut.report import write_report


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no chromium")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A page of 10,000 points in 50 clusters with pairs, of which one is violated."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50), 200)
    X = 5 * rng.normal(size=(50, 6))[y] + rng.normal(size=(10_000, 6))
    pairs = Constraints.from_pairs(10_000, [(0, 1), (0, 9_999)], [(5, 7_000)])
    path = tmp_path_factory.mktemp("report") / "many.html"
    graph = Graph.from_affinity(knn_affinity(X, connect=False))
    write_report(
        path, graph, y, pairs, points=X, columns=list("abcdef"), prices=False, ids=[f"p{i}" for i in range(10_000)]
    )
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1400, "light"), (1400, "dark")])
def test_clicks_on_a_page_of_many_points(browser, many, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab, problems = context.new_page(), []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("request", lambda request: problems.append(request.url) if not request.url.startswith("file:") else None)
    tab.goto(many.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    captions = tab.locator("p.about, figcaption")
    assert all(box["x"] + box["width"] <= width for box in (part.bounding_box() for part in captions.all()))
    lit = tab.locator("use.on")
    tab.locator("#clusters tr[data-cluster='7'] th").click()
    assert 0 < lit.count() == tab.locator(".points[data-cluster='7'] use").count()
    assert tab.locator("#members h3").inner_text() == "Members of cluster 7"
    assert "p1400" in tab.locator("#members").inner_text()
    tab.locator("tr[data-pair='0 9999'] td").first.click()
    assert lit.count() == tab.locator(".ring").count() == 2
    assert tab.locator("output").inner_text() == "p0 and p9999"
    assert tab.locator("#members").is_hidden()
    tab.locator("input[type=search]").fill("p999")
    assert 0 < lit.count() <= 11
    tab.keyboard.press("Escape")
    assert lit.count() == 0
    before = tab.locator("figure > svg").get_attribute("viewBox")
    tab.get_by_label("Closer").click()
    assert float(tab.locator("figure > svg").get_attribute("viewBox").split()[2]) < float(before.split()[2])
    tab.get_by_text("Show all").click()
    assert [float(x) for x in tab.locator("figure > svg").get_attribute("viewBox").split()] == [
        float(x) for x in before.split()
    ]
    assert problems == []
    context.close()


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A page whose tables are as wide as they get: long names, named clusters that do not count from 0, sources of pairs."""
    X = np.random.default_rng(0).normal(size=(60, 4)) + 9 * np.eye(4)[np.repeat([0, 1, 2], 20)]
    pairs = Constraints.from_pairs(60, [(0, 1), (2, 59)], [(5, 30)])
    path = tmp_path_factory.mktemp("report") / "wide.html"
    write_report(
        path,
        Graph.from_affinity(knn_affinity(X, connect=False)),
        np.repeat([3, 5, 8], 20),
        pairs,
        points=X,
        columns=["length of the petal in mm", "width of the petal in mm", "length of the sepal", "b"],
        ids=[f"a-name-that-has-no-space-to-break-at-{i}" for i in range(60)],
        names={5: "Anna"},
        places=lambda kind, i, j: f"folder/of/{kind}.csv, line {i + j}",
    )
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("width", "media"), [(390, "screen"), (700, "print")])
def test_no_column_is_out_of_sight(browser, wide, width, media):
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.emulate_media(media=media)
    tab.goto(wide.as_uri())
    cells = "cells => cells.map(cell => cell.getBoundingClientRect().right)"
    assert max(tab.locator("td, tbody th").evaluate_all(cells)) <= width
    tab.close()


@pytest.mark.slow
def test_the_map_has_the_colours_of_clusters_and_of_violated_pairs(browser, wide):
    image = pytest.importorskip("matplotlib.image")
    tab = browser.new_page(color_scheme="light")
    tab.goto(wide.as_uri())
    drawn = image.imread(BytesIO(tab.locator("figure > svg").screenshot()))
    colours = {tuple(colour) for colour in (drawn[..., :3] * 255).round().astype(int).reshape(-1, 3).tolist()}
    assert {(0, 114, 178), (230, 159, 0), (0, 158, 115), (213, 94, 0)} <= colours
    tab.close()


@pytest.mark.slow
def test_a_cluster_is_called_by_its_own_name(browser, wide):
    tab = browser.new_page()
    tab.goto(wide.as_uri())
    for row, title in enumerate(["3", "Anna", "8"]):
        tab.locator("#clusters tbody tr").nth(row).locator("th").click()
        assert tab.locator("#members h3").inner_text() == f"Members of cluster {title}"
        assert tab.locator("output").inner_text() == f"Cluster {title}"
    tab.close()
