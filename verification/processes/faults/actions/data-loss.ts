import { setTimeout as pause } from 'node:timers/promises';
import type { DefinitionState } from 'nestjs-gatekeeper';
import { sharedNow } from '../../../apps/say.js';
import { eventually } from '../../../../test/contract/eventually.js';
import type { Fault } from '../fault.js';
import { CLOCK_TOLERANCE, type Contended, type TestBed } from '../test-bed.js';

/**
 * All members die at once while a holder works, and come back empty. The nodes must restore a definition that was edited
 * at run time, and no other process may get the permit before its holder is done.
 */
const loseAll: Fault['action'] = async (testBed, chance) => {
  const trio = testBed.semaphore('trio');
  const permits = await edited(testBed, trio, chance.pick([1, 2]));
  const { semaphore } = await testBed.holder(chance, [testBed.semaphore('solo'), testBed.semaphore('long')]);
  const holding = testBed.recorder.holders(semaphore.name)[0];
  const before = testBed.recorder.grants(semaphore.name, 0).at(-1)!;
  const lostAt = sharedNow();
  await Promise.all(testBed.members.map((member) => member.kill()));
  await pause(chance.between(0, 2000));
  const [first, ...others] = testBed.members;
  await first!.start();
  await Promise.all(others.map((member) => member.start()));
  await testBed.site.whole();
  const isBack = async () => (await definition(testBed, trio)).definition?.permits === permits;
  await eventually(`${trio.name} has ${permits} permits again`, isBack, 20_000).catch(async () => {
    const found = JSON.stringify(await definition(testBed, trio).catch(String));
    testBed.complaints.push(`data loss: ${trio.name} was edited to ${permits} permits and came back as ${found}`);
  });
  await testBed.grantsOf([semaphore], 20_000);
  const after = testBed.recorder.grants(semaphore.name, lostAt).find(({ permit }) => permit !== before.permit);
  if (after && after.token <= before.token)
    testBed.complaints.push(`data loss: token ${after.token} of ${semaphore.name} came after ${before.token}`);
  if (after && holding && after.at < Math.min(holding.until, testBed.recorder.endOf(before.permit)))
    testBed.complaints.push(`data loss: ${semaphore.name} was granted anew while the first holder had its permit`);
  await edited(testBed, trio, trio.permits);
};

/** Edits a definition, and waits until it is surely in force: surplus holders keep what they have until it ends. */
async function edited(testBed: TestBed, semaphore: Contended, permits: number): Promise<number> {
  const isMore = permits >= semaphore.permits;
  if (isMore) testBed.limited(semaphore, permits);
  const path = `/definitions/${semaphore.name}/permits/${permits}`;
  await eventually(`${semaphore.name} is edited`, () => testBed.clients[0]!.ask('PUT', path));
  if (isMore) return permits;
  await pause(semaphore.duration + CLOCK_TOLERANCE);
  testBed.limited(semaphore, permits);
  return permits;
}

async function definition(testBed: TestBed, { name }: Contended): Promise<Partial<DefinitionState>> {
  return (await testBed.clients.at(-1)!.ask('GET', `/definitions/${name}`)) as Partial<DefinitionState>;
}

export const DATA_LOSSES: readonly Fault[] = [
  {
    name: 'data-loss',
    needs: [],
    isOfStore: true,
    losesData: true,
    alsoOn: ['pessimistic'],
    // Three members start one after the other, and then comes the grace: as long as the longest permit.
    bounds: { takeover: 20_000, recovery: 20_000, convergence: 20_000 },
    action: loseAll,
  },
];
