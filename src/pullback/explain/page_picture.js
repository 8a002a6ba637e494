// The picture of the program: boxes, edges, what is lit and what is followed.

const pictured = { nodes: [], edges: [], scale: 1, zoom: 1 };

const clipped = (text, room) =>
  text.length > room ? text.slice(0, Math.max(room - 1, 1)) + "…" : text;

function curve(points, upright) {
  const [[x, y], ...rest] = points;
  let [a, b] = [x, y], path = `M${a} ${b}`;
  for (const [c, d] of rest) {
    path += upright ? `C${a} ${(b + d) / 2} ${c} ${(b + d) / 2} ${c} ${d}`
      : `C${(a + c) / 2} ${b} ${(a + c) / 2} ${d} ${c} ${d}`;
    [a, b] = [c, d];
  }
  return path;
}

// A small triangle at a point, which points along (dx, dy).
function tip([x, y], dx, dy, name) {
  const [w, l] = [3.2, 6.5];
  const at = (along, aside) => `${x - along * dx + aside * dy} ${y - along * dy + aside * dx}`;
  return svg("path", { class: `tip ${name}`, d: `M${at(0, 0)}L${at(l, w)}L${at(l, -w)}z` });
}

function drawEdge(edge) {
  const { points } = edge, from = nodes[edge.from];
  const upright = Math.abs(points[0][1] - from.y - from.height) < 2
    || Math.abs(points[0][1] - from.y) < 2;
  const [first, last] = [points[0], points.at(-1)];
  // Between the boxes of a row that it passes an edge goes straight.
  const way = points.flatMap(([x, y], i) => {
    if (i === 0 || i === points.length - 1 || !upright) return [[x, y]];
    const beside = nodes.filter((node) => node.y <= y && y <= node.y + node.height);
    const half = Math.max(0, ...beside.map((node) => node.height)) / 2;
    return [[x, y - half], [x, y + half]];
  });
  const down = upright ? Math.sign(last[1] - first[1]) || 1 : 0;
  const right = upright ? 0 : Math.sign(last[0] - first[0]) || 1;
  const d = curve(way, upright);
  return svg("g", { class: edge.live ? "edge live" : "edge dead" },
    svg("path", { class: "line", d }), svg("path", { class: "flow", d }),
    tip(last, right, down, "to"), tip(first, -right, -down, "from"));
}

function badgeOf(node) {
  const marks = ["first nan", "first inf", "first nan cotangent", "nan", "inf", "nan cotangent",
    "missed"];
  return marks.find((mark) => has(node, mark)) ?? null;
}

const BADGES = {
  "first nan": "first NaN", "first inf": "first ∞", "first nan cotangent": "first NaN ←",
  nan: "NaN", inf: "∞", "nan cotangent": "NaN ←", missed: "missed",
};

function drawNode(node, id) {
  const { width: w, height: h, kind } = node;
  const rx = kind === "input" ? Math.min(h / 2, 20) : kind === "constant" ? 2 : 7;
  const shape = { width: w, height: h, rx };
  const around = (name, by) => svg("rect", {
    class: name, x: -by, y: -by, width: w + 2 * by, height: h + 2 * by, rx: rx + by,
  });
  const group = svg("g", {
    class: `node ${kind}`, transform: `translate(${node.x} ${node.y})`,
    tabindex: "0", role: "button", "data-id": id,
  });
  if (outputs.has(id))
    group.append(around("ring", 4));
  if (kind === "fold")
    for (const by of [6, 3]) group.append(svg("rect", { class: "leaf", x: by, y: by, ...shape }));
  group.append(around("chosen", 7));
  group.append(svg("rect", { class: "box", ...shape }));
  group.append(svg("title", {}, kind === "fold" ? node.fold.text : node.formula));
  node.label.forEach((text, i) => group.append(svg("text", {
    class: `text ${i === 0 ? "head" : text.startsWith("cotangent") ? "back" : "soft"}`,
    x: w / 2, y: 17.5 + 17 * i,
  }, i ? "" : text)));
  group.append(svg("g", { class: "strip" }), svg("g", { class: "pips" }));
  const mark = badgeOf(node);
  if (mark !== null) {
    const wide = BADGES[mark].length * 5.8 + 10;
    group.append(svg("g", {
      class: ["badge", mark.startsWith("first") && "first", mark === "missed" && "missed"]
        .filter(Boolean).join(" "),
      transform: `translate(${w - wide + 8} -12)`,
    }, svg("rect", { width: wide, height: 15, rx: 7.5 }),
      svg("text", { x: wide / 2, y: 11 }, BADGES[mark])));
  }
  for (const mark of node.marks) group.classList.add(mark.replaceAll(" ", "-"));
  return group;
}

