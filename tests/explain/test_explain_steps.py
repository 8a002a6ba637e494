"""The page of `pullback.explain` in a browser: its steps, and the same numbers as the engine's."""

import importlib.util
import json
import re
import time

import numpy as np
import pytest

import pullback as pb
from pullback.explain.page import page
from tests.browser import (
    CONTRASTS,
    LINES,
    brightness,
    chromium,
    emulate,
    find,
    press,
    size,
    text,
    texts,
    wait,
)
from tests.explain.test_explain_page import TWO, broken, layers, long, newton, tape, weights


@pytest.fixture(scope="module")
def driver():
    with chromium() as driver:
        yield driver


@pytest.fixture
def show(driver, tmp_path):
    """Show an explanation, or the text of a page; at the end the console must be empty."""

    def show(what, step=""):
        path = tmp_path / "page.html"
        path.write_text(what if isinstance(what, str) else page(what.data()), encoding="utf-8")
        driver.get("about:blank")
        driver.get(f"{path.as_uri()}#{step}")
        return driver

    emulate(driver)
    size(driver, 1280, 800)
    yield show
    assert driver.get_log("browser") == []


def at(driver):
    return int(find(driver, "body").get_attribute("data-step"))


def last(driver):
    return int(find(driver, "#slider").get_attribute("max"))


def digits(driver, quantity):
    """Return the array that the panel shows as its value, tangent or cotangent."""
    return driver.execute_script(
        """
        const all = [...document.querySelectorAll("#panel .quantities > .quantity")];
        const one = all.find((x) => x.querySelector("h3").textContent === arguments[0]);
        return one?.querySelector(".array")?.dataset.text ?? null;
        """,
        quantity,
    )


def numbers(text):
    """Read the digits of an array."""
    return np.array(re.findall(r"[-+.\w]+", text), dtype=float)


def same(text, x):
    """Whether digits on the page are those of x, as far as they are printed."""
    np.testing.assert_allclose(numbers(text), np.ravel(x), rtol=1e-4, atol=1e-5)
    return True


def state(driver):
    """All that the page shows now."""
    return driver.execute_script(
        """
        const picture = [...document.querySelectorAll(".node, .edge")].map((x) =>
          [[...x.classList].sort(), x.getAttribute("aria-label"), x.textContent]);
        return [picture, document.querySelector("#panel").innerHTML,
          [...document.querySelectorAll("#source .lit")].map((x) => x.className + x.value),
          document.querySelector("#slider").value];
        """
    )


