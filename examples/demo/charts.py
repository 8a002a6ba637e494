"""Line charts as inline SVG that follows the page's colours, and images as data URIs."""

import base64
import io
import re

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.ticker import FuncFormatter

# Each stand-in colour is replaced by a CSS variable, which the page sets for light and for dark.
VARIABLES = {
    "#010101": "var(--ink)",
    "#020202": "var(--rule)",
    "#030303": "var(--first)",
    "#040404": "var(--second)",
    "#050505": "var(--third)",
}
INK, RULE, *SERIES = VARIABLES
STYLE = {
    "axes.edgecolor": RULE,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",  # text stays text, in the font of the page
    "xtick.color": INK,
    "xtick.labelcolor": INK,
    "ytick.color": INK,
    "ytick.labelcolor": INK,
}


def chart(title, series, xlabel, ylabel, log="", mark=None, marker=""):
    """Draw {name: (x, y)} as lines; `log` names the logarithmic axes, `mark` is (name, height)."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": title}):
        figure = Figure(figsize=(5.2, 3.2), layout="constrained")
        axes = figure.add_subplot(xlabel=xlabel, ylabel=ylabel)
        for i, (name, (x, y)) in enumerate(series.items()):
            style = {"color": SERIES[i], "zorder": 3 - i / 10}  # the first lies on top
            axes.plot(x, y, label=name, marker=marker, markersize=4, **style)
        if mark is not None:
            name, height = mark
            axes.axhline(height, color=SERIES[1], linestyle="--", linewidth=1.2, label=name)
        for axis in log:
            getattr(axes, f"set_{axis}scale")("log")
            getattr(axes, f"{axis}axis").set_major_formatter(FuncFormatter(power_of_ten))
            getattr(axes, f"{axis}axis").set_minor_formatter(FuncFormatter(lambda value, _: ""))
        if len(series) > 1 or mark is not None:
            figure.legend(loc="outside upper left", ncols=2)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True)
    return inline(buffer.getvalue(), title)


def power_of_ten(value, _position):
    """Label a tick in Unicode, since mathematical text would bring a font of its own."""
    exponent = str(round(np.log10(value)))
    return "10" + exponent.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def inline(svg, title):
    """Cut an SVG file down to the element that a page embeds."""
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    for stand_in, variable in VARIABLES.items():
        svg = svg.replace(stand_in, variable)
    return svg.replace("<svg", f'<svg class="chart" role="img" aria-label="{title}"', 1)


def image(pixels):
    """Encode an image with values between 0 and 1 as the address of a PNG."""
    buffer = io.BytesIO()
    imsave(buffer, pixels, cmap="gray", vmin=0, vmax=1, format="png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
