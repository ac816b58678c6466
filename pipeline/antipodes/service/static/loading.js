// The loading indicator, which appears when a request takes longer than half a second.

import { element } from "./elements.js";

const PATIENCE = 500;

const sign = element("div", { class: "loading", role: "status", hidden: true });
let late = 0;

/** Return the value of a promise; if it takes long, show the indicator until it settles. */
export async function withIndicator(promise) {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    show((late += 1));
  }, PATIENCE);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    if (isLate) show((late -= 1));
  }
}

function show(count) {
  if (!sign.isConnected) document.body.append(sign);
  sign.hidden = count === 0;
  sign.textContent = count ? "Loading…" : "";
}
