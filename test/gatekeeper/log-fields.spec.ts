import { Writable } from 'node:stream';
import { ConsoleLogger } from '@nestjs/common';
import { Gatekeeper, type GatekeeperLogger, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { pino } from 'pino';

type Entry = Record<string, unknown>;

/** Two nodes of one store compete for a job; the second one writes its log. */
async function logOfDenial(logger: GatekeeperLogger, logFields: string): Promise<void> {
  const options = { store: memory(), heartbeat: 0, group: 'test' };
  const silent: GatekeeperLogger = { log: noLine, warn: noLine, error: noLine, debug: noLine };
  const other = new Gatekeeper(parseGatekeeperOptions({ ...options, acquirer: 'app1' }), silent);
  const node = new Gatekeeper(parseGatekeeperOptions({ ...options, acquirer: 'app2', logFields }), logger);
  await Promise.all([other.start(), node.start()]);
  await other.acquire('job', { duration: '5s' });
  await node.run('job', () => undefined, { duration: '5s' });
  await Promise.all([other.close(), node.close()]);
}

const noLine = () => undefined;
const skipped = {
  event: 'run-skipped',
  node: 'app2',
  nodeGroup: 'test',
  instance: expect.any(String),
  semaphore: 'job',
  job: 'job',
  reason: 'no-permit',
};

describe('the option logFields', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('gives the JSON logger of Nest entries with fields', async () => {
    const lines: Entry[] = [];
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      if (String(text).startsWith('{')) lines.push(JSON.parse(String(text)) as Entry);
      return true;
    });
    await logOfDenial(new ConsoleLogger('Gatekeeper', { json: true }), 'message');
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'debug',
        context: 'Gatekeeper',
        message: { message: '"job": skipped job (no-permit)', ...skipped },
      }),
    );
  });

  it('gives pino entries whose fields stand beside its own', async () => {
    const lines: Entry[] = [];
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(JSON.parse(String(chunk)) as Entry);
        done();
      },
    });
    const log = pino({ level: 'debug' }, stream);
    const to = (level: 'info' | 'warn' | 'error' | 'debug') => (line: unknown) => log[level](line as object);
    await logOfDenial({ log: to('info'), warn: to('warn'), error: to('error'), debug: to('debug') }, 'msg');
    const entry = lines.find(({ event }) => event === 'run-skipped');
    expect(entry).toMatchObject({ level: 20, msg: '"job": skipped job (no-permit)', ...skipped });
  });
});
