"""A headless Chromium for the tests of pages."""

import contextlib
import os
import re
import shutil
import time

import pytest

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # it is not to be had by root, as whom tests run in containers
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--force-device-scale-factor=1",
    "--window-size=1280,800",
)


@contextlib.contextmanager
def chromium():
    """Start Chromium and stop it at the end; its logs of console and network are kept.

    Without Chromium the test is skipped, or fails where the environment variable CI is set.
    """
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    missing = [name for name, path in programs.items() if path is None]
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        missing.append("selenium")
    if missing:
        refuse(f"The pages are not tested: {', '.join(missing)} not found.")
    options = webdriver.ChromeOptions()
    options.binary_location = programs["chromium"]
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(programs["chromedriver"]))
    try:
        yield driver
    finally:
        driver.quit()


def refuse(sentence):
    """Skip the test; in continuous integration, where a browser must be, fail."""
    if os.environ.get("CI"):
        pytest.fail(f"{sentence} Debian has them as chromium and chromium-driver.")
    pytest.skip(sentence)


def emulate(driver, scheme="light", motion="no-preference"):
    features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": name, "value": value} for name, value in features.items()]},
    )


def size(driver, width, height):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def find(driver, selector):
    return driver.find_element("css selector", selector)


def texts(driver, selector):
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((x) => x.textContent)", selector
    )


def text(driver, selector):
    return texts(driver, selector)[0]


def press(driver, *keys):
    """Press keys, wherever the focus is."""
    from selenium.webdriver import ActionChains

    ActionChains(driver).send_keys(*keys).perform()


def wait(condition, seconds=20):
    """Wait until a condition holds; a bound on a test that hangs, not on how fast it is."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def brightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


COLOURS = r"""
const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const channels = (colour) => {
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = colour;
  pixel.fillRect(0, 0, 1, 1);
  return [...pixel.getImageData(0, 0, 1, 1).data];
};
const luminance = (colour) => {
  const [r, g, b] = channels(colour).slice(0, 3).map((x) => x / 255)
    .map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one, other) => {
  const [a, b] = [luminance(one), luminance(other)].sort((p, q) => q - p);
  return (a + 0.05) / (b + 0.05);
};
"""

# The ratio of luminances of each text and of what lies behind it: the box of a node or of a cell,
# or the nearest background. Parts that are disabled are exempt.
CONTRASTS = (
    COLOURS
    + r"""
const behind = (element) => {
  if (element.closest(".heat, .badge"))
    return getComputedStyle(element.previousElementSibling).fill;
  if (element.closest("g.pips")) element = document.querySelector("#view");
  if (element.closest(".node"))
    return getComputedStyle(element.parentNode.querySelector(".box")).fill;
  const ground = () => getComputedStyle(element).backgroundColor;
  while (channels(ground())[3] < 255) element = element.parentElement;
  return ground();
};
return [...document.querySelectorAll("body *")]
  .filter((x) => [...x.childNodes].some((y) => y.nodeType === 3 && y.data.trim())
    && x.checkVisibility() && !x.closest("script, title, .unseen, :disabled, option")
    && !(x.closest(".skip")))
  .map((x) => {
    const style = getComputedStyle(x);
    const ink = x instanceof SVGElement ? style.fill : style.color;
    return [x.textContent, contrast(ink, behind(x))];
  });
"""
)

# The same of the lines of boxes and edges, and of the ground.
LINES = (
    COLOURS
    + r"""
const ground = getComputedStyle(document.querySelector(".picture")).backgroundColor;
return [...document.querySelectorAll(".box, .edge .line")]
  .filter((x) => getComputedStyle(x).opacity === "1")
  .map((x) => contrast(getComputedStyle(x).stroke, ground));
"""
)
