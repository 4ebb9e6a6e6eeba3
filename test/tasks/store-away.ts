import { StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import type { Driver } from '../../lib/core/store/index.js';
import type { FakeTime } from '../support/fake-time.js';
import { kindOf, interceptWrites } from '../support/writes.js';

interface Away {
  /** ms */
  readonly outage: number;
  /** The outage begins when so many tasks were replaced. Default 1. */
  readonly writes?: number;
  /** Whether the last of these writes is answered. Default false. */
  readonly isAnswered?: boolean;
}

/** The store applies a write of a task, and then can't be reached for a while. */
export function goAway({ tasks: texts }: Pick<Driver, 'tasks'>, time: FakeTime, away: Away): void {
  const { outage, writes = 1, isAnswered = false } = away;
  let left = writes;
  let isAway = false;
  for (const method of ['read', 'readMany', 'range'] as const) {
    const call = (texts[method] as (...args: unknown[]) => Promise<unknown>).bind(texts);
    const faulty = async (...args: unknown[]) => {
      if (isAway) throw new StoreUnavailableError('away');
      return call(...args);
    };
    Object.assign(texts, { [method]: faulty });
  }
  interceptWrites(texts, ['create', 'replace', 'remove'], async (go, write) => {
    if (isAway) throw new StoreUnavailableError('away');
    const answer = await go();
    if (kindOf(write) !== 'replace' || --left !== 0) return answer;
    isAway = true;
    time.schedule(() => (isAway = false), outage);
    if (!isAnswered) throw new UnknownOutcomeError('no answer');
    return answer;
  });
}
