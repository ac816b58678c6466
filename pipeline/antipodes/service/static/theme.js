// The theme: light, dark, or the system's theme. The browser stores the choice.

const NEXT = { auto: "light", light: "dark", dark: "auto" };
const SIGNS = { auto: "◐", light: "☀", dark: "☾" };
const KEY = "antipodes-theme";

/** Make a button switch to the next theme. */
export function showTheme(button) {
  const apply = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = SIGNS[theme];
    button.setAttribute("aria-label", `Colours: ${theme === "auto" ? "as the system" : theme}`);
    button.title = button.getAttribute("aria-label");
  };
  apply(remembered());
  button.addEventListener("click", () => {
    const theme = NEXT[remembered()];
    localStorage.setItem(KEY, theme);
    apply(theme);
  });
}

function remembered() {
  const theme = localStorage.getItem(KEY);
  return theme in NEXT ? theme : "auto";
}
