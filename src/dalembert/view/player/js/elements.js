// Elements of the page. Text from a model is only ever set as text, never read as HTML.

function element(kind, properties = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "text") made.textContent = value;
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// As many pixels as the screen has, up to two for each of the page's; true where the size has changed.
function fitCanvas(canvas) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((side) => Math.round(side * ratio) || 1);
  if (canvas.width === width && canvas.height === height) return false;
  [canvas.width, canvas.height] = [width, height];
  return true;
}

const pixelRatio = (canvas) => canvas.width / Math.max(1, canvas.clientWidth);

// Drawn symbols of buttons, so that no font is needed.
const SYMBOLS = {
  play: "M4 2 L14 8 L4 14 Z",
  pause: "M3 2 H7 V14 H3 Z M9 2 H13 V14 H9 Z",
};

function symbol(name) {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawn.setAttribute("viewBox", "0 0 16 16");
  drawn.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SYMBOLS[name]);
  drawn.append(path);
  return drawn;
}
