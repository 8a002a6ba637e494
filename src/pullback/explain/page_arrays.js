// Elements, numbers and arrays as small heat maps. All text from the data becomes text nodes.

const NAMESPACE = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const html = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(NAMESPACE, tag), attributes, children);

const place = (id) => document.getElementById(id);

const finite = (cell) => typeof cell === "number";

// A cell in a few digits.
function number(cell, digits = 4) {
  if (!finite(cell)) return { nan: "NaN", inf: "∞", "-inf": "−∞" }[cell] ?? String(cell);
  if (cell === 0 || Number.isInteger(cell) && Math.abs(cell) < 1e5) return String(cell);
  const size = Math.abs(cell);
  if (size >= 1e5 || size < 1e-3) return cell.toExponential(digits - 2).replace("e+", "e");
  return String(Number(cell.toPrecision(digits)));
}

const isScalar = (array) => array.shape.length === 0;

const shapeOf = (array) => `(${array.shape.join(", ")}${array.shape.length === 1 ? "," : ""})`;

// An array in a few words, for a sentence.
function words(array, brief = false) {
  if (array === null) return "no number";
  if (array.dtype.startsWith("complex") && array.text.length < 48) return array.text;
  if (isScalar(array)) return number(array.cells[0] ?? array.text);
  if (array.cells.length && array.cells.length <= (brief ? 2 : 4) && !array.sampled)
    return `[${array.cells.map((cell) => number(cell)).join(", ")}]`;
  const range = brief || array.low === null ? "" : array.low === array.high
    ? `, each ${number(array.low)}` : `, from ${number(array.low)} to ${number(array.high)}`;
  return `an array ${shapeOf(array)}${range}`;
}

// Of a large array the page may hold letters for levels of colour in place of cells: see page.py.
function unpacked(array, levels) {
  if (!("levels" in array)) return array;
  const special = { "!": "nan", "+": "inf", "-": "-inf" }, zero = (levels.length - 1) / 2;
  const cells = [...array.levels].map((letter) => special[letter]
    ?? Number(((levels.indexOf(letter) / zero - 1) * reach(array)).toPrecision(2)));
  return { ...array, cells, rough: true };
}

// The distance from zero beyond which a colour is full: the same for all cells of an array.
const reach = (array) => Math.max(Math.abs(array.low ?? 0), Math.abs(array.high ?? 0)) || 1;

function colour(cell, full) {
  if (!finite(cell)) return cell === "nan" ? "var(--nan)" : "var(--infinite)";
  const share = Math.min(Math.abs(cell) / full, 1) * 100;
  return `color-mix(in srgb, var(--${cell < 0 ? "negative" : "positive"}) ${share.toFixed(1)}%, ` +
    "var(--zero))";
}

// Rows and columns of the picture of an array; a long row is wrapped.
function gridOf(array) {
  const count = array.cells.length;
  const numbers = count <= 48;
  const widest = numbers ? 6 : 32;
  if (array.rows === 1 && array.columns > widest) {
    const columns = Math.ceil(count / Math.ceil(count / widest));
    return { columns, rows: Math.ceil(count / columns), numbers };
  }
  if (array.columns === 1 && array.rows > 8) {
    const columns = Math.ceil(count / Math.ceil(count / (numbers ? 6 : 16)));
    return { columns, rows: Math.ceil(count / columns), numbers };
  }
  return { columns: array.columns, rows: array.rows, numbers: numbers && array.columns <= 6 };
}

function heatMap(array, name) {
  const { columns, rows, numbers } = gridOf(array);
  const texts = array.cells.map((cell) => number(cell, 3));
  const wide = numbers ? Math.max(...texts.map((text) => text.length), 5) * 6.8 + 10
    : Math.max(7, Math.min(18, Math.floor(280 / columns)));
  const high = numbers ? 24 : wide;
  const full = reach(array);
  const picture = svg("svg", {
    class: "heat", role: "img", "aria-label": `${name}: ${words(array)}`,
    viewBox: `0 0 ${columns * wide} ${rows * high}`, width: columns * wide, height: rows * high,
  });
  array.cells.forEach((cell, i) => {
    const x = (i % columns) * wide, y = Math.floor(i / columns) * high;
    const box = svg("rect", { x: x + 0.5, y: y + 0.5, width: wide - 1, height: high - 1, rx: 2 },
      svg("title", {}, array.rough ? `about ${cell}` : String(cell)));
    box.style.fill = colour(cell, full);
    picture.append(box);
    if (!numbers) return;
    const kind = finite(cell) ? "number" : "number odd";
    picture.append(svg("text", { class: kind, x: x + wide / 2, y: y + high / 2 + 4 },
      texts[i]));
  });
  return picture;
}

// What the panel shows of an array: a number for a scalar, else a heat map and its digits.
function arrayView(array, name, dtype = array.dtype) {
  const about = isScalar(array) ? "" : shapeOf(array);
  const view = html("div", { class: "array", "data-text": array.text });
  if (isScalar(array)) {
    const swatch = html("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = colour(array.cells[0] ?? 0, reach(array));
    view.append(html("p", { class: "scalar" }, swatch, html("b", {}, array.text)));
  } else if (array.cells.length) {
    view.append(heatMap(array, name));
  } else {
    view.append(html("p", { class: "muted" }, "empty"));
  }
  const low = array.low === null || isScalar(array) ? "" : array.low === array.high
    ? `each ${number(array.low)}` : `${number(array.low)} … ${number(array.high)}`;
  const facts = [about, array.dtype === dtype ? "" : array.dtype, low,
    array.sampled ? "a sample of the cells" : ""];
  if (facts.some(Boolean))
    view.append(html("p", { class: "facts" }, facts.filter(Boolean).join(" · ")));
  if (!isScalar(array) && array.cells.length) {
    view.append(html("details", {}, html("summary", {}, "Digits"),
      html("pre", { tabindex: "0" }, array.text)));
  }
  return view;
}
