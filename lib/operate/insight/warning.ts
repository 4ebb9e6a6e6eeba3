import { z } from 'zod';
import { WARNING_CODES } from './warning-codes.js';

/* Import only types from here in code that an application loads. */

export const warningSchema = z
  .object({
    /**
     * Identifies the warning, for programs:
     *
     * - `not-run`: a job was due and did not run since, from 15 s after that time until its next run. A held permit is no run
     * - `holder-silent`: a process that none of the living nodes is holds a permit. It crashed, is cut off, or publishes no
     *   heartbeat
     * - `run-failed`: a run failed, crashed or lost its permit in the last day, also if the job ran well since
     * - `run-overdue`: a run goes on without its permit, for example after its `maxRunTime`; or for longer than the time until
     *   it is due again, or than 3 times its p95 (a minute at least, after 20 runs in a week)
     * - `runs-too-long`: the last run took longer than the time until the job was due again
     * - `no-node`: no living node may run a job
     * - `unusable-pattern`: a stored pattern can't be used
     * - `duration-too-short`: the duration is too short for the `clockTolerance` of the answering node
     * - `removed`: it was removed, although code defines it: nothing runs until it is reset
     * - `code-not-followed`: living nodes have different definitions of it in their code, or it could not follow the code, for
     *   more than 15 minutes: see docs/operations.md#two-versions-at-once
     * - `not-in-code`: it is of code, and no living node has had it in its code for more than 15 minutes, as after a rename:
     *   nothing runs under it. A node without a heartbeat is not seen
     */
    code: z.enum(WARNING_CODES),
    sentence: z.string().meta({ description: 'the warning for people, with advice where possible' }),
  })
  .meta({ id: 'SemaphoreWarning' });

/** A condition that an operator should look into. */
export interface Warning extends Readonly<z.output<typeof warningSchema>> {}
