import type { Page } from 'playwright-core';
import { gone, lackOfBrowser, useBrowser } from '../../page/chromium.js';
import { eventually } from '../../../test/contract/eventually.js';
import { lackOfMembers } from '../../needs/members.js';
import { describeUnless } from '../../../test/support/unless.js';
import { ON_HAZELCAST, RunningSample } from './running-sample.js';

const TOKEN = 'sample-operator-token';
const EXPORTED = /\[nightly-export\] exported/;
const SECOND = 1000;
/** Until the permit of the former holder is over, and its successor had a tick. */
const MOVED = 15 * SECOND;

interface Changed {
  readonly change: { readonly at: number; readonly by: string };
}

interface Entry {
  readonly kind: 'run' | 'skip';
  readonly reason?: string;
  readonly at: number;
  readonly node: { readonly acquirer: string };
}

describeUnless(lackOfMembers ?? lackOfBrowser)('operators at two ports of the sample', () => {
  const visit = useBrowser();
  let sample: RunningSample;
  beforeAll(async () => void (sample = await RunningSample.start(ON_HAZELCAST)));
  afterAll(() => sample?.[Symbol.asyncDispose]());

  it('see at one port what was edited at another, where it is in force for the next tick', async () => {
    const { port: holder } = await sample.nextLine(EXPORTED, 10 * SECOND);
    const [heir] = sample.others(holder) as [number];
    await eventually('both ports know the semaphore', async () => {
      const answers = await Promise.all([holder, heir].map((port) => ask(port, 'semaphores/nightly-export')));
      return answers.every(({ status }) => status === 200);
    });
    const [here, there] = [await page(heir), await page(holder)];

    await here.getByRole('button', { name: 'Edit' }).click();
    await here.getByLabel('Acquirer pattern').fill(`app-${heir}`);
    await here.getByText('1 of 3 living nodes matches').waitFor();
    const put = here.getByRole('button', { name: 'Put into force' });
    await put.click();
    await gone(put);
    await there.getByText(`app-${heir}`, { exact: true }).first().waitFor();

    await sample.nextLine(EXPORTED, MOVED, [heir]);
    const { semaphore } = await json<{ semaphore: Changed }>(holder, 'semaphores/nightly-export');
    const { change } = semaphore;
    expect(change).toMatchObject({ by: 'ann' });
    // The journal shows that the former holder's next tick, and all later ones, were refused.
    const since = await eventually('both nodes told of their ticks', async () => {
      const { entries } = await json<{ entries: Entry[] }>(heir, 'history?semaphore=nightly-export');
      const later = entries.filter(({ at }) => at > change.at);
      const isTold = (kind: string, port: number) =>
        later.some((entry) => entry.kind === kind && entry.node.acquirer === `app-${port}`);
      return isTold('run', heir) && isTold('skip', holder) && later;
    });
    const ran = since.filter(({ kind }) => kind === 'run').map(({ node }) => node.acquirer);
    expect(new Set(ran)).toEqual(new Set([`app-${heir}`]));
    expect(since.find(({ node }) => node.acquirer === `app-${holder}`)?.reason).toBe('acquirer');
  });

  async function page(port: number): Promise<Page> {
    const url = `http://127.0.0.1:${port}/gatekeeper`;
    const visited = await visit(url, { token: TOKEN, at: '/semaphores/nightly-export' });
    return visited.page;
  }

  function ask(port: number, path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${port}/gatekeeper/api/${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  }

  async function json<T>(port: number, path: string): Promise<T> {
    return (await ask(port, path)).json() as Promise<T>;
  }
});
