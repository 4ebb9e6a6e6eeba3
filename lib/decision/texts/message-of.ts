import { show } from '../duration.js';

/** The message of whatever was thrown. A job may throw anything, also an object that can't be turned into text. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    // Its own conversion failed; this one does not ask it.
    return show(error);
  }
}
