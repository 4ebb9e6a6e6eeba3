import { show } from './show.js';

/** The message of any thrown value. A job may throw any value, even one that can't be converted to text. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    // The value's own `toString` failed. `show` never calls it.
    return show(error);
  }
}
