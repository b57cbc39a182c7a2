"""How `make docs` makes a site: Markdown by MyST, docstrings by numpydoc, without network."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx

import spatialops

# What precedes the target of a link or picture that is a file beside the document.
TARGET = re.compile(r"(\]\(|src=\")(?!\w+:|#)")

# Packages with pages of their own.
FACES = ("models", "simulation", "contact", "collision", "control", "sensors", "errors")


def homes() -> dict[str, str]:
    """Full names of what packages share with `spatialops` itself, and the name that has a page."""
    shared = {}
    for face in FACES:
        module = import_module(f"spatialops.{face}")
        for name in getattr(module, "__all__", ()):
            item = getattr(module, name)
            if name in spatialops.__all__ and getattr(spatialops, name) is item:
                shared[f"spatialops.{face}.{name}"] = f"spatialops.{name}"
    return shared


project = "spatialops"
author = "The spatialops developers"
project_copyright = author
version = release = spatialops.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["_templates"]
templates_path = ["_templates"]
html_static_path = ["_static"]

# ------------------------------------------------------------------------------------------ pages
myst_heading_anchors = 3
highlight_language = "none"  # indented blocks are commands, equations and sketches

# Documents of the top folder, and the pages that they are on the site.
TOP = {
    "README.md": "index",
    "ARCHITECTURE.md": "architecture",
    "CONVENTIONS.md": "conventions",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
}

# -------------------------------------------------------------------------------------- notebooks
nb_execution_mode = "force"  # figures and times are of this build
nb_execution_raise_on_error = True
nb_execution_in_temp = True  # what they write is not left among the sources
nb_merge_streams = True  # what a cell prints stands in one box
nb_execution_timeout = 600  # s a cell: kernels may have to be compiled

# ------------------------------------------------------------------------------------- docstrings
autosummary_imported_members = True
autosummary_ignore_module_all = False
autosummary_context = {"home": homes()}
autodoc_typehints = "none"  # numpydoc's sections have the types
default_role = "code"
numpydoc_show_class_members = False  # autodoc lists them

# ------------------------------------------------------------------------------------------ looks
html_theme = "pydata_sphinx_theme"
html_title = "spatialops"
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}  # without, the theme complains in the console
html_theme_options = {
    "logo": {"text": "spatialops"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def setup(app: Sphinx) -> None:
    """Register what reads sources before Sphinx does."""
    app.connect("source-read", put_top_documents)
    app.connect("autodoc-process-docstring", keep_bars)


def put_top_documents(app: Sphinx, page: str, source: list[str]) -> None:
    """Pages of `TOP` begin with their document; links to these documents lead to the pages."""
    for name, at in TOP.items():
        if page == at:
            text = (Path(app.srcdir).parent / name).read_text()
            source[0] = TARGET.sub(r"\g<1>../", text).replace("../docs/", "") + source[0]
    for name, at in TOP.items():
        source[0] = source[0].replace(f"](../{name}", f"]({at}.md")


def keep_bars(
    app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]
) -> None:
    """|x| is an absolute value, not one of docutils' substitutions; code stays as it is."""
    for k, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        parts = re.split(r"(``.*?``|`.*?`)", line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[k] = "".join(parts)
