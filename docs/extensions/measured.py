"""The results page lists the tables that the experiments and the benchmarks have written, whichever there are."""

from pathlib import Path

DOCS = Path(__file__).parents[1]

BENCHMARKS = DOCS.parent / "benchmarks" / "results"
# In this order; others follow under their file's name.
TITLES = {
    "certificates": "How far cuts are from the smallest",
    "two_clusters": "Two clusters, against the authors' program",
    "paper_method": "The paper's algorithm, against the authors' program",
    "paper_ladder": "From the paper's algorithm to the search",
    "many_clusters_authors": "More than two clusters, against the authors' program",
    "many_clusters_peers": "More than two clusters, against other libraries",
    "pccc": "Against the figures published with PCCC",
    "versus": "Against spectral clustering and FAST-GE, on the same graph",
    "growth": "How time and memory grow",
    "large": "Large data",
    "pairs": "Reading millions of pairs",
    "resolving": "Scored pairs",
    "resolving_optima": "Scored pairs, against enumeration",
    "gpu": "On a GPU",
}


def append_results(_app, docname, source):
    if docname != "results":
        return
    pages = sorted(page.stem for page in (DOCS / "results").glob("*.md") if page.stem != "index")
    if (DOCS / "results" / "index.md").exists():
        source[0] += (
            "[The paper's experiments](results/index.md), beside rivals of our own making: tables and figures.\n"
        )
        entries = ["The paper's experiments <results/index>", *(f"results/{page}" for page in pages)]
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(entries) + "\n```\n"
    written = sorted(page.stem for page in BENCHMARKS.glob("*.md"))
    for name in sorted(written, key=lambda name: list(TITLES).index(name) if name in TITLES else len(TITLES)):
        # The first line is a title made for the file system.
        title = TITLES.get(name, name.replace("_", " ").capitalize())
        include = f"```{{include}} ../benchmarks/results/{name}.md\n:start-line: 1\n:relative-images:\n```"
        source[0] += f"\n## {title}\n\n{include}\n"


def always_outdated(_app, _env, _added, _changed, _removed):
    """The tables change without the page that lists them."""
    return ["results"]


def setup(app):
    app.connect("source-read", append_results)
    app.connect("env-get-outdated", always_outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
