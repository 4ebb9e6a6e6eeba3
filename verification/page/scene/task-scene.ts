import { type GatekeeperService, InvalidTaskError, type TaskContext, grouped, single } from 'nestjs-gatekeeper';
import { partsOf } from '../../../lib/gatekeeper/parts.js';

type Handled = Pick<TaskContext<{ file?: string; month?: string }>, 'data' | 'progress' | 'signal'>;

/** Tasks of a shop in the middle of its day. The attempts that run go on until they are aborted, or {@link close}. */
export class TaskScene {
  readonly #ends = new AbortController();

  /** @param nodes begin to work on tasks */
  async play(...nodes: readonly GatekeeperService[]): Promise<void> {
    const [one] = nodes;
    for (const node of nodes) this.#handle(node);
    const { tasks } = partsOf(one!);
    for (const node of nodes) partsOf(node).tasks.start();
    await tasks.submitMany([
      ...Array.from({ length: 12 }, (_, index) => ({
        name: grouped('import-file', 'june', index + 1, 12),
        data: { file: `/imports/june/part-${String(index + 1).padStart(2, '0')}.csv` },
      })),
      ...Array.from({ length: 9 }, (_, index) => ({
        name: single('mail', `order-${4711 + index}`),
        data: { to: 'ada@example.org' },
      })),
      ...['photo-7.heic', 'photo-8.heic', 'scan-3.tiff'].map((file) => ({
        name: single('thumbnail', file),
        data: { file },
        options: { maxAttempts: 1 },
      })),
      { name: single('report', 'june'), options: { after: ['import-file[june]'], priority: 'low' as const } },
      { name: single('archive', 'may') },
      { name: single('newsletter', 'july'), options: { runAt: '3h' } },
    ]);
    await tasks.submit(single('reconcile', 'june'), { month: 'june' });
    await tasks.submit(single('invoice', 'order-4699'), { total: 12.5 });
    await tasks.cancel('invoice:order-4699', { by: 'ann', reason: 'the order was returned' });
  }

  /** Ends the attempts that run. */
  close(): void {
    this.#ends.abort();
  }

  #handle(node: GatekeeperService): void {
    const { handlers, schedules } = partsOf(node).tasks;
    handlers.handle('import-file', (task) => this.#import(task as Handled), { concurrency: 2 });
    handlers.onGroupFinished('import-file', () => undefined);
    handlers.handle('reconcile', async ({ submit, submitMany }) => {
      await submit(single('letter', 'to the bank'));
      await submitMany([1, 2, 3].map((number) => ({ name: grouped('account', 'accounts', number, 3) })));
    });
    schedules.add('nightly-report', '0 3 * * *', () => undefined, { timeZone: 'Europe/Berlin', missed: 'once' });
    schedules.add('exchange-rates', '*/10 * * * *', () => undefined, { mode: 'at-most-one-running' });
    handlers.handle('mail', () => ({ sent: true }), { concurrency: 8 });
    handlers.handle('thumbnail', ({ data }) => fail(data as { file: string }));
  }

  async #import({ data, progress, signal }: Handled): Promise<void> {
    progress(1200, 4800, `reads ${data.file}`);
    if (this.#ends.signal.aborted) return; // It began when others had ended: no event follows.
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      this.#ends.signal.addEventListener('abort', () => resolve());
    });
  }
}

function fail({ file }: { readonly file: string }): never {
  if (file.endsWith('.tiff')) throw new InvalidTaskError(`${file}: TIFF files are not supported`);
  throw new Error(`${file}: the decoder ended with signal SIGSEGV`);
}
