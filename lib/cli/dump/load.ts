import { LEADER_PREFIX } from '../../core/decision/index.js';
import { CommandFailure, EXIT } from '../exit-code.js';
import type { Operator } from '../operator.js';
import type { LoadStep } from './load-plan.js';

const NO_LEADERSHIP = 'only nodes make a leadership: start a node that takes part in it, then load again';

/**
 * Brings one semaphore to the state in the dump.
 *
 * @throws the error of the first failed action; earlier ones stay done
 */
export async function applyStep(operator: Operator, step: LoadStep, reason: string | undefined): Promise<void> {
  const { name, groupPattern, acquirerPattern, permits, duration, pause } = step.to;
  const patterns = { groupPattern, acquirerPattern, permits, duration };
  for (const action of step.actions) {
    switch (action) {
      case 'define':
        if (name.startsWith(LEADER_PREFIX)) throw new CommandFailure(EXIT.notFound, NO_LEADERSHIP);
        await operator.define({ name, ...patterns }, { reason });
        break;
      case 'edit':
        await operator.edit(name, patterns, { reason, expectedRevision: step.revision });
        break;
      case 'pause':
        await operator.pause(name, { reason: reason ?? pause?.reason });
        break;
      case 'resume':
        await operator.resume(name, { reason });
        break;
    }
  }
}
