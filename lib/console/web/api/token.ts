import { apiBase } from './base.js';

/** Key in the browser's storage. It contains the path, so that two consoles of one host don't share a token. */
const KEY = `gatekeeper-token ${apiBase.pathname}`;
/** Key of the number of sign-outs that there were when this tab got its token. */
const SINCE = `gatekeeper-token-since ${apiBase.pathname}`;
/** Key of the number of sign-outs in this browser: all that tabs share in a storage. */
const SIGN_OUTS = `gatekeeper-sign-outs ${apiBase.pathname}`;

/**
 * The user's token. Only this tab keeps it, until it is closed. A sign-out in any tab ends it here, too, even if this
 * tab was closed at that time and the browser opens it again.
 */
export const token = {
  get: (): string | undefined => (isEnded() ? undefined : (sessionStorage.getItem(KEY) ?? undefined)),
  /** @param since {@link signOuts} before the token was asked for. Default: now */
  keep: (value: string, since = signOuts()): void => {
    sessionStorage.setItem(SINCE, since);
    sessionStorage.setItem(KEY, value);
  },
  forget: (): void => {
    sessionStorage.removeItem(KEY);
    sessionStorage.removeItem(SINCE);
  },
  /** Ends the tokens of all tabs of this console in this browser. */
  end: (): void => {
    localStorage.setItem(SIGN_OUTS, String(Number(signOuts()) + 1));
    token.forget();
  },
};

/** Number of sign-outs in this browser so far, as a text. */
export function signOuts(): string {
  return localStorage.getItem(SIGN_OUTS) ?? '0';
}

/** Whether this tab has a token that was ended by a sign-out in another tab. */
function isEnded(): boolean {
  return sessionStorage.getItem(KEY) !== null && (sessionStorage.getItem(SINCE) ?? '0') !== signOuts();
}

/** Calls the listener after a sign-out in another tab, also if this page was not active at that time. */
export function whenEnded(listener: () => void): void {
  const look = () => isEnded() && listener();
  addEventListener('storage', look);
  addEventListener('pageshow', look);
}
