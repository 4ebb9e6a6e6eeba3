import { apiBase } from './base.js';

/** Key in the browser's storage. It contains the path, so that two consoles of one host don't share a token. */
const KEY = `gatekeeper-token ${apiBase.pathname}`;

/** The user's token. Only this tab keeps it, until it is closed. */
export const token = {
  get: (): string | undefined => sessionStorage.getItem(KEY) ?? undefined,
  keep: (value: string): void => sessionStorage.setItem(KEY, value),
  forget: (): void => sessionStorage.removeItem(KEY),
};
