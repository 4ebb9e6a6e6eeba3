import type { StreamedEvent } from '../api/event-stream.js';

/** Events after which a page loads its data again. Denials change nothing on a page, and refreshes only countdowns. */
const TELLING: ReadonlySet<string | undefined> = new Set([
  'run-started',
  'run-finished',
  'lost',
  'expired',
  'audited',
  'restored',
  'record-unreadable',
  // Its runs count as crashed from now on.
  'member-crashed',
]);

export function anyChange({ event }: StreamedEvent): boolean {
  return event === 'change';
}

export function anyChangeOrRun(streamed: StreamedEvent): boolean {
  return anyChange(streamed) || TELLING.has(parsed(streamed).type);
}

/** For what changes seldom, and is asked for again at its interval alone. */
export function nothing(): boolean {
  return false;
}

/** Changes that people made through the answering node. */
export function anyEdit(streamed: StreamedEvent): boolean {
  return parsed(streamed).type === 'audited';
}

/** Changes and runs of one semaphore. */
export function concerning(name: string): (event: StreamedEvent) => boolean {
  return (streamed) => {
    const { semaphores, semaphore, type } = parsed(streamed);
    if (streamed.event === 'change') return semaphores?.includes(name) ?? true;
    return semaphore === name && TELLING.has(type);
  };
}

function parsed({ data }: StreamedEvent): { semaphores?: string[]; semaphore?: string; type?: string } {
  try {
    return (JSON.parse(data) as object | null) ?? {};
  } catch {
    return {};
  }
}
