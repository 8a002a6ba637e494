// What is shown now, and the controls that change it.

const now = { at: 0, chosen: null, timer: null, moved: false };

function paint() {
  const step = steps[now.at], states = statesAfter(now.at);
  paintPicture(step, states, now.chosen);
  paintPanel(step, states, now.chosen);
  paintSource(step, now.chosen);
  const slider = place("slider"), last = steps.length - 1;
  slider.value = now.at;
  slider.setAttribute("aria-valuetext", `${titleOf(step)}. ${sentence(step)}`);
  const share = (at) => `${100 * at / Math.max(last, 1)}%`;
  slider.style.setProperty("--done-forward", share(Math.min(now.at, turn)));
  slider.style.setProperty("--done-backward", share(Math.max(now.at, turn)));
  for (const id of ["first", "back"]) place(id).disabled = now.at === 0;
  for (const id of ["next", "last"]) place(id).disabled = now.at === last;
  document.body.dataset.step = now.at;
  document.body.dataset.pass = step.pass;
}

function say(text) {
  place("spoken").textContent = text;
}

function go(at) {
  now.at = Math.min(Math.max(at, 0), steps.length - 1);
  now.chosen = null;
  now.moved = true;
  paint();
  const step = steps[now.at];
  showStep();
  say(`${titleOf(step)}. ${sentence(step)}`);
}

// The start shows the first input: of a wide picture it may be far from the left edge.
function showStep() {
  const step = steps[now.at];
  if (step.pass !== "start") showNode(step.node);
  else if (nodes.length) showNode(0);
}

function select(id) {
  now.chosen = id;
  paint();
  place("panel").scrollTo({ top: 0 });
  if (id === null) return;
  showNode(id);
  const states = statesAfter(now.at), pass = steps[now.at].pass;
  say(spokenNode(nodes[id], states[id], pass === "turn" || pass === "backward"));
}

function pause() {
  clearTimeout(now.timer);
  now.timer = null;
  place("play").setAttribute("aria-label", "Play");
  document.body.classList.remove("playing");
}

function tick() {
  if (now.at === steps.length - 1) return pause();
  go(now.at + 1);
  now.timer = setTimeout(tick, Number(place("speed").value));
}

function play() {
  if (now.timer !== null) return pause();
  if (now.at === steps.length - 1) go(0);
  place("play").setAttribute("aria-label", "Pause");
  document.body.classList.add("playing");
  now.timer = setTimeout(tick, 120);
}

const moved = (at) => {
  pause();
  go(at);
};

const KEYS = {
  ArrowRight: () => moved(now.at + 1),
  ArrowLeft: () => moved(now.at - 1),
  Home: () => moved(0),
  End: () => moved(steps.length - 1),
  " ": play,
  Escape: () => select(null),
};

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("select")) return;
  const node = event.target.closest(".node");
  const control = event.target.closest("button, summary, a");
  if (node && (event.key === "Enter" || event.key === " ")) select(Number(node.dataset.id));
  else if (control && event.key === " ") return;
  else if (event.key in KEYS) KEYS[event.key]();
  else return;
  event.preventDefault();
});

function listen() {
  const press = (id, action) => place(id).addEventListener("click", action);
  press("first", KEYS.Home);
  press("last", KEYS.End);
  press("back", KEYS.ArrowLeft);
  press("next", KEYS.ArrowRight);
  press("play", play);
  place("slider").addEventListener("input", (event) => moved(Number(event.target.value)));
  const zoom = (change) => () => {
    if (change !== null) pictured.zoom = Math.min(Math.max(pictured.zoom * change, 0.1), 6);
    sizePicture(change === null);
  };
  press("smaller", zoom(1 / 1.25));
  press("larger", zoom(1.25));
  press("fit", zoom(null));
  const nodeOf = (event) => event.target.closest?.(".node");
  const view = place("view");
  view.addEventListener("click", (event) => {
    const node = nodeOf(event);
    select(node ? Number(node.dataset.id) : null);
  });
  for (const [type, on] of
    [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]])
    view.addEventListener(type, (event) => {
      const node = nodeOf(event);
      // A click focuses too; only the keyboard's focus follows a path.
      if (type === "focusin" && !node?.matches(":focus-visible")) return;
      follow(on && node ? Number(node.dataset.id) : null);
      if (type === "focusin") showNode(Number(node.dataset.id));
    });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    place("panel").focus();
  });
  addEventListener("resize", () => sizePicture());
}

function themes() {
  const system = matchMedia("(prefers-color-scheme: dark)"), button = place("theme");
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const show = () => button.setAttribute("aria-pressed", String(dark()));
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();
}

function start() {
  place("outcome").append("value ", html("b", {}, words(arrayAt(data.value))));
  const slider = place("slider"), last = steps.length - 1;
  slider.max = last;
  const share = seeded ? 100 * turn / last : 100;
  slider.style.setProperty("--turn", `${share}%`);
  place("forward-pass").style.width = `${share}%`;
  place("backward-pass").style.width = `${100 - share}%`;
  place("backward-pass").hidden = !seeded;
  drawPicture();
  drawSource();
  drawFindings();
  drawLegend();
  themes();
  sizePicture();
  listen();
  // page.html#5 opens at the fifth step, page.html#end at the last.
  const asked = location.hash.slice(1);
  now.at = asked === "end" ? last : Math.min(Math.max(Number.parseInt(asked, 10) || 0, 0), last);
  paint();
  showStep();
}

start();
