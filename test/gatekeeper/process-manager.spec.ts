import { hostname } from 'node:os';
import { memory } from 'nestjs-gatekeeper';
import { parseGatekeeperOptions } from '../../lib/gatekeeper/gatekeeper-options.js';
import { defaultName, shutdownTime } from '../../lib/gatekeeper/process.js';
import { settled } from '../support/fake-time.js';
import { JOB, useCluster } from '../support/nodes.js';

/** Sets variables of the process for one test. */
function useVariables() {
  const former = new Map<string, string | undefined>();
  afterEach(() => {
    for (const [name, value] of former)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    former.clear();
  });
  return (variables: Record<string, string>) => {
    for (const [name, value] of Object.entries(variables)) {
      former.set(name, process.env[name]);
      process.env[name] = value;
    }
  };
}

describe('the default name of a node', () => {
  const setVariables = useVariables();

  it.each<[string, Record<string, string>, string]>([
    ["is the host's", {}, hostname()],
    ['has the number that PM2 shows', { pm_id: '3', NODE_APP_INSTANCE: '0' }, `${hostname()}#3`],
    ['has the number of the first worker, which is 0', { pm_id: '0' }, `${hostname()}#0`],
    ['has the number of the instance', { NODE_APP_INSTANCE: '1' }, `${hostname()}#1`],
    ['leaves out an empty number', { NODE_APP_INSTANCE: '' }, hostname()],
  ])('%s', (_, variables, name) => {
    expect(defaultName(variables)).toBe(name);
  });

  it('tells workers of one host apart, and is no other than the one that an option gives', () => {
    setVariables({ NODE_APP_INSTANCE: '1' });
    expect(parseGatekeeperOptions({ store: memory() }).acquirer).toBe(`${hostname()}#1`);
    expect(parseGatekeeperOptions({ store: memory(), acquirer: 'erp-1' }).acquirer).toBe('erp-1');
  });
});

describe('a shutdown under PM2', () => {
  const cluster = useCluster();
  const setVariables = useVariables();

  it.each<[string, Record<string, string>, ReturnType<typeof shutdownTime>]>([
    ['has its grace without PM2', { kill_timeout: '1600' }, { grace: 10_000 }],
    ['ends before PM2 kills the process', { pm_id: '0' }, { grace: 900, killedAfter: 1600 }],
    ['has the time of kill_timeout', { pm_id: '0', kill_timeout: '5000' }, { grace: 4300, killedAfter: 5000 }],
    ['has the time of the daemon', { pm_id: '0', PM2_KILL_TIMEOUT: '3000' }, { grace: 2300, killedAfter: 3000 }],
    ['has all of its grace where kill_timeout is longer', { pm_id: '0', kill_timeout: '11000' }, { grace: 10_000 }],
    ['has none where the time is too short', { pm_id: '0', kill_timeout: '300' }, { grace: 0, killedAfter: 300 }],
  ])('%s', (_, variables, time) => {
    expect(shutdownTime(10_000, variables)).toEqual(time);
  });

  it('is over in time, names the run that it cut and the setting that lets it end', async () => {
    setVariables({ pm_id: '0' });
    const nodes = cluster();
    const { gatekeeper, log } = await nodes.node({ definitions: [JOB, { ...JOB, name: 'short' }] });
    await gatekeeper.run('short', () => 1);
    void gatekeeper.run('job', () => new Promise(() => undefined), { job: 'Jobs.export' });
    await settled();
    const closing = gatekeeper.close();
    await nodes.time.advance(900);
    await closing;
    expect((await nodes.record('short')).permits).toEqual([]);
    expect((await nodes.record()).permits).toHaveLength(1);
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([
      'warn "job": Jobs.export lost its permit: the application shut down',
      expect.stringMatching(
        /^warn problem in "shut down": runs had 900 ms to end, because PM2 kills .* 1600 ms .* kill_timeout/,
      ),
      'warn "job": problem in "shut down": Jobs.export has not ended after its signal: its permit stays until it expires, in 9.1 s, ' +
        'and nothing else runs under it before',
    ]);
  });
});
