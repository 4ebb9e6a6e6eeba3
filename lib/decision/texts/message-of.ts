import { show } from './show.js';

/** The message of any thrown value. A job may throw anything, also an object that can't be turned into text. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    // The value's own conversion failed; `show` never calls it.
    return show(error);
  }
}
