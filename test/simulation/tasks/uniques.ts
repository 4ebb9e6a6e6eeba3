import { single } from '../../../lib/tasks/index.js';
import { Chance } from '../world/chance.js';
import type { TaskNode } from './task-node.js';
import { TROUBLE, type TasksScene } from './tasks-scene.js';

/** Type of the tasks that are submitted again while they wait or run. */
export const UNIQUE_TYPE = 'once';

interface UniqueSubmission {
  readonly id: string;
  /** Data of the submission: no two have the same. */
  readonly number: number;
  readonly begun: number;
  readonly isReplace: boolean;
  /** When it was answered that this submission counts. */
  accepted?: number;
}

/** Nodes submit a few names again and again, until the trouble ends. */
export class Uniques {
  readonly #all: UniqueSubmission[] = [];

  constructor(private readonly scene: TasksScene) {}

  plan(seed: number): void {
    // A stream of its own: other seeds of these numbers would change what all else in a schedule does.
    const chance = new Chance(seed ^ 0x5eed);
    const act = () => {
      const nodes = this.scene.staying.filter(({ process }) => process.isRunning);
      if (nodes.length > 0) this.#submit(chance.pick(nodes), chance);
    };
    for (let at = chance.between(700, 1500); at < TROUBLE; at += chance.skewed(20, 2000))
      this.scene.time.after(at, act);
  }

  /** T12: of two submissions one after another that were accepted, and of which the later one replaces, the later one counts. */
  check(): void {
    const { checker } = this.scene;
    for (const id of new Set(this.#all.map((each) => each.id))) {
      const last = this.#all.find(({ number, id: of }) => of === id && number === checker.latest(id)?.data);
      if (last?.accepted === undefined) continue;
      const later = this.#all.find(
        (each) => each.id === id && each.isReplace && each.accepted !== undefined && each.begun > last.accepted!,
      );
      if (later)
        checker.violated(`T12 ${id} ended with ${last.number}, not with ${later.number} of a later submission`);
    }
  }

  #submit(node: TaskNode, chance: Chance): void {
    const { time, trace, checker } = this.scene;
    const name = single(UNIQUE_TYPE, `u${chance.whole(1, 3)}`);
    const isReplace = chance.happens(0.6);
    const unique = {
      during: chance.pick(['waiting', 'unfinished'] as const),
      onConflict: isReplace ? ('replace' as const) : ('keep' as const),
    };
    const submission: UniqueSubmission = { id: name.id, number: this.#all.length + 1, begun: time.now, isReplace };
    this.#all.push(submission);
    const runAt = chance.happens(0.4) ? { runAt: chance.whole(1, 2000) } : {};
    trace.note(node.name, () => `submits ${name.id} ${submission.number} ${JSON.stringify(unique)}`);
    const submitting = node.submitUnique(name, submission.number, { unique, ...runAt });
    const noted = submitting.then(({ outcome }) => {
      trace.note(node.name, () => `${name.id} ${submission.number}: ${outcome}`);
      if (outcome === 'known') return;
      submission.accepted = time.now;
      checker.accepted(name.id);
    });
    node.watch('submit', noted);
  }
}
