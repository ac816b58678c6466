// The colours of depths, for the light and the dark theme: equal steps of lightness and hue in the colour space OKLCH
// (B. Ottosson, 2020).

const LIGHT = { lightness: [0.42, 0.8], hue: [305, 88], chroma: 0.15 };
const DARK = { lightness: [0.58, 0.93], hue: [300, 95], chroma: 0.14 };

/** Return whether the page is dark now. */
export function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** Call `act` whenever the page becomes light or dark; return a function that stops this. */
export function onThemeChange(act) {
  const [system, switched] = [matchMedia("(prefers-color-scheme: dark)"), new MutationObserver(act)];
  switched.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", act);
  return () => {
    switched.disconnect();
    system.removeEventListener("change", act);
  };
}

/** Return the colours of `count` depths as bytes: red, green, blue and 255 for each depth. */
export function depthColours(count, dark) {
  const bytes = new Uint8Array(4 * count);
  for (let depth = 0; depth < count; depth += 1) bytes.set(depthColour(count > 1 ? depth / (count - 1) : 0, dark), 4 * depth);
  return bytes;
}

function depthColour(part, dark) {
  const { lightness, hue, chroma } = dark ? DARK : LIGHT;
  const between = ([from, to]) => from + (to - from) * part;
  return [...rgb(between(lightness), chroma, (between(hue) * Math.PI) / 180), 255];
}

/** Convert a colour from OKLCH to three bytes. */
function rgb(lightness, chroma, hue) {
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ].map(byte);
}

function byte(linear) {
  const part = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055));
}

/** Return the bytes of a colour that the style sheet defines, such as "--accent". */
export function styleColour(name, element) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const parts = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return parts.slice(0, 3);
}
