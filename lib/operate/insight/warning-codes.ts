/** All codes of warnings. */
export const WARNING_CODES = [
  'not-run',
  'holder-silent',
  'run-failed',
  'run-overdue',
  'runs-too-long',
  'no-node',
  'unusable-pattern',
  'duration-too-short',
  'removed',
  'code-not-followed',
  'not-in-code',
] as const;

/** Codes of the warnings that a node also logs, and has in its health. */
export const WATCHED_CODES = ['not-run', 'holder-silent'] as const satisfies readonly (typeof WARNING_CODES)[number][];
export type WatchedCode = (typeof WATCHED_CODES)[number];
