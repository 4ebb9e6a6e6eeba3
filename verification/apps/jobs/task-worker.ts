import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type GroupContext, GroupFinishedHandler, type TaskContext, TaskHandler, single } from 'nestjs-gatekeeper';
import { say } from '../say.js';
import { readSettings } from '../settings.js';

/** The tasks of the fault run: each doubles its number. */
export const WORK = 'work';

/** Their sub-tasks. */
const PART = 'part';

/** Works on the tasks of the fault run. Nothing but the lease keeps two of these from one task. */
@Injectable()
export class TaskWorker {
  readonly #resource = readSettings().resource!;

  @TaskHandler(WORK, { lease: '2s', concurrency: 8 })
  async work({ id, token, data, submitMany }: TaskContext): Promise<{ doubled: number }> {
    const { number, takes, parts } = data as { number: number; takes: number; parts: number };
    await pause(takes);
    const names = Array.from({ length: parts }, (_, index) => single(PART, `${index + 1}`));
    await submitMany(names.map((name, index) => ({ name, data: { parent: id, part: index + 1 } })));
    say('worked', { task: id, token });
    return { doubled: 2 * number };
  }

  @TaskHandler(PART, { lease: '2s', concurrency: 4 })
  part({ token, data }: TaskContext): void {
    say('part-worked', { ...(data as object), token });
  }

  /** The guarded resource takes the effect of each group once; the token keeps late writers out. */
  @GroupFinishedHandler(WORK, { lease: '2s', concurrency: 4 })
  async join(group: GroupContext): Promise<void> {
    const { total, completed, token } = group;
    let sum = 0;
    for await (const { result } of group.members()) sum += (result as { doubled: number }).doubled;
    const answer = await fetch(`${this.#resource}/joined/${group.group}/page?token=${token}`, { method: 'PUT' });
    say('joined', { group: group.group, total, completed, sum, token, status: answer.status });
  }
}