class TestSteps:
    """Stepping through the two passes."""

    @pytest.mark.share(3)
    @pytest.mark.parametrize("program", [tape, layers, newton])
    def test_all_steps(self, show, rng, program):
        """Each step shows the data of its node; the way back shows the same in reverse."""
        args = {tape: TWO, layers: (weights(rng), rng.normal(size=(5, 3))), newton: (2.0,)}
        explanation = pb.explain(program)(*args[program])
        data = explanation.data()
        driver = show(explanation)
        seen = [state(driver)]
        assert text(driver, ".phase") == "Start"
        for count, id in enumerate(data["forward"], 1):
            find(driver, "#next").click()
            self.check_forward(driver, data, count, data["nodes"][id])
            seen.append(state(driver))
        find(driver, "#next").click()
        assert text(driver, ".phase") == "Turn"
        seen.append(state(driver))
        for count, step in enumerate(data["backward"], 1):
            find(driver, "#next").click()
            self.check_backward(driver, data, count, step)
            seen.append(state(driver))
        assert at(driver) == last(driver)
        assert not find(driver, "#next").is_enabled()
        for before in reversed(seen[:-1]):
            find(driver, "#back").click()
            assert state(driver) == before
        assert not find(driver, "#back").is_enabled()

    def check_forward(self, driver, data, count, node):
        assert text(driver, ".phase") == f"Forward {count} of {len(data['forward'])}"
        assert find(driver, ".node.at-work").get_attribute("data-id") == str(node["id"])
        if node["kind"] != "fold":
            assert digits(driver, "Value") == node["value"]["text"]
        if node["line"] is not None:
            assert find(driver, "#source .lit").get_attribute("value") == str(node["line"])
        if node["rule"]:
            assert text(driver, ".rule code") == node["rule"]

    def check_backward(self, driver, data, count, step):
        node = data["nodes"][step["node"]]
        assert text(driver, ".phase") == f"Backward {count} of {len(data['backward'])}"
        assert find(driver, ".node.at-work").get_attribute("data-id") == str(node["id"])
        if node["kind"] != "fold":
            assert digits(driver, "Cotangent") == node["cotangent"]["text"]
        lit = {(edge["from"], edge["to"]) for edge in data["edges"] if edge["live"]}
        receivers = {give["to"] for give in step["gives"]}
        expected = [pair for pair in lit if pair[1] == node["id"] and pair[0] in receivers]
        assert len(texts(driver, ".edge.lit-backward")) == len(expected)
        if len(step["gives"]) > 5:
            return
        items = driver.find_elements("css selector", ".gives > li")
        for item, give in zip(items, step["gives"], strict=True):
            assert item.get_attribute("data-to") == str(give["to"])
            receipt = item.find_element("css selector", ".received").get_attribute("textContent")
            assert receipt == f"received {give['received']} of {give['of']}"
            shown = item.find_element("css selector", ".array").get_attribute("data-text")
            assert shown == give["value"]["text"]
        for give in {give["to"]: give for give in step["gives"]}.values():
            receiver = find(driver, f".node[data-id='{give['to']}']")
            spoken = receiver.get_attribute("aria-label")
            assert f"received {give['received']} of {give['of']}" in spoken

    def test_engine(self, show, rng):
        """The numbers on the page are those of `grad`, `jvp` and the function itself."""
        w, x = weights(rng), rng.normal(size=(5, 3))
        driver = show(pb.explain(layers)(w, x), "end")
        gradients = pb.grad(layers, argnums=(0, 1))(w, x)
        expected = {f"w['{name}']": array for name, array in gradients[0].items()}
        expected["x"] = gradients[1]
        given = {f"w['{name}']": array for name, array in w.items()} | {"x": x}
        for node in driver.find_elements("css selector", ".node.input"):
            node.click()
            name = text(driver, "#panel h2 span")
            assert same(digits(driver, "Value"), given[name])
            assert same(digits(driver, "Cotangent"), expected.pop(name))
        assert not expected
        find(driver, ".node:has(.ring)").click()
        assert same(digits(driver, "Value"), layers(w, x))

    def test_tangents(self, show):
        """Forward mode is shown where it was asked for."""
        driver = show(pb.explain(tape, tangents=(1.0, 0.5))(*TWO), "end")
        find(driver, ".node:has(.ring)").click()
        assert same(digits(driver, "Tangent"), pb.jvp(tape, TWO, (1.0, 0.5))[1])

    def test_accumulation(self, show):
        """A node used twice has received 1 of 2 in between, in the picture and in the panel."""
        explanation = pb.explain(tape)(*TWO)
        driver = show(explanation, len(explanation.data()["forward"]) + 1)
        node = ".node[data-id='0']"
        for received in (0, 1, 2):
            while f"received {received} of 2" not in find(driver, node).get_attribute("aria-label"):
                find(driver, "#next").click()
            pips = {kind: len(texts(driver, f"{node} .pips .{kind}")) for kind in ("full", "open")}
            assert pips == {"full": received, "open": 2 - received}
            step = at(driver)
            find(driver, node).click()
            assert text(driver, ".quantities .received") == f"received {received} of 2"
            assert at(driver) == step

    def test_slider(self, show):
        """The slider goes to any step, and says where it is."""
        driver = show(pb.explain(tape)(*TWO))
        driver.execute_script(
            "const x = document.querySelector('#slider'); x.value = 3;"
            "x.dispatchEvent(new Event('input', { bubbles: true }))"
        )
        assert at(driver) == 3
        assert find(driver, "#slider").get_attribute("aria-valuetext").startswith("Forward 3 of")

    def test_play(self, show):
        """Play goes through all steps, can be paused, and begins again at the end."""
        driver = show(pb.explain(tape)(*TWO))
        find(driver, "#speed").send_keys("very fast")
        find(driver, "#play").click()
        assert find(driver, "#play").get_attribute("aria-label") == "Pause"
        wait(lambda: at(driver) == last(driver))
        wait(lambda: find(driver, "#play").get_attribute("aria-label") == "Play")
        find(driver, "#play").click()
        wait(lambda: 0 < at(driver) < last(driver))
        find(driver, "#back").click()
        paused = at(driver)
        time.sleep(0.4)
        assert at(driver) == paused

    def test_without_derivative(self, show):
        """A program whose output has no derivative has a forward pass alone."""
        driver = show(pb.explain(lambda x: np.floor(x) > 0)(1.5), "end")
        assert text(driver, ".phase").startswith("Forward")
        assert "Backward" not in find(driver, ".track").text

    def test_identity(self, show):
        """An output that is an input receives the first cotangent and hands it to nobody."""
        driver = show(pb.explain(lambda x: x)(1.5), "end")
        assert text(driver, ".phase") == "Turn"
        assert same(digits(driver, "Cotangent"), 1.0)


