// The sign of loading: it appears as soon as a request takes longer than half a second.

import { element } from "./elements.js";

const PATIENCE = 500;

const sign = element("div", { class: "loading", role: "status", hidden: true });
let late = 0;

/** The value of a promise; while it takes long, the sign is shown. */
export async function signalled(promise) {
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