// A row of cells at the lower edge of the box: the array in very small.
function drawStrip(strip, node, array) {
  strip.replaceChildren();
  if (array === null || isScalar(array) || !array.cells.length) return;
  const room = node.width - 20, count = Math.min(array.cells.length, Math.floor(room / 5), 24);
  const full = reach(array), wide = Math.min(room / count, 9);
  for (let i = 0; i < count; i++) {
    const cell = array.cells[Math.floor(i * array.cells.length / count)];
    const box = svg("rect", {
      x: node.width / 2 + (i - count / 2) * wide, y: node.height - 5,
      width: wide - 0.8, height: 3.5,
    });
    box.style.fill = colour(cell, full);
    strip.append(box);
  }
}

// One pip for each cotangent that the node waits for, filled as they arrive.
function drawPips(pips, node, received, visible) {
  pips.replaceChildren();
  if (!visible || node.uses === 0) return;
  const y = node.height + 6;
  if (node.uses > 6) {
    pips.append(svg("text", { x: node.width - 2, y: y + 4 }, `${received}/${node.uses}`));
    return;
  }
  for (let i = 0; i < node.uses; i++)
    pips.append(svg("circle", {
      class: i < received ? "full" : "open",
      cx: node.width - 6 - (node.uses - 1 - i) * 8, cy: y, r: 2.8,
    }));
}

// A line of the label in few characters: the picture shows an array by its strip of cells, so its
// range can go, and "value float64[6,2] -2.2 to 0.46" becomes "value float64[6,2]".
const shortened = (text) => text.length <= 22 ? text : text.split(" ").slice(0, 2).join(" ");

// Makes boxes as narrow as their short labels allow, and draws them nearer to each other: all x
// are multiplied by the smallest factor that keeps a gap between boxes, and edges, side by side.
function tighten() {
  const gap = 22;
  const middle = (node) => node.x + node.width / 2;
  const widths = nodes.map(({ kind, label, width }) => kind === "fold" ? width : Math.min(width,
    Math.max(...label.map((text, i) => (i ? shortened(text) : text).length)) * 7.3 + 20));
  const passing = data.edges.flatMap((edge) => edge.points.slice(1, -1)
    .map(([x, y]) => ({ x, y, width: 0, height: 1 })));
  const solid = [...nodes, ...passing];
  let factor = 0.3;
  nodes.forEach((a, i) => solid.forEach((b, j) => {
    const beside = a.y < b.y + b.height && b.y < a.y + a.height;
    const apart = Math.abs(middle(a) - middle(b));
    if (beside && apart > 0)
      factor = Math.max(factor, ((widths[i] + (widths[j] ?? 0)) / 2 + gap) / apart);
  }));
  factor = Math.min(factor, 1);
  const middles = nodes.map((node) => middle(node) * factor);
  const points = data.edges.flatMap((edge) => edge.points.map(([x]) => x * factor));
  const left = Math.min(...points, ...middles.map((x, i) => x - widths[i] / 2)) - 12;
  nodes.forEach((node, i) => {
    node.width = widths[i];
    node.x = middles[i] - widths[i] / 2 - left;
    if (node.kind !== "fold") node.label = node.label.map((text, k) => k ? shortened(text) : text);
  });
  for (const edge of data.edges)
    edge.points = edge.points.map(([x, y]) => [x * factor - left, y]);
  data.width = Math.max(...points.map((x) => x - left), ...nodes.map((n) => n.x + n.width)) + 12;
}

function drawPicture() {
  tighten();
  const { width, height } = data;
  // Room for rings, badges and pips around the outermost boxes.
  const [left, upper, w, h] = [-14, -18, width + 28, height + 36];
  const picture = svg("svg", {
    class: "graph", viewBox: `${left} ${upper} ${w} ${h}`, role: "group",
    "aria-label": `The program as a graph of ${plural(nodes.length, "node")}`,
  });
  pictured.edges = data.edges.map(drawEdge);
  pictured.nodes = nodes.map(drawNode);
  picture.append(svg("g", { "aria-hidden": "true" }, ...pictured.edges),
    svg("g", {}, ...pictured.nodes));
  Object.assign(pictured, { picture, w, h, left, upper });
  place("view").append(picture);
}