@pytest.mark.share(2)
class TestFindings:
    """What the gradient would miss, and where numbers go wrong."""

    def test_marks(self, show):
        """NaN and infinity are marked, the first one apart; sentences lead to the nodes."""
        driver = show(pb.explain(broken)(np.array([-1.0, 0.0, 2.0])))
        first = find(driver, ".node.first-nan")
        assert "log" in first.get_attribute("aria-label")
        assert first.find_element("css selector", ".badge.first").text == "first NaN"
        assert len(texts(driver, ".node.first-nan")) == 1
        assert len(texts(driver, ".node.nan")) > 1
        sentences = texts(driver, ".finding")
        assert any(s.startswith("NaN and ∞ first arise at log") for s in sentences)
        assert any(s.endswith("not reached by the gradient") for s in sentences)

    def test_missed(self, show):
        """The sentence goes from one node that is not reached to the next."""
        data = pb.explain(broken)(np.array([1.0, 2.0])).data()
        missed = [node["id"] for node in data["nodes"] if "missed" in node["marks"]]
        assert len(missed) == 3
        driver = show(page(data))
        button = find(driver, ".finding.missed")
        assert button.text.startswith("3 nodes are not reached by the gradient")
        for id in [*missed, missed[0]]:
            button.click()
            assert find(driver, ".card").get_attribute("data-id") == str(id)
            assert find(driver, ".node.selected").get_attribute("data-id") == str(id)
        assert "No cotangent reaches this node" in find(driver, "#panel").text

    def test_nan_on_the_way_back(self, show):
        """Where a rule makes the first NaN of the backward pass, a sentence leads to it."""
        driver = show(pb.explain(lambda x: np.sqrt(x * x))(0.0))
        (sentence,) = texts(driver, ".finding")
        assert sentence == "In the backward pass NaN first arises at multiply #1"
        find(driver, ".finding").click()
        assert find(driver, ".card").get_attribute("data-id") == "1"
        assert "first NaN ←" in texts(driver, ".tag")
        assert find(driver, ".node.first-nan-cotangent").get_attribute("data-id") == "1"

    def test_fold(self, show):
        """A fold says what it holds."""
        driver = show(pb.explain(newton)(2.0))
        find(driver, ".node.fold").click()
        assert text(driver, ".fold-text") == "198 times 3 operations: divide, add"

    def test_nothing_to_find(self, show):
        """A sound program has no findings."""
        driver = show(pb.explain(newton)(2.0))
        assert texts(driver, ".finding") == []


