import type { EventStreams } from '../../lib/console/http/event-streams.js';
import { EventsController } from '../../lib/console/routes/events.controller.js';
import { StoreHost } from '../../lib/console/store/store-host.js';
import { until } from '../support/apps.js';
import { waitingSince } from '../support/waiting.js';
import { type Console, PLATFORMS, SETTINGS, SlowGuard, useConsoles, willHangUp } from './consoles.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';

type Asked = Parameters<typeof willHangUp>[1];

const TAKE: Asked = { method: 'POST', path: '/api/permits', body: { semaphore: 'job', wait: 60_000 } };

const CLAIM: Asked = { method: 'POST', path: '/api/tasks/claim', body: { types: ['mail'], wait: 60_000 } };

describe.each(PLATFORMS)('a client that went away before its request was let in, on %s', (platform) => {
  const start = useConsoles();
  const boot = async () => {
    const guard = new SlowGuard();
    const gatekeeper = { definitions: [{ name: 'job', duration: '10s' }] };
    const console = await start({ platform, gatekeeper, console: { ...SETTINGS, guards: [guard] } });
    return { guard, console };
  };

  /** Asks, and hangs up once the guard was asked. */
  const hangUp = async ({ guard, console }: { guard: SlowGuard; console: Console }, asked: Asked) => {
    const quit = willHangUp(console, asked);
    await until(() => guard.asked === 1);
    expect(await quit()).toBe('gone');
    await until(() => guard.passed === 1);
  };

  it('gets no permit, and is not waited for', async () => {
    const host = await boot();
    const { external } = partsOf(host.console.gatekeeper);
    const take = external.take.bind(external);
    let taking: Promise<unknown> | undefined;
    external.take = (...args) => {
      const answer = take(...args);
      taking = answer.catch((error: Error) => error);
      return answer;
    };
    await hangUp(host, TAKE);
    await until(() => taking !== undefined);
    expect(await taking).toMatchObject({ name: 'AbortError' });
    expect((await host.console.gatekeeper.state()).semaphores[0]!.holders).toEqual([]);
  });

  it('keeps no application from closing', async () => {
    const host = await boot();
    await hangUp(host, TAKE);
    const waited = waitingSince();
    await host.console.app.close();
    expect(waited()).toBeLessThan(2000);
  });

  it.each([
    ['/api/events', EventsController],
    ['/api/store/watch', StoreHost],
  ])('leaves no event stream behind: %s', async (path, owner) => {
    const host = await boot();
    const { streams } = host.console.app.get<{ streams: EventStreams }>(owner);
    const open = streams.open.bind(streams);
    let opened = 0;
    streams.open = (response) => (opened++, open(response));
    await hangUp(host, { path });
    await until(() => opened === 1);
    expect(streams.count).toBe(0);
  });
});

describe.each(PLATFORMS)('a client that goes away while its call waits, on %s', (platform) => {
  const start = useConsoles();

  it.each<[Asked, (console: Console) => boolean]>([
    [TAKE, ({ gatekeeper }) => partsOf(gatekeeper).external.waiting > 0],
    [CLAIM, ({ gatekeeper }) => (partsOf(gatekeeper).tasks.opened?.external.waiting ?? 0) > 0],
  ])('leaves no error in the log: %j', async (asked, isWaiting) => {
    const console = await start({ platform, gatekeeper: { definitions: [{ name: 'job', duration: '10s' }] } });
    await console.gatekeeper.tryAcquire('job');
    const quit = willHangUp(console, asked);
    await until(() => isWaiting(console));
    expect(await quit()).toBe('gone');
    await until(() => !isWaiting(console));
    await console.get('/api/session'); // The filter of the first call has run before this answer.
    expect(console.log.filter((line) => /^(error|warn) /.test(line))).toEqual([]);
  });
});
