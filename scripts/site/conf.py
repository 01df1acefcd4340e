"""Settings of Sphinx for the site. scripts/site/build calls it with the folder of `gather`."""

import os
from pathlib import Path

HERE = Path(__file__).parent

project = "Weir"
author = "the Weir developers"
# The label of the version, and the commit: those of `weir --version`.
version = release = os.environ.get("WEIR_SITE_VERSION", "")
language = "en"
root_doc = "index"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}

# Anchors are those of viewers of repositories.
myst_heading_anchors = 6
# The documents have these as plain text.
myst_disable_syntax = ["myst_block_break", "myst_line_comment", "myst_role", "myst_target"]
myst_enable_extensions = ["linkify", "strikethrough"]
smartquotes = False
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "Weir"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
templates_path = [str(HERE / "templates")]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/versions.html",
        "sidebar/scroll-end.html",
    ]
}
html_copy_source = html_show_sourcelink = False
html_use_index = False
html_show_sphinx = html_show_copyright = False
html_permalinks_icon = "#"

# Paper, ink, soft, grid and blue of crates/report/src/colours.rs, on light and on dark ground.
PAPER, INK, SOFT, GRID, BLUE = range(5)
LIGHT = ["#ffffff", "#1b1f23", "#5a6370", "#dde1e6", "#0072b2"]
DARK = ["#14171a", "#e6e8ea", "#a3adb8", "#30363d", "#4aa8e0"]
SANS = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif'
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, monospace'


def colours(of):
    """The colours of the theme."""
    return {
        "font-stack": SANS,
        "font-stack--monospace": MONO,
        "color-foreground-primary": of[INK],
        "color-foreground-secondary": of[SOFT],
        "color-foreground-muted": of[SOFT],
        "color-foreground-border": of[GRID],
        "color-background-primary": of[PAPER],
        "color-background-secondary": of[PAPER],
        "color-background-border": of[GRID],
        "color-sidebar-background": of[PAPER],
        "color-sidebar-background-border": of[GRID],
        "color-brand-primary": of[BLUE],
        "color-brand-content": of[BLUE],
        "color-brand-visited": of[BLUE],
    }


html_theme_options = {
    "light_css_variables": colours(LIGHT),
    "dark_css_variables": colours(DARK),
    "top_of_page_buttons": [],
    "navigation_with_keys": True,
}
html_context = {"folder": os.environ.get("WEIR_SITE_FOLDER", "")}