@pytest.mark.share(2)
class TestKeyboard:
    """Everything works without a mouse."""

    def test_steps(self, show):
        from selenium.webdriver.common.keys import Keys

        driver = show(pb.explain(tape)(*TWO))
        press(driver, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        assert at(driver) == 2
        press(driver, Keys.ARROW_LEFT)
        assert at(driver) == 1
        press(driver, Keys.END)
        assert at(driver) == last(driver)
        press(driver, Keys.HOME)
        assert at(driver) == 0
        press(driver, Keys.SPACE)
        wait(lambda: at(driver) >= 2)
        press(driver, Keys.SPACE)
        assert "playing" not in find(driver, "body").get_attribute("class")

    def test_slider_has_no_second_step(self, show):
        """With the focus on the slider an arrow key makes one step as elsewhere."""
        from selenium.webdriver.common.keys import Keys

        driver = show(pb.explain(tape)(*TWO))
        driver.execute_script("document.querySelector('#slider').focus()")
        press(driver, Keys.ARROW_RIGHT)
        assert at(driver) == 1

    def test_nodes(self, show):
        """Tab reaches the nodes, and the path lights up; Enter selects, Escape returns."""
        from selenium.webdriver.common.keys import Keys

        data = pb.explain(tape)(*TWO).data()
        driver = show(page(data), 2)
        focus = "return document.activeElement.dataset.id ?? document.activeElement.className"
        wait(lambda: press(driver, Keys.TAB) or driver.execute_script(focus) == "skip")
        seen = []
        for _ in data["nodes"]:
            press(driver, Keys.TAB)
            seen.append(driver.execute_script(focus))
        assert seen == [str(node["id"]) for node in data["nodes"]]
        assert len(texts(driver, ".following .node.on-path")) > 1
        press(driver, Keys.ENTER)
        assert find(driver, ".card").get_attribute("data-id") == seen[-1]
        press(driver, Keys.ESCAPE)
        assert find(driver, ".card").get_attribute("data-id") == str(data["forward"][1])

    def test_skip(self, show):
        """A link leads past the nodes."""
        from selenium.webdriver.common.keys import Keys

        driver = show(pb.explain(tape)(*TWO))
        driver.execute_script("document.querySelector('.skip').focus()")
        press(driver, Keys.ENTER)
        assert driver.execute_script("return document.activeElement.id") == "panel"

    def test_help(self, show):
        """A line says which keys there are."""
        keys = texts(show(pb.explain(tape)(*TWO)), "footer kbd")
        assert keys == ["←", "→", "Space", "Home", "End", "Tab", "Enter", "Esc"]


@pytest.mark.share(2)
class TestReaders:
    """Screen readers, motion, colours, size."""

    def test_spoken(self, show):
        """Each step is spoken, with its numbers."""
        explanation = pb.explain(tape)(*TWO)
        driver = show(explanation)
        find(driver, "#last").click()
        spoken = text(driver, "[aria-live='polite']")
        count = len(explanation.data()["backward"])
        assert spoken.startswith(f"Backward {count} of {count}. ")
        assert re.search(r"to x1 #0 \(received 2 of 2, in all [-\d.]+\)", spoken)

    def test_names(self, show):
        """Everything that can be focused has a role and a name."""
        driver = show(pb.explain(tape)(*TWO), "end")
        for element in driver.find_elements("css selector", "button, select, input, .node, .heat"):
            assert element.accessible_name, element.get_attribute("outerHTML")
        assert {node.aria_role for node in driver.find_elements("css selector", ".node")} == {
            "button"
        }
        assert len(texts(driver, ".node[aria-current='step']")) == 1
        lang = driver.execute_script("return document.documentElement.lang")
        assert lang == "en"

    def test_motion(self, show, driver):
        """A lit edge flows, unless less motion is asked for."""
        for motion, moves in (("no-preference", True), ("reduce", False)):
            emulate(driver, motion=motion)
            show(pb.explain(tape)(*TWO), "end")
            style = driver.execute_script(
                "const x = getComputedStyle(document.querySelector('.lit-backward .flow'));"
                "const y = getComputedStyle(document.querySelector('.node .box'));"
                "return [x.animationName, y.transitionDuration]"
            )
            assert (style[0] != "none") == moves
            assert any(float(x.strip("s ")) > 0 for x in style[1].split(",")) == moves

    def test_motion_of_scrolling(self, show, driver):
        """With reduced motion the picture jumps to the node, at once."""
        emulate(driver, motion="reduce")
        show(pb.explain(long)(0.5))
        find(driver, "#last").click()
        find(driver, "#first").click()
        find(driver, "#next").click()
        assert driver.execute_script("return document.querySelector('#view').scrollTop") < 60
        driver.execute_script("document.querySelector('#last').click()")
        inside = """
            const pane = document.querySelector("#view").getBoundingClientRect();
            const node = document.querySelector(".at-work").getBoundingClientRect();
            return node.top >= pane.top && node.bottom <= pane.bottom;
        """
        assert driver.execute_script(inside)

    def test_the_start_shows_the_first_input(self, show, driver):
        """Of a picture that is wider than the pane, at first and after going back."""

        def wide(x):
            return sum([np.sin(k * x) * np.cos(x + k) for k in range(1, 13)])

        emulate(driver, motion="reduce")
        show(pb.explain(wide)(0.5))
        inside = """
            const pane = document.querySelector("#view").getBoundingClientRect();
            const node = document.querySelector(".node[data-id='0']").getBoundingClientRect();
            return node.left >= pane.left && node.right <= pane.right && node.top >= pane.top;
        """
        assert driver.execute_script(inside)
        find(driver, "#last").click()
        find(driver, "#first").click()
        assert driver.execute_script(inside)

    def test_theme(self, show, driver):
        """The page is as dark as the system, and a button changes that."""
        light = "return getComputedStyle(document.body).backgroundColor"
        for scheme in ("light", "dark"):
            emulate(driver, scheme=scheme)
            show(pb.explain(tape)(*TWO))
            before = brightness(driver.execute_script(light))
            assert (before > 128) == (scheme == "light")
            pressed = "false" if scheme == "light" else "true"
            assert find(driver, "#theme").get_attribute("aria-pressed") == pressed
            find(driver, "#theme").click()
            assert (brightness(driver.execute_script(light)) > 128) != (scheme == "light")
            assert find(driver, "#theme").get_attribute("aria-pressed") != pressed

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("step", ["0", "3", "6", "end"])
    def test_contrast(self, show, driver, scheme, step):
        """All text has a contrast of at least 4.5 with what is behind it (WCAG 2.2, AA)."""
        emulate(driver, scheme=scheme, motion="reduce")
        show(pb.explain(broken)(np.array([-1.0, 0.0, 2.0])), step)
        measured = driver.execute_script(CONTRASTS)
        assert len(measured) > 30
        low = [(text, round(ratio, 2)) for text, ratio in measured if ratio < 4.5]
        assert low == []

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_contrast_of_lines(self, show, driver, scheme):
        """Boxes and edges have a contrast of at least 3 with the ground (WCAG 2.2, AA)."""
        emulate(driver, scheme=scheme, motion="reduce")
        for step in ("0", "3", "end"):
            show(pb.explain(tape)(*TWO), step)
            assert min(driver.execute_script(LINES)) >= 3

    @pytest.mark.parametrize("width", [320, 400, 736, 1280])
    def test_width(self, show, driver, rng, width):
        """No page is wider than the window."""
        size(driver, width, 800)
        show(pb.explain(layers)(weights(rng), rng.normal(size=(5, 3))), "end")
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width
        for id in ("first", "back", "play", "next", "last", "slider"):
            assert find(driver, f"#{id}").is_displayed()

    def test_path(self, show):
        """The pointer on a node lights what it comes from and what comes of it."""
        from selenium.webdriver import ActionChains

        data = pb.explain(tape)(*TWO).data()
        driver = show(page(data), "end")
        id = next(node["id"] for node in data["nodes"] if node["name"] == "sin")
        ActionChains(driver).move_to_element(find(driver, f".node[data-id='{id}']")).perform()
        path = {
            int(node.get_attribute("data-id"))
            for node in driver.find_elements("css selector", ".following .on-path.node")
        }
        names = {data["nodes"][i]["name"] for i in path}
        assert {"x1", "sin", "multiply"} <= names
        assert not {"x2", "floor"} & names


@pytest.mark.share(2)
class TestElsewhere:
    """The page among others, and with hostile contents."""

    def test_no_request(self, show, driver):
        """Nothing is asked of the network."""
        driver.get_log("performance")
        show(pb.explain(tape)(*TWO), "end")
        events = [
            json.loads(entry["message"])["message"] for entry in driver.get_log("performance")
        ]
        asked = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        assert asked
        assert all(url.startswith(("file:", "about:", "data:")) for url in asked)

    def test_frames(self, show, driver, tmp_path):
        """Two pages side by side in frames do not disturb each other, or the page around them."""
        for name, fun in (("one", tape), ("two", lambda x1, x2: np.cos(x1) - x2)):
            pb.explain(fun)(*TWO).save(tmp_path / f"{name}.html")
        around = (
            "<!doctype html><title>around</title><p style='height: 900px'>before</p>"
            + "".join(
                f"<iframe title='{name}' src='{name}.html' width='620' height='600'></iframe>"
                for name in ("one", "two")
            )
        )
        show(around)
        one, two = driver.find_elements("css selector", "iframe")
        driver.switch_to.frame(one)
        driver.execute_script("document.querySelector('#next').click()")
        assert at(driver) == 1
        driver.switch_to.default_content()
        assert driver.execute_script("return scrollY") == 0
        driver.switch_to.frame(two)
        assert at(driver) == 0
        assert text(driver, "h1") != "explain(tape)"
        driver.switch_to.default_content()

    def test_sandbox(self, show, driver):
        """It works in a frame that has no storage and no origin."""
        inner = page(pb.explain(tape)(*TWO).data()).replace("&", "&amp;").replace('"', "&quot;")
        show(
            "<!doctype html><title>around</title>"
            f'<iframe sandbox="allow-scripts" width="800" height="600" srcdoc="{inner}"></iframe>'
        )
        driver.switch_to.frame(find(driver, "iframe"))
        find(driver, "#next").click()
        find(driver, "#theme").click()
        assert at(driver) == 1
        driver.switch_to.default_content()

    def test_hostile(self, show, tmp_path):
        """Names and lines with markup are shown as they are, and nothing in them runs."""
        hostile = "</script><img src=x onerror='window.ran = 1'>\u2028<script>window.ran=1</script>"
        path = tmp_path / "hostile.py"
        path.write_text(f"def fun(tree):\n    return tree[{hostile!r}] * 2.0  # {hostile!r}\n")
        spec = importlib.util.spec_from_file_location("hostile", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        data = pb.explain(module.fun)({hostile: 1.5}).data() | {"title": hostile}
        driver = show(page(data), "end")
        assert driver.execute_script("return window.ran ?? null") is None
        assert text(driver, "h1") == hostile
        assert hostile.encode("unicode_escape").decode() in text(driver, "#source .lit")
        assert "<img" in data["nodes"][0]["name"]
        find(driver, ".node.input").click()
        assert text(driver, "#panel h2 span") == data["nodes"][0]["name"]
        assert len(driver.find_elements("css selector", "img")) == 0

    def test_chosen_step(self, show):
        """An address can lead to a step, in or out of range."""
        explanation = pb.explain(tape)(*TWO)
        assert at(show(explanation, 4)) == 4
        driver = show(explanation, 10_000)
        assert at(driver) == last(driver)
        assert at(show(explanation, "nowhere")) == 0

    @pytest.mark.share(3)
    def test_many_nodes(self, show):
        """With two hundred nodes of large arrays the page steps and shows heat maps."""
        driver = show(pb.explain(long)(np.linspace(-3, 3, 3600).reshape(60, 60)), 100)
        assert len(texts(driver, ".heat rect")) >= 64
        find(driver, "#next").click()
        assert at(driver) == 101
