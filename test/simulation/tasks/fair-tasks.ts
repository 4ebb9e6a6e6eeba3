import { type TaskFunction, type TaskName, single } from '../../../lib/tasks/index.js';
import { Chance } from '../world/chance.js';
import { FairChecker } from './fair-checker.js';
import type { TaskNode } from './task-node.js';
import type { TasksScene } from './tasks-scene.js';

/** Type of the tasks with fair keys. */
export const FAIR_TYPE = 'fair';
/** Tasks of each key that come at once when the trouble is over, in this order; of no key the last ones. */
const BURST: readonly (readonly [key: string | undefined, count: number])[] = [
  ['many', 40],
  ['few', 3],
  ['one', 1],
  [undefined, 4],
];
/** ms in which they end. */
const WITHIN = 120_000;

/** Tasks with fair keys, some in the trouble, and many of one key after it. */
export class FairTasks {
  readonly #chance: Chance;
  readonly #checker: FairChecker;
  #isCalm = false;

  constructor(private readonly scene: TasksScene) {
    this.#chance = new Chance(scene.seed ^ 0xfa17);
    this.#checker = new FairChecker((text) => scene.checker.violated(text));
  }

  /** The node handles such tasks. */
  handle({ tasks }: TaskNode, work: TaskFunction, chance: Chance): void {
    const { lease } = this.scene;
    const options = { lease, keepAlive: chance.happens(0.7), concurrency: chance.whole(1, 2) };
    tasks.handlers.handle(FAIR_TYPE, work, options);
  }

  observe(key: string, next: string | undefined): void {
    if (this.#isCalm && key.startsWith(`${FAIR_TYPE}:`)) this.#checker.observe(key, next);
  }

  /** Names and keys of the tasks for the time of trouble. */
  plan() {
    const chance = this.#chance;
    return Array.from({ length: chance.whole(2, 8) }, (_, index) => {
      const fairKey = chance.pick(['a', 'a', 'b', undefined]);
      return { name: single(FAIR_TYPE, `f${index}`), options: fairKey === undefined ? {} : { fairKey } };
    });
  }

  /** T14. Call this when the trouble is over, and no other task is left. */
  async settle(): Promise<void> {
    const { time, checker, staying } = this.scene;
    this.#isCalm = true;
    const node = this.#chance.pick(staying.filter(({ process }) => process.isRunning));
    for (const [fairKey, count] of BURST) {
      const names = Array.from({ length: count }, (_, index) => single(FAIR_TYPE, `${fairKey ?? 'none'}${index}`));
      const options = fairKey === undefined ? {} : { fairKey };
      const submit = (name: TaskName) => node.submit(name, {}, undefined, options);
      // The first try may share a call to the store that was lost in the trouble.
      for (const name of names)
        node.watch(
          'submit',
          submit(name).catch(() => submit(name)),
        );
      const isAccepted = () => names.every(({ id }) => checker.isAccepted(id));
      if (!(await time.pass(WITHIN, isAccepted))) checker.violated('the harness could not submit fair tasks');
    }
    if (!(await time.pass(WITHIN, () => checker.isDone)))
      checker.violated(`T1 not done within ${WITHIN} ms: ${checker.open.join()}`);
    this.#isCalm = false;
  }
}
