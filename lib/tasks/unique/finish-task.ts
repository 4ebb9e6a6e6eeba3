import type { Slices } from '../../core/async/slices.js';
import type { ConditionalTexts } from '../conditional-texts.js';
import type { Hints } from '../hints.js';
import type { Parents } from '../subtasks/parents.js';
import { encodeTask } from '../task.codec.js';
import type { Task } from '../task.js';
import type { Stamp } from '../transitions.js';
import { finishedOrBegun } from './unique.js';

interface Records {
  readonly texts: ConditionalTexts;
  readonly parents: Pick<Parents, 'removeFamily'>;
  readonly hints: Pick<Hints, 'offer'>;
  readonly slices: Pick<Slices, 'turn'>;
  stamp(): Promise<Stamp>;
}

/** The last step after the end of a task. If the sweep has taken it meanwhile, there is nothing to do. */
export async function finishTask(store: Records, task: Task, text: string): Promise<void> {
  if (task.next) await store.parents.removeFamily(task);
  // Members of a group come here at the same time: they share the note of their ends.
  const turn = store.slices.turn(text.length);
  if (turn) await turn;
  const next = finishedOrBegun(task, await store.stamp());
  const nextText = encodeTask(next);
  const { isWritten } = await store.texts.write(task.id, text, nextText);
  if (isWritten && next.state === 'waiting') await store.hints.offer(next, nextText);
}