// Fits the picture into its pane, as far as it stays readable; the pane scrolls over the rest.
// With `whole` it fits all of it.
function sizePicture(whole = false) {
  const view = place("view"), { w, h } = pictured;
  const fit = Math.min((view.clientWidth - 10) / w, (view.clientHeight - 10) / h);
  const readable = Math.min(Math.max(fit, 0.8), 1.4);
  if (whole) pictured.zoom = Math.min(fit, readable) / readable;
  pictured.scale = readable * pictured.zoom;
  pictured.picture.setAttribute("width", w * pictured.scale);
  pictured.picture.setAttribute("height", h * pictured.scale);
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");

// Scrolls inside a pane only: the page that embeds this one stays where it is.
function scrollInto(pane, top, bottom, left = 0, right = 0) {
  const hurried = now.timer !== null && Number(place("speed").value) < 500;
  const behavior = calm.matches || hurried || !now.moved ? "instant" : "smooth", margin = 28;
  const target = {};
  if (top < pane.scrollTop + margin || bottom > pane.scrollTop + pane.clientHeight - margin)
    target.top = (top + bottom - pane.clientHeight) / 2;
  if (left < pane.scrollLeft + margin || right > pane.scrollLeft + pane.clientWidth - margin)
    target.left = (left + right - pane.clientWidth) / 2;
  if ("top" in target || "left" in target) pane.scrollTo({ ...target, behavior });
}

function showNode(id) {
  const node = nodes[id], { scale, left, upper, picture } = pictured, pane = place("view");
  const x = picture.getBoundingClientRect().left - pane.getBoundingClientRect().left
    + pane.scrollLeft + (node.x - left) * scale;
  const y = (node.y - upper) * scale;
  scrollInto(pane, y, y + node.height * scale, x, x + node.width * scale);
}

// The lines in the box below the first, as far as the story has come.
function textsOf(node, state) {
  if (node.kind === "fold") return node.label.slice(1);
  const settled = state.given || state.received === node.uses;
  const sofar = () => isScalar(state.total) ? words(state.total) : shapeOf(state.total);
  return node.label.slice(1).map((text) => {
    if (!text.startsWith("cotangent")) return state.computed ? text : "";
    return state.total === null ? "" : settled ? text : `so far ${sofar()}`;
  });
}

function paintPicture(step, states, chosen) {
  const backward = step.pass === "backward" || step.pass === "turn";
  const receivers = new Map();
  for (const { to } of step.gives ?? []) receivers.set(to, true);
  const atWork = step.pass === "turn" ? outputs : new Set(step.pass === "start" ? [] : [step.node]);
  nodes.forEach((node, id) => {
    const group = pictured.nodes[id], state = states[id], { classList } = group;
    classList.toggle("computed", state.computed);
    classList.toggle("waiting", state.total !== null && !state.given);
    const settled = state.total !== null && state.received === node.uses;
    classList.toggle("given", state.given || settled);
    classList.toggle("at-work", atWork.has(id));
    classList.toggle("backward", backward);
    classList.toggle("receiving", receivers.has(id));
    classList.toggle("selected", id === chosen);
    group.setAttribute("aria-pressed", String(id === chosen));
    if (atWork.has(id)) group.setAttribute("aria-current", "step");
    else group.removeAttribute("aria-current");
    const room = Math.floor((node.width - 8) / 6.7), lines = group.querySelectorAll(".text");
    textsOf(node, state).forEach((text, i) => {
      lines[i + 1].textContent = clipped(text, room);
    });
    drawStrip(group.querySelector(".strip"), node,
      state.total ?? (state.computed ? node.value : null));
    drawPips(group.querySelector(".pips"), node, state.received, backward);
    group.setAttribute("aria-label", spokenNode(node, state, backward));
  });
  data.edges.forEach((edge, i) => {
    const { classList } = pictured.edges[i];
    const forward = step.pass === "forward" && edge.to === step.node;
    const back = step.pass === "backward" && edge.to === step.node && receivers.has(edge.from);
    classList.toggle("lit-forward", forward);
    classList.toggle("lit-backward", back && edge.live);
    classList.toggle("done-forward", states[edge.to].computed);
    classList.toggle("done-backward", states[edge.to].given && edge.live);
  });
}

function spokenNode(node, state, backward) {
  const parts = [label(node.id)];
  if (node.kind !== "operation") parts.push(node.kind === "fold" ? node.fold.text : node.kind);
  if (outputs.has(node.id)) parts.push("output");
  if (state.computed && node.kind !== "fold") parts.push(`value ${words(node.value)}`);
  if (state.total !== null && node.kind !== "fold") parts.push(`cotangent ${words(state.total)}`);
  if (backward && node.uses) parts.push(`received ${state.received} of ${node.uses}`);
  parts.push(...node.marks.map((mark) => BADGES[mark]));
  return parts.join(", ");
}

// Lets everything fade that is not on a path through the node.
function follow(id) {
  const { picture } = pictured;
  picture.classList.toggle("following", id !== null);
  if (id === null) return;
  const before = reachable(id, "to", "from"), after = reachable(id, "from", "to");
  nodes.forEach((_, other) => pictured.nodes[other].classList.toggle("on-path",
    before.has(other) || after.has(other)));
  data.edges.forEach(({ from, to }, i) => pictured.edges[i].classList.toggle("on-path",
    before.has(to) || after.has(from)));
}
