// Colours of the page, light or dark, as its style sheet has them; those of shapes are #rrggbb.

const ROLE_COLOURS = {
  light: { impressed: "#0072b2", ideal: "#007a59", nonideal: "#c44f00", contact: "#a3497f", ghost: "#7d8590" },
  dark: { impressed: "#56b4e9", ideal: "#2fc59b", nonideal: "#ff8a3d", contact: "#e39ac5", ghost: "#8b949e" },
};
const BODY_COLOURS = {
  light: { disk: "#d4a537", sphere: "#56a0d3", point: "#0072b2", box: "#c89f6c", rod: "#6f8196", spring: "#6f8196",
    mesh: "#8fa3b8", trace: "#c44f00", curve: "#59636e", plane: "#7d8ea3", arrow: "#59636e", cone: "#a3497f",
    dial: "#0072b2" },
  dark: { disk: "#d9b04f", sphere: "#56b4e9", point: "#56b4e9", box: "#c89f6c", rod: "#94a6bb", spring: "#94a6bb",
    mesh: "#9fb3c8", trace: "#ff8a3d", curve: "#aab4bf", plane: "#8fa3b8", arrow: "#aab4bf", cone: "#e39ac5",
    dial: "#56b4e9" },
};

function rgb(hex) {
  const digits = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex);
  return digits ? digits.slice(1).map((pair) => parseInt(pair, 16) / 255) : [0.5, 0.5, 0.5];
}

const luminance = ([r, g, b]) => 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2;

// A theme as read from the page: its root says "light" or "dark", or leaves it to the reader's system. palette: colours
// of curves and of states of contacts, the same as in other plots.
function themeOf(root, printing, palette) {
  const asked = printing ? "light" : root.dataset.theme;
  const dark = asked === "dark" || (asked !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const name = dark ? "dark" : "light";
  const style = getComputedStyle(root);
  const colour = (variable) => style.getPropertyValue(variable).trim();
  return {
    name,
    text: colour("--text"), faint: colour("--faint"), line: colour("--line"), panel: colour("--panel"),
    background: rgb(colour("--view")),
    role: (role) => ROLE_COLOURS[name][role],
    curve: (number) => palette[name].hues[number % palette[name].hues.length],
    state: (state) => palette[name].states[state] ?? palette[name].hues[3],
    body: (kind) => BODY_COLOURS[name][kind] ?? "#808890",
  };
}

// The colour of a shape, moved from the background where it would not be seen on it.
function colourOf(shape, theme) {
  shape.shown ??= {}; // found once for each theme
  shape.shown[theme.name] ??= (() => {
    const own = rgb(shape.color || theme.role(shape.role) || theme.body(shape.kind));
    const behind = luminance(theme.background);
    if (Math.abs(luminance(own) - behind) > 0.04) return own;
    return between(own, behind > 0.3 ? [0, 0, 0] : [1, 1, 1], 0.35);
  })();
  return shape.shown[theme.name];
}
