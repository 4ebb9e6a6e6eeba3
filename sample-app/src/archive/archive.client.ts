import { Injectable } from '@nestjs/common';
import { currentPermit } from 'nestjs-gatekeeper';
import { Environment } from '../environment.js';

/** Someone with a newer permit has written since. */
export class StaleTokenError extends Error {}

/** Writes to the archive in the name of the guarded run that the caller is part of. */
@Injectable()
export class ArchiveClient {
  constructor(private readonly environment: Environment) {}

  /**
   * @throws StaleTokenError when the archive has seen a newer token of this semaphore and slot
   * @throws NoCurrentPermitError outside a guarded run
   */
  async put(document: string, text: string): Promise<void> {
    // However deep inside the calls of a run: its permit need not be handed down.
    const { semaphore, slot, token, signal } = currentPermit();
    const url = `${this.environment.archiveUrl}/${semaphore}/${slot}/${document}?token=${token}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ text }), signal });
    if (answer.status === 409) throw new StaleTokenError(`the archive refused token ${token}: a newer one has written`);
    if (!answer.ok) throw new Error(`the archive answered ${answer.status} to ${url}`);
  }
}
