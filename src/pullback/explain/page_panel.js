// The panel beside the picture, the source, the findings and the legend.

function quantity(name, kind, content) {
  return html("div", { class: `quantity ${kind}` }, html("h3", {}, name), content);
}

const pending = (text) => html("p", { class: "pending" }, text);

const chip = (id) => {
  const button = html("button", { type: "button", class: "chip" }, clipped(label(id), 40));
  button.addEventListener("click", () => select(id));
  return button;
};

// One circle for each cotangent that is waited for, or a bar for many.
function receivedView(received, of) {
  const marks = html("span", { class: of > 6 ? "bar" : "circles", "aria-hidden": "true" });
  for (let i = 0; i < (of > 6 ? 1 : of); i++)
    marks.append(html("i", i < received ? { class: "full" } : {}));
  if (of > 6) marks.firstChild.style.width = `${100 * received / of}%`;
  return html("p", { class: "received" }, marks, `received ${received} of ${of}`);
}

function cotangentView(node, state, begun) {
  if (node.cotangent === null && !has(node, "missed")) return pending("None arrives here.");
  if (has(node, "missed"))
    return pending("No cotangent reaches this node: the output does not depend on it " +
      "in a way that has a derivative.");
  const content = html("div");
  if (state.total !== null) content.append(arrayView(state.total, "Cotangent", node.dtype));
  else content.append(pending(
    begun ? "Nothing has arrived yet." : "It comes in the backward pass."));
  if (begun && node.uses)
    content.append(receivedView(state.received, node.uses));
  return content;
}

function givesView(step) {
  const list = html("ul", { class: "gives" });
  for (const give of step.gives) {
    const dtype = nodes[give.to].dtype ?? give.value.dtype;
    const item = html("li", { "data-to": give.to, "data-received": give.received },
      html("p", {}, "to ", chip(give.to)), arrayView(give.value, "Given", dtype),
      receivedView(give.received, give.of));
    if (give.received > 1 && nodes[give.to].kind !== "fold")
      item.append(html("details", { open: "" },
        html("summary", {}, give.received === give.of ? "in all" : "so far"),
        arrayView(give.total, "In all", dtype)));
    list.append(item);
    if (give.skipped)
      list.append(html("li", { class: "muted" }, `… and ${give.skipped} more`));
  }
  return quantity("Gives", "backward", list);
}

function factsOf(node) {
  const parents = new Set(node.inputs.flatMap((input) => "node" in input ? [input.node] : []));
  const line = node.line !== null && data.sources[node.file]
    ? `${data.sources[node.file].file}, line ${node.line}` : null;
  return html("p", { class: "where" },
    html("span", {}, [line, node.dtype].filter(Boolean).join(" · ")),
    parents.size ? html("span", { class: "chips" }, "from ", ...[...parents].map(chip)) : null);
}

function paintPanel(step, states, chosen) {
  const id = chosen ?? (step.pass === "start" ? null : step.node);
  const panel = place("panel");
  const begun = step.pass === "turn" || step.pass === "backward";
  const pass = begun ? "backward" : step.pass;
  const story = html("div", { class: `story ${pass}` },
    html("p", { class: "phase" }, titleOf(step)),
    html("p", { class: "sentence" }, sentence(step, true)));
  panel.replaceChildren(story);
  if (id === null) {
    panel.append(...data.notes.map((note) => html("p", { class: "note" }, note)));
    return;
  }
  const node = nodes[id], state = states[id], folded = node.kind === "fold";
  if (chosen !== null && chosen !== step.node) {
    const back = html("button", { type: "button", class: "quiet", id: "unselect" },
      "Back to the node at work");
    back.addEventListener("click", () => select(null));
    story.append(back);
  }
  const card = html("article", { class: "card", "data-id": id });
  const index = html("span", { class: "index" }, folded ? node.label.at(-1) : `#${node.index}`);
  const formula = node.kind === "operation" ? html("code", {}, node.formula) : null;
  card.append(html("div", { class: "title" },
    html("h2", {}, html("span", {}, folded ? "fold" : node.name), " ", index), formula));
  const tags = [["operation", "fold"].includes(node.kind) ? null : node.kind,
    outputs.has(id) ? "output" : null,
    ...node.marks.filter((mark) => !has(node, `first ${mark}`)).map((mark) => BADGES[mark]),
  ].filter(Boolean);
  if (tags.length) card.append(html("p", { class: "tags" },
    ...tags.map((tag) => html("span", { class: "tag" }, tag))));
  if (node.fold) card.append(html("p", { class: "fold-text" }, node.fold.text));
  if (node.rule) card.append(html("p", { class: "rule" }, html("span", {}, "The rule"),
    html("code", {}, node.rule)));
  card.append(factsOf(node));
  const numbers = html("div", { class: "quantities" });
  if (folded && begun && node.uses)
    numbers.append(receivedView(state.received, node.uses));
  if (!folded) numbers.append(quantity("Value", "forward",
    node.value === null ? pending("No number.")
      : state.computed ? arrayView(node.value, "Value", node.dtype)
        : pending("It comes in the forward pass.")));
  if (node.tangent !== null) numbers.append(quantity("Tangent", "forward",
    state.computed ? arrayView(node.tangent, "Tangent", node.dtype)
      : pending("It comes with the value.")));
  if (seeded && !folded) numbers.append(
    quantity("Cotangent", "backward", cotangentView(node, state, begun)));
  card.append(numbers);
  if (step.pass === "backward" && step.node === id && step.gives.length)
    card.append(givesView(step));
  panel.append(card);
}

