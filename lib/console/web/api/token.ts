import { apiBase } from './base.js';

/** Contains the path, so that two consoles of one host don't share a token. */
const KEY = `gatekeeper-token ${apiBase.pathname}`;

/** Kept for this tab only, and gone with it. */
export const token = {
  get: (): string | undefined => sessionStorage.getItem(KEY) ?? undefined,
  keep: (value: string): void => sessionStorage.setItem(KEY, value),
  forget: (): void => sessionStorage.removeItem(KEY),
};
