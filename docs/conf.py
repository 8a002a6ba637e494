"""How Sphinx builds this site. `make docs` runs it; every page with code is executed."""

import logging
import os
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
# What the pages import, in this process and in those that execute them.
places = [str(DOCS.parent / "src"), str(DOCS.parent), str(DOCS)]  # pullback; examples; embed
sys.path[:0] = places
given = filter(None, [os.environ.get("PYTHONPATH")])
os.environ["PYTHONPATH"] = os.pathsep.join([*places, *given])

# Kernels with no settings but ours: one of them is silent about its port, which is this machine's.
profile = DOCS / "_build" / "ipython" / "profile_default"
profile.mkdir(parents=True, exist_ok=True)
(profile / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 'ERROR'\n")
os.environ["IPYTHONDIR"] = str(profile.parent)
logging.getLogger("traitlets").setLevel("WARNING")  # a library of styles turns all loggers on

project = "pullback"
author = "the pullback developers"
copyright = author

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
source_suffix = {".md": "myst-nb"}

nb_execution_mode = "force"  # a cell that fails is a warning, and those are errors
nb_execution_timeout = 120
nb_output_stderr = "warn"
myst_heading_anchors = 3

default_role = "code"
autodoc_typehints = "none"
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = "pullback"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False


def to_restructured(app, what, name, obj, options, lines):
    """Docstrings are plain text: a star is a star, and what is indented stays as it is."""
    out, doctest, literal, last = [], False, False, ""
    for line in lines:
        indented = line.startswith("    ")
        if not line.strip():
            doctest = False
        elif line.lstrip().startswith(">>>"):
            doctest = True
        elif indented and not literal and not out[-1].strip() and not last.startswith("    "):
            out += ["::", ""]
            literal = True
        elif not indented:
            literal = False
        if line.strip():
            last = line
        out.append(line if doctest or literal else escaped(line))
    lines[:] = out


def escaped(line):
    """The line with stars outside of `code` escaped."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(p if p.startswith("`") else p.replace("*", r"\*") for p in parts)


def setup(app):
    app.connect("autodoc-process-docstring", to_restructured, priority=400)  # before napoleon
