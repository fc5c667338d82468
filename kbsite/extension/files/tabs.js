// The tab whose video the panel is about: that of its window, or one that its address names.

const named = Number(new URLSearchParams(location.search).get("tab"));

/** @typedef {{address: string, player: string, fetched: string[], seconds: number}} Page */

/** @returns {Promise<number | undefined>} */
async function tab() {
  if (named) return named;
  const [active] = await chrome.tabs.query({ active: true, currentWindow: true });
  return active?.id;
}

/**
 * Send the content script of the tab a message; null where there is none.
 * @param {object} message
 * @returns {Promise<any>}
 */
async function tell(message) {
  const id = await tab();
  if (id === undefined) return null;
  try { return await chrome.tabs.sendMessage(id, message); } catch { return null; }
}

/** @returns {Promise<Page | null>} */
export const readPage = () => tell({ ask: "page" });

/** @param {string} address */
export async function readCaptions(address) {
  return String((await tell({ ask: "captions", address }))?.text ?? "");
}

/** @param {number} seconds */
export const seek = (seconds) => tell({ ask: "seek", seconds });

/**
 * Call a function whenever another page is shown in the tab, and when its player has captions.
 * @param {() => void} changed
 */
export function watch(changed) {
  chrome.runtime.onMessage.addListener((_message, sender) => {
    tab().then((id) => { if (id === sender.tab?.id) changed(); });
    return false;
  });
  chrome.tabs.onActivated.addListener(() => changed());
  chrome.tabs.onUpdated.addListener(async (id, change) => {
    const isAnother = change.url || change.status === "complete";
    if (isAnother && id === await tab()) changed();
  });
}
