import type { NodeIdentity } from '../../../lib/core/context/node-identity.js';
import type { LivingNodes } from '../../../lib/tasks/sweep/readdressing.js';
import type { TaskTarget } from '../../../lib/tasks/rules/task-parts.js';
import { type TaskFunction, type TaskName, grouped, single } from '../../../lib/tasks/index.js';
import { Chance } from '../world/chance.js';
import { AddressChecker } from './address-checker.js';
import { LivingList } from './living-list.js';
import type { TaskNode } from './task-node.js';
import { TROUBLE, type TasksScene } from './tasks-scene.js';

/** Type of the tasks that are addressed to nodes. */
const SENT_TYPE = 'sent';
/** ms between two tries of an application. */
const AGAIN = 2000;

/** Group and name of the processes of an application on three machines, which start again and again. */
export function identityOf(instance: string): NodeIdentity {
  const index = Number(instance.slice(1));
  return { group: `g${index % 2}`, acquirer: `app${index % 3}`, instance };
}

/** Patterns; each one must match a node in the end. */
const PATTERNS: readonly TaskTarget[] = [
  { group: 'g0' },
  { group: 'g1' },
  { acquirer: 'app[12]' },
  { group: 'g.', acquirer: 'app0' },
];

/** Tasks that are addressed to nodes by patterns, or to a process, which may be gone; and lists that a leader hands out. */
export class SentTasks {
  readonly #chance: Chance;
  readonly #living: LivingList;
  readonly #checker: AddressChecker;
  /** Tasks that wait for ever once their process is gone, with its instance. */
  readonly #bound = new Map<string, string>();

  constructor(private readonly scene: TasksScene) {
    // A stream of its own: other seeds of these numbers would change what all else in a schedule does.
    this.#chance = new Chance(scene.seed ^ 0xadd7e55);
    this.#living = new LivingList(scene, this.#chance.fork());
    this.#checker = new AddressChecker(identityOf, this.#living, (text) => scene.checker.violated(text));
  }

  livingNodes(node: TaskNode): LivingNodes {
    return this.#living.for(node);
  }

  /** The node handles such tasks. */
  handle({ tasks, identity }: TaskNode, work: TaskFunction, chance: Chance): void {
    const { lease } = this.scene;
    const options = { lease, keepAlive: chance.happens(0.7), concurrency: chance.whole(1, 3) };
    const run: TaskFunction = (task) => {
      this.#checker.began(task.id, identity);
      return work(task);
    };
    tasks.handlers.handle(SENT_TYPE, run, options);
    tasks.handlers.onGroupFinished(SENT_TYPE, () => undefined, { lease, ...this.scene.tries });
  }

  observe(key: string, former: string | undefined, next: string | undefined): void {
    this.#checker.observe(key, former, next);
  }

  /** @returns the groups that are submitted */
  plan(): { readonly name: string; readonly total: number }[] {
    const chance = this.#chance;
    for (let count = chance.whole(2, 8); count > 0; count--) this.#submit(single(SENT_TYPE, `t${count}`));
    if (chance.happens(0.3)) return [];
    const total = chance.whole(2, 8);
    const isGroup = chance.happens(0.5);
    const names = Array.from({ length: total }, (_, index) =>
      isGroup ? grouped(SENT_TYPE, 'pieces', index + 1, total) : single(SENT_TYPE, `p${index + 1}`),
    );
    this.#distribute(names);
    return isGroup ? [{ name: 'pieces', total }] : [];
  }

  /** Nodes start until each pattern matches one. People cancel what waits for a process that does not come back. */
  settle(): void {
    const { scene } = this;
    const isCovered = (target: TaskTarget) =>
      scene.staying.some(({ identity: { group, acquirer } }) =>
        new RegExp(`^${target.group ?? '.*'}/${target.acquirer ?? '.*'}$`).test(`${group}/${acquirer}`),
      );
    while (!PATTERNS.every(isCovered)) scene.start();
    this.#cancelBound();
  }

  #cancelBound(): void {
    const { scene } = this;
    const open = new Set(scene.checker.open);
    const isGone = (instance: string) => !scene.living.some(({ name }) => name === instance);
    const left = [...this.#bound].filter(([id, instance]) => open.has(id) && isGone(instance));
    const node = scene.staying.find(({ process }) => process.isRunning);
    for (const [id] of left) node?.watch('cancel', node.tasks.cancel(id, { reason: 'simulated: its node is gone' }));
    if (scene.isAtWork) scene.time.after(AGAIN, () => this.#cancelBound());
  }

  #submit(name: TaskName): void {
    let to: TaskTarget | undefined;
    this.scene.wanted.add(name.id);
    this.#soon(
      async (node) => {
        to ??= this.#drawTarget(name.id);
        this.#checker.asked(name.id, to);
        await node.submit(name, { of: name.id }, undefined, { to });
      },
      [name],
    );
  }

  /** A leader hands out a list. If it fails, the next one does so again, over the nodes that live then. */
  #distribute(names: readonly TaskName[]): void {
    const { scene } = this;
    for (const { id } of names) scene.wanted.add(id);
    this.#soon(async (node) => {
      const over = scene.staying.map((each) => each.name);
      for (const { id } of names) for (const instance of over) this.#checker.asked(id, { instance, orAnother: true });
      scene.trace.note(node.name, () => `distributes ${names.length} tasks over ${over.join()}`);
      // A member that is submitted again after the end of its group would open it anew.
      const options = { ...scene.usual, dedup: 'retained' } as const;
      await node.tasks.distribute(
        names.map((name) => ({ name, data: { of: name.id }, options })),
        { over },
      );
      for (const { id } of names) scene.checker.accepted(id);
    }, names);
  }

  /** Submits from a node that lives then, again until it is accepted. */
  #soon(submit: (node: TaskNode) => Promise<void>, names: readonly TaskName[]): void {
    const { time, checker } = this.scene;
    const attempt = (): void => {
      if (names.every(({ id }) => checker.isAccepted(id))) return;
      const nodes = this.scene.staying.filter(({ process }) => process.isRunning);
      const node = nodes.length > 0 ? this.#chance.pick(nodes) : undefined;
      node?.watch('submit', submit(node));
      time.after(AGAIN, attempt);
    };
    time.after(this.#chance.between(600, TROUBLE / 2), attempt);
  }

  #drawTarget(id: string): TaskTarget {
    const chance = this.#chance;
    if (chance.happens(0.4)) return chance.pick(PATTERNS);
    // Perhaps of a process that is gone.
    const instance = chance.pick(this.scene.nodes).name;
    if (chance.happens(0.3)) {
      this.#bound.set(id, instance);
      return { instance };
    }
    // A process that the patterns must match, too.
    return chance.happens(0.4)
      ? { group: identityOf(instance).group, instance, orAnother: true }
      : { instance, orAnother: true };
  }
}
