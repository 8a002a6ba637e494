// The steps of the explanation, and the state of each node after any number of them.

const data = JSON.parse(place("data").textContent);
const arrays = data.arrays.map((array) => unpacked(array, data.levels));
const arrayAt = (place) => place === null ? null : arrays[place];
const nodes = data.nodes;
for (const node of nodes)
  for (const role of ["value", "tangent", "cotangent"]) node[role] = arrayAt(node[role]);
for (const { gives } of data.backward)
  for (const give of gives) {
    [give.value, give.total] = [arrayAt(give.value), arrayAt(give.total)];
    nodes[give.to].uses = give.of;
  }

const outputs = new Set(data.outputs);
// Without an output that carries a derivative there is no backward pass.
const seeded = data.outputs.some((id) => nodes[id].cotangent !== null);
const steps = [
  { pass: "start" },
  ...data.forward.map((node, i) => ({ pass: "forward", node, count: i + 1 })),
  ...(seeded ? [{ pass: "turn", node: data.outputs[0] }] : []),
  ...data.backward.map((step, i) => ({ pass: "backward", count: i + 1, ...step })),
];
const turn = data.forward.length + 1;

const label = (id) => {
  const { kind, name, index, label: lines } = nodes[id];
  return kind === "fold" ? `fold ${lines.at(-1)}` : `${name} #${index}`;
};

const has = (node, mark) => node.marks.includes(mark);

// The node's part of the story after step `at`.
function statesAfter(at) {
  const states = nodes.map(() => ({ computed: false, received: 0, total: null, given: false }));
  for (const { pass, node, gives } of steps.slice(0, at + 1)) {
    if (pass === "forward") states[node].computed = true;
    if (pass === "turn") for (const id of data.outputs)
      if (nodes[id].uses === 0) states[id].total = nodes[id].cotangent;
    if (pass !== "backward") continue;
    // A node is at work once it has received all: what it has is the cotangent.
    states[node].given = true;
    states[node].total = nodes[node].cotangent;
    for (const give of gives)
      Object.assign(states[give.to], { received: give.received, total: give.total });
  }
  return states;
}

function byReceiver(gives) {
  const found = new Map();
  for (const give of gives) found.set(give.to, [...(found.get(give.to) ?? []), give]);
  return found;
}

const receipt = (give) => `received ${give.received} of ${give.of}`;

// What happens in a step, in one or two sentences; brief where the arrays are shown beside it.
function sentence(step, brief = false) {
  const { pass } = step;
  if (pass === "start") return opening();
  if (pass === "turn") {
    const seeds = data.outputs.filter((id) => nodes[id].cotangent !== null && !nodes[id].uses);
    const texts = [...new Set(seeds)].map((id) =>
      `The cotangent of the output ${label(id)} is set to ${words(nodes[id].cotangent, brief)}.`);
    return ["The program has ended and the backward pass begins.", ...texts].join(" ");
  }
  const node = nodes[step.node];
  if (pass === "forward") {
    const value = words(node.value, brief);
    if (node.kind === "input") return `${label(step.node)} is an input: ${value}.`;
    if (node.kind === "constant") return `${label(step.node)} is a constant: ${value}.`;
    if (node.kind === "fold") return `A fold runs: ${node.fold.text}.`;
    return `${label(step.node)} = ${node.formula} gives ${value}.`;
  }
  const all = node.cotangent === null ? "" : ` Its cotangent is ${words(node.cotangent, brief)}.`;
  if (!step.gives.length) return `${label(step.node)} has received all of its cotangent.${all}`;
  // A fold may give a node many cotangents; then the last of them counts.
  const gifts = [...byReceiver(step.gives)].map(([to, gives]) => {
    const last = gives.at(-1);
    const count = gives.reduce((sum, give) => sum + (give.skipped ?? 0) + 1, 0);
    const total = last.received > 1 && nodes[to].kind !== "fold"
      ? `, in all ${words(last.total, brief)}` : "";
    const gift = count === 1 ? words(last.value, brief)
      : count === 2 ? gives.map((give) => words(give.value, brief)).join(" and ")
        : `${count} cotangents`;
    return `${gift} to ${label(to)} (${receipt(last)}${total})`;
  });
  if (gifts.length > 3) gifts.splice(2, Infinity, `to ${gifts.length - 2} other nodes`);
  return `${label(step.node)} hands its cotangent on.${all} It gives ${gifts.join(" and ")}.`;
}

function opening() {
  const [inputs, operations] = [
    nodes.filter((node) => node.kind === "input").length,
    nodes.reduce((sum, { kind, fold }) =>
      sum + (kind === "operation" ? 1 : kind === "fold" ? fold.operations : 0), 0),
  ];
  const pass = seeded ? "Then a cotangent travels back from the output, and each " +
    "node adds up what it receives before it hands it on." : "No derivative reaches the output.";
  return `${plural(operations, "operation")} and ${plural(inputs, "input")}. ` +
    `First the program runs forward. ${pass}`;
}

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

const titleOf = (step) => ({
  start: "Start",
  forward: `Forward ${step.count} of ${data.forward.length}`,
  turn: "Turn",
  backward: `Backward ${step.count} of ${data.backward.length}`,
}[step.pass]);

// Follows the edges from a node in one direction.
function reachable(start, from, to) {
  const found = new Set([start]), queue = [start];
  while (queue.length) {
    const id = queue.pop();
    for (const edge of data.edges)
      if (edge[from] === id && !found.has(edge[to])) {
        found.add(edge[to]);
        queue.push(edge[to]);
      }
  }
  return found;
}