// The source, all files one after the other; a line is lit while its node is at work.
const sourceLines = new Map();

function drawSource() {
  const used = new Set(nodes.map((node) => `${node.file}:${node.line}`));
  data.sources.forEach((source, file) => {
    const list = html("ol", { start: source.first });
    source.lines.forEach((text, i) => {
      const key = `${file}:${source.first + i}`;
      const line = html("li", { value: source.first + i, class: used.has(key) ? "used" : "" },
        html("code", {}, text || " "));
      line.addEventListener("pointerenter", () => light(key, true));
      line.addEventListener("pointerleave", () => light(key, false));
      sourceLines.set(key, line);
      list.append(line);
    });
    place("source").append(html("h3", {}, source.file), list);
  });
  place("source").hidden = data.sources.length === 0;
}

// The nodes that a line of source has made.
function light(key, on) {
  nodes.forEach((node, id) => {
    if (`${node.file}:${node.line}` === key) pictured.nodes[id].classList.toggle("of-line", on);
  });
}

function paintSource(step, chosen) {
  const id = chosen ?? step.node ?? null;
  const back = step.pass === "turn" || step.pass === "backward";
  for (const line of sourceLines.values()) {
    line.classList.remove("lit", "backward");
    line.removeAttribute("aria-current");
  }
  if (id === null) return;
  const line = sourceLines.get(`${nodes[id].file}:${nodes[id].line}`);
  if (!line) return;
  line.classList.add("lit");
  line.classList.toggle("backward", back);
  line.setAttribute("aria-current", "true");
  scrollInto(place("source"), line.offsetTop, line.offsetTop + line.offsetHeight);
}

// Sentences on what deserves a look; each goes through its nodes.
function drawFindings() {
  const marked = (mark) => nodes.flatMap((node, id) => has(node, mark) ? [id] : []);
  const missed = marked("missed");
  const finding = (ids, text, kind) => {
    if (!ids.length) return;
    const button = html("button", { type: "button", class: `finding ${kind}` }, text);
    let next = 0;
    button.addEventListener("click", () => {
      select(ids[next % ids.length]);
      next += 1;
    });
    place("findings").append(button);
  };
  const [nan, infinite] = [marked("first nan"), marked("first inf")];
  for (const id of new Set([...nan, ...infinite])) {
    const kinds = [nan.includes(id) ? "NaN" : "", infinite.includes(id) ? "∞" : ""].filter(Boolean);
    finding([id], `${kinds.join(" and ")} first ${kinds.length > 1 ? "arise" : "arises"} at ` +
      label(id), "odd");
  }
  for (const id of marked("first nan cotangent"))
    finding([id], `In the backward pass NaN first arises at ${label(id)}`, "odd");
  finding(missed, missed.length === 1 ? "1 node is not reached by the gradient"
    : `${missed.length} nodes are not reached by the gradient`, "missed");
}

function drawLegend() {
  const legend = place("legend");
  const item = (kind, text) => legend.append(
    html("li", {}, html("span", { class: `key ${kind}`, "aria-hidden": "true" }), text));
  item("forward", "value known");
  if (seeded) item("backward", "cotangent known");
  if (seeded) item("pip", "received");
  item("ring", "output");
  if (nodes.some((node) => node.kind === "fold")) item("stack", "folded");
  if (data.edges.some((edge) => !edge.live)) item("dead", "no derivative");
  legend.append(html("li", { class: "scale" }, html("span", {}, "−"),
    html("span", { class: "ramp", "aria-hidden": "true" }), html("span", {}, "+")));
}
