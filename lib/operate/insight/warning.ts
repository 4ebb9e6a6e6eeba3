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

/** A condition that an operator should look into. */
export interface Warning {
  /**
   * Identifies the warning, for programs. `not-run`: a job missed a run. `holder-silent`: the
   * process that holds a permit is not heard of. `run-failed`: a run failed in the last day.
   * `run-overdue`: a run goes on for longer than the time between two runs, or for much longer than usual.
   * `runs-too-long`: a run took longer than the time between two runs. `no-node`: no living node matches.
   * `removed`: it was removed, although code defines it. `code-not-followed`: living nodes have different definitions of it
   * in their code, or it can't follow this node's code. `not-in-code`: no living node has it in its code any more.
   * `unusable-pattern`: a pattern can't be used. `duration-too-short`: the duration is too short for this node's
   * clockTolerance.
   */
  readonly code: (typeof WARNING_CODES)[number];
  /** The warning for people, with advice where possible. */
  readonly sentence: string;
}
