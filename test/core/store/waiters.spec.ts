import { Waiters } from '../../../lib/core/store/waiters.js';
import { FakeTime } from '../../support/fake-time.js';

describe('clients that wait', () => {
  const open: Waiters[] = [];
  afterEach(() => {
    for (const waiters of open.splice(0)) waiters.close();
  });

  function started(id = 'me') {
    const time = new FakeTime();
    const waiters = new Waiters(id, time);
    open.push(waiters);
    const said: string[] = [];
    waiters.connect((entry) => said.push(entry));
    return { time, waiters, said };
  }

  it('say so again for as long as they wait, and no longer', async () => {
    const { time, waiters, said } = started();
    const end = waiters.add('job');
    await time.advance(30_000);
    expect(said.length).toBeGreaterThanOrEqual(5);
    expect(new Set(said)).toEqual(new Set(['me job']));
    end();
    said.length = 0;
    await time.advance(60_000);
    expect(said).toEqual([]);
  });

  it('say so once, however often they wait', () => {
    const { waiters, said } = started();
    for (let count = 0; count < 1000; count++) waiters.add('job')();
    expect(said).toEqual(['me job']);
  });

  it('say so to a new connection', () => {
    const { waiters } = started();
    const end = waiters.add('job');
    const said: string[] = [];
    waiters.connect((entry) => said.push(entry));
    expect(said).toEqual(['me job']);
    end();
  });

  it('are known to others for some seconds after they said so last', async () => {
    const { time, waiters } = started();
    waiters.note('one job: with blanks');
    waiters.note('two ');
    expect(waiters.of('job: with blanks')).toEqual(['one', 'two']);
    expect(waiters.of('other')).toEqual(['two']);
    await time.advance(14_000);
    waiters.note('two ');
    await time.advance(2000);
    expect(waiters.of('job: with blanks')).toEqual(['two']);
  });

  it('leave nothing in memory: keys of which nothing was heard are forgotten', async () => {
    const { time, waiters, said } = started();
    for (let round = 0; round < 5; round++) {
      for (let count = 0; count < 1000; count++) {
        waiters.note(`one job-${round}-${count}`);
        waiters.add(`job-${round}-${count}`)();
      }
      await time.advance(20_000);
    }
    waiters.note('one last');
    expect(said).toHaveLength(5000);
    expect(waiters.size).toBe(1);
  });
});
