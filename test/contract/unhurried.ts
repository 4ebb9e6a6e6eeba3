/** For many calls at once on a busy machine, where how long one takes (ms) is not what is looked at. */
export const UNHURRIED = { callTimeout: 20_000 } as const;
