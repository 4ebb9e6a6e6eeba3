import { EXIT, exitCodeOf } from '../options/exit-code.js';
import type { Session } from './session.js';

/** Reports an unreachable target once, and lets the caller try again, because it may come back. */
export function patiently<T>(
  session: Session,
  interruption: AbortSignal,
  look: () => Promise<T>,
): () => Promise<T | undefined> {
  let isAway = false;
  return async () => {
    try {
      const answer = await look();
      if (isAway) session.output.note('gatekeeper: the target answers again');
      isAway = false;
      return answer;
    } catch (error) {
      if (exitCodeOf(error) !== EXIT.unreachable) throw error;
      if (!isAway && !interruption.aborted)
        session.output.note(`gatekeeper: ${(error as Error).message}; trying again until interrupted`);
      isAway = true;
      return undefined;
    }
  };
}
