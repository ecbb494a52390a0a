"""Sphinx configuration: `make docs`. Nothing is fetched from the network, neither by the build nor by its pages."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

from tightcut import __version__  # noqa: E402

project = "tightcut"
author = "tightcut developers"
project_copyright = "tightcut developers, BSD 3-Clause licence"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx.ext.viewcode",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "extensions.mathml",
    "extensions.docstrings",
    "extensions.measured",
]
exclude_patterns = ["_build", "gallery/backreferences/*", "results/*/*"]
templates_path = ["_templates"]
# Single backquotes in docstrings: a link where the name is known, code where it is not.
default_role = "py:obj"

html_theme = "furo"
html_title = f"tightcut {version}"
html_static_path = ["_static"]
html_css_files = ["tightcut.css"]
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#005a8c", "color-brand-content": "#0072b2"},
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#56b4e9"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "amsmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True

plot_formats = [("png", 110)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_basedir = str(DOCS)

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "extensions.gallery_order.place",
    "abort_on_example_error": True,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("tightcut",),
    "reference_url": {"tightcut": None},
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "write_computation_times": False,
}
