import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type GroupContext, GroupFinishedHandler, type TaskContext, TaskHandler } from 'nestjs-gatekeeper';
import { say } from '../say.js';
import { readSettings } from '../settings.js';

/** The tasks of the fault run: each doubles its number. */
export const WORK = 'work';

/** Works on the tasks of the fault run. Nothing but the lease keeps two of these from one task. */
@Injectable()
export class TaskWorker {
  readonly #resource = readSettings().resource!;

  @TaskHandler(WORK, { lease: '2s', concurrency: 8 })
  async work({ id, token, data }: TaskContext): Promise<{ doubled: number }> {
    const { number, takes } = data as { number: number; takes: number };
    await pause(takes);
    say('worked', { task: id, token });
    return { doubled: 2 * number };
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
