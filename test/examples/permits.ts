import type { PermitToken } from '../../examples/guarded-resource/permit-token.js';

/** Two grants of one slot: the later one has the higher token. */
export const EARLIER: PermitToken = { semaphore: 'nightly-export', slot: 0, token: 1_792_506_480_640_000 };
export const LATER: PermitToken = { ...EARLIER, token: EARLIER.token + 1024 };

/** Holds one party up at a point until the test lets it go on. */
export function gate(): { reached: Promise<void>; pass: () => Promise<void>; open: () => void } {
  let arrive!: () => void;
  let open!: () => void;
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { reached, pass: () => (arrive(), opened), open };
}
