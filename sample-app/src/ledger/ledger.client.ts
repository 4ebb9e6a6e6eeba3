import { Injectable } from '@nestjs/common';
import { GatekeeperService, type TaskContext } from 'nestjs-gatekeeper';
import { Environment } from '../environment.js';

/** The part of the context of a task, or of a group, that a write needs. */
type Writer = Pick<TaskContext, 'id' | 'token' | 'signal'>;

/** Writes lines of the shared ledger: one per book and task, however often the task runs. */
@Injectable()
export class LedgerClient {
  constructor(
    private readonly environment: Environment,
    private readonly gatekeeper: GatekeeperService,
  ) {}

  /** @throws Error if the ledger can't be asked: then the task is tried again */
  async write(book: string, { id, token, signal }: Writer, line: object): Promise<void> {
    const entry = { id, token, node: this.gatekeeper.node.acquirer, ...line };
    const url = `${this.environment.archiveUrl}/ledger/${book}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(entry), signal });
    if (!answer.ok) throw new Error(`the ledger answered ${answer.status} to ${url}`);
  }
}
