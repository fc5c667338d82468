// The connection to the library: OAuth 2.1 with PKCE as a public client that registers itself.

/** The library's address; the server writes it into the manifest when it makes the extension. */
export const ADDRESS = chrome.runtime.getManifest().homepage_url.replace(/\/$/, "");
const MARGIN = 30_000; // ms before its end at which a token is exchanged
const PATIENCE = 30_000; // ms

/** @typedef {{client: string, access: string, refresh: string, ends: number, scope: string}}
 *   Account */

/** What went wrong, in words for the reader; ``code`` is that of the library's problem. */
export class Problem extends Error {
  /**
   * @param {string} message
   * @param {string} code
   */
  constructor(message, code = "") {
    super(message);
    this.code = code;
  }
}

export const SIGNED_OUT = "signed_out";

/** @returns {Promise<Account | null>} */
export async function account() {
  return (await chrome.storage.local.get("account")).account ?? null;
}

/**
 * Send a request to the library, which may be away.
 * @param {string} path
 * @param {RequestInit} options
 */
export async function send(path, options = {}) {
  try {
    return await fetch(`${ADDRESS}${path}`, {
      credentials: "omit", redirect: "error", signal: AbortSignal.timeout(PATIENCE), ...options,
    });
  } catch {
    throw new Problem(`The library at ${ADDRESS} does not answer. Is it running?`, "unreachable");
  }
}

/** Let the user connect the extension on the library's page. */
export async function connect() {
  const redirect = chrome.identity.getRedirectURL();
  const client = await register(redirect);
  const [verifier, state] = [random(), random()];
  const question = new URLSearchParams({
    response_type: "code",
    client_id: client,
    redirect_uri: redirect,
    scope: "read write",
    state,
    code_challenge: await challenge(verifier),
    code_challenge_method: "S256",
    resource: `${ADDRESS}/api`,
  });
  const code = await ask(`${ADDRESS}/oauth/authorize/?${question}`, state);
  await exchange(client, {
    grant_type: "authorization_code", code, redirect_uri: redirect, code_verifier: verifier,
  });
}

/** Return an access token. One window at a time exchanges it for the next. */
export async function token(isRefused = false) {
  return await navigator.locks.request("token", async () => {
    const { refresh = "", client = "", access = "", ends = 0 } = (await account()) ?? {};
    if (!refresh) throw new Problem("You are not signed in.", SIGNED_OUT);
    if (!isRefused && ends > Date.now() + MARGIN) return access;
    return await exchange(client, { grant_type: "refresh_token", refresh_token: refresh });
  });
}

/** Forget the connection, and end it in the library. */
export async function signOut() {
  const { refresh = "", client = "" } = (await account()) ?? {};
  await chrome.storage.local.remove("account");
  if (!refresh) return;
  const answer = await post("/oauth/revoke/", { client_id: client, token: refresh });
  if (!answer.ok) {
    throw new Problem("The library did not end the connection: end it on its page Tokens.");
  }
}

/** @param {string} redirect */
async function register(redirect) {
  const answer = await send("/oauth/register/", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      client_name: "Cuebase in the browser",
      redirect_uris: [redirect],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    }),
  });
  const { client_id: client, error_description: flaw } = await json(answer);
  if (client) return String(client);
  throw new Problem(flaw || "The library does not let programs register (OAUTH_REGISTRATION).");
}

/**
 * Show the library's page and return the code that it answers with.
 * @param {string} address
 * @param {string} state
 */
async function ask(address, state) {
  let answer;
  try {
    answer = await chrome.identity.launchWebAuthFlow({ url: address, interactive: true });
  } catch {
    throw new Problem("The page was closed before the extension was connected.");
  }
  const parameters = new URL(answer ?? "about:blank").searchParams;
  if (parameters.get("error")) throw new Problem("The extension was not connected, as you chose.");
  const isOurs = parameters.get("state") === state && parameters.get("iss") === ADDRESS;
  if (!isOurs || !parameters.get("code")) throw new Problem("The library's answer does not fit.");
  return parameters.get("code") ?? "";
}

/**
 * Exchange a code or a refresh token for tokens, and keep them.
 * @param {string} client
 * @param {Record<string, string>} grant
 */
async function exchange(client, grant) {
  const answer = await post("/oauth/token/", { client_id: client, ...grant });
  if (answer.status === 400 || answer.status === 401) {
    await chrome.storage.local.remove("account");
    throw new Problem("The connection has ended. Connect again.", SIGNED_OUT);
  }
  if (!answer.ok) throw new Problem(`The library gave no token (${answer.status}).`);
  const tokens = await json(answer);
  /** @type {Account} */
  const account = {
    client,
    access: String(tokens.access_token),
    refresh: String(tokens.refresh_token),
    ends: Date.now() + Number(tokens.expires_in) * 1000,
    scope: String(tokens.scope),
  };
  await chrome.storage.local.set({ account });
  return account.access;
}

/**
 * @param {string} path
 * @param {Record<string, string>} form
 */
const post = (path, form) => send(path, { method: "POST", body: new URLSearchParams(form) });

/** @param {Response} answer @returns {Promise<any>} */
async function json(answer) {
  try { return await answer.json(); } catch { return {}; }
}

const random = () => base64(crypto.getRandomValues(new Uint8Array(32)));

/** @param {string} verifier */
async function challenge(verifier) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64(new Uint8Array(hash));
}

/** @param {Uint8Array} bytes */
const base64 = (bytes) => btoa(String.fromCharCode(...bytes))
  .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
