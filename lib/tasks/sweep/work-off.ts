import { forEachLimit } from '../../core/async/for-each-limit.js';
import { Slices } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import type { TextEntry } from '../../core/store/index.js';

/** @returns whether there is more to do for a text at once. `stays`: it is left as it is, and others must not wait for it */
export type TextWork = (text: string) => Promise<boolean | void | 'stays'>;

/**
 * Does `work` for some texts. Those whose work fails are reported, and stay: the next turn finds them again.
 *
 * @returns whether there is more to do at once, and the number of texts that stay
 */
export async function workOff(
  rows: readonly TextEntry[],
  work: TextWork,
  { nodeClock, events }: Pick<Context, 'nodeClock' | 'events'>,
): Promise<{ isMore: boolean; stay: number }> {
  const slices = Slices.of(nodeClock);
  const errors: unknown[] = [];
  let [isMore, stay] = [false, 0];
  await forEachLimit(rows, async ({ text }) => {
    try {
      await slices.turn(text.length);
      const done = await work(text);
      if (done === 'stays') stay++;
      else if (done) isMore = true;
    } catch (error) {
      errors.push(error);
      stay++;
    }
  });
  const action = `sweep ${errors.length} of ${rows.length} tasks`;
  if (errors.length > 0) events.next({ type: 'problem', action, error: errors[0] });
  return { isMore, stay };
}
