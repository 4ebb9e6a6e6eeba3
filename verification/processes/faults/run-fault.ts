import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sharedNow } from '../../apps/say.js';
import { type Verdict, checkHistory } from '../../proof/history/check-history.js';
import { verdictText } from '../../proof/history/verdict-text.js';
import { Chance } from '../../../test/simulation/world/chance.js';
import type { Fault } from './fault.js';
import { CLOCK_TOLERANCE, LEASE, TestBed } from './test-bed.js';
import type { FaultSite } from './fault-site.js';
import type { StoreName } from './stores.js';
import { type AllocationFigures, judgeAllocation } from './allocation-figures.js';
import { type LeadershipFigures, leadershipFigures } from './leadership-figures.js';
import { type SemaphoreTakeovers, takeoversAfterKill } from './takeovers-after-kill.js';

/** ms that a timer may be late, and a line after the event it reports, where three JVMs and four nodes share two cores. */
const SLACK = 250;

/** ms from the death or freeze of an owner to the next one, as docs/allocation.md promises it. */
export const OWNER_TAKEOVER = LEASE + CLOCK_TOLERANCE + 2000;

export interface FaultOptions {
  readonly seed: number;
  /** ms for which the fault is injected again and again, and at least once. */
  readonly lasts: number;
  /** Folder for the histories. */
  readonly folder: string;
  /** A deliberate mistake of the clients, to see that it is found. */
  readonly overstay?: number;
}

export interface FaultResult {
  readonly fault: string;
  readonly store: StoreName;
  readonly seconds: number;
  readonly injections: number;
  readonly figures: Verdict['figures'];
  readonly takeovers: readonly SemaphoreTakeovers[];
  readonly leadership: LeadershipFigures;
  readonly allocation: AllocationFigures;
  /** ms: the longest that the owners may take to settle after an injection. */
  readonly convergence: number;
  /** ms after which each semaphore was granted again when all was well; the longest of all injections. */
  readonly recovery: number;
  readonly violations: readonly string[];
  /** Overlaps and tokens out of order that a split without a quorum may bring. */
  readonly tolerated: number;
  readonly history: string;
  /** The verdict of the checker, as text for people. */
  readonly story: string;
}

/** Injects one fault into a site again and again, and judges by the history. */
export async function runFault(site: FaultSite, fault: Fault, options: FaultOptions): Promise<FaultResult> {
  const { seed, lasts, folder, overstay } = options;
  const chance = new Chance(seed);
  const { name, clientClocks = false, losesData = false } = fault;
  const testBed = await TestBed.open(site, { fault: name, seed, clientClocks, losesData, overstay });
  const began = sharedNow();
  let injections = 0;
  let recovery = 0;
  try {
    do {
      recovery = Math.max(recovery, await inject(testBed, fault, chance.fork()));
      injections++;
      await pause(chance.between(0, 500));
    } while (sharedNow() - began < lasts && testBed.complaints.length === 0);
    await testBed.finish();
  } finally {
    await testBed[Symbol.asyncDispose]();
  }
  const ended = sharedNow();
  const history = join(folder, `${site.options.store}-${fault.name}.jsonl`);
  await mkdir(folder, { recursive: true });
  await testBed.recorder.save(history);
  return {
    fault: fault.name,
    store: site.options.store,
    seconds: (ended - began) / 1000,
    injections,
    recovery,
    convergence: fault.bounds.convergence,
    history,
    takeovers: takeoversAfterKill(testBed.recorder.entries, testBed.semaphores, ended),
    leadership: leadershipFigures(testBed.recorder.entries, testBed.leadership.name, ended),
    ...judge(testBed, fault),
  };
}

/** @returns ms until each semaphore was granted again */
async function inject(testBed: TestBed, fault: Fault, chance: Chance): Promise<number> {
  const tell = (event: 'fault-begun' | 'fault-over') => {
    if (fault.isOfStore) testBed.recorder.outside('controller', { event, fault: fault.name });
  };
  tell('fault-begun');
  try {
    await fault.action(testBed, chance);
  } catch (error) {
    testBed.complaints.push(`${fault.name} could not be ended: ${String((error as Error).stack)}`);
  }
  tell('fault-over');
  testBed.allWell();
  // The history says how long that takes.
  const settled = testBed.settled(fault.bounds.convergence).catch(() => undefined);
  // Where only clients suffer takeovers are due all the time, and are judged by the history.
  const recovery = fault.isOfStore ? await testBed.grantsOf(testBed.recovering, fault.bounds.recovery) : 0;
  await settled;
  return recovery;
}

type Judged = Pick<FaultResult, 'figures' | 'allocation' | 'violations' | 'tolerated' | 'story'>;

function judge(testBed: TestBed, { bounds, isOfStore }: Fault): Judged {
  const times = [...testBed.recovering, testBed.leadership].map(({ name, duration }) => [
    name,
    { duration, tolerance: CLOCK_TOLERANCE, bound: bounds.takeover },
  ]);
  const { entries } = testBed.recorder;
  const owners = new Set(testBed.owners);
  const others = entries.filter((entry) => !('semaphore' in entry && owners.has(entry.semaphore)));
  const permits = checkHistory(others, { takeovers: Object.fromEntries(times), slack: SLACK });
  const limits = { takeover: isOfStore ? undefined : OWNER_TAKEOVER, convergence: bounds.convergence };
  const allocation = judgeAllocation(entries, testBed.owners, limits, SLACK);
  const found = [...permits.violations, ...allocation.violations];
  const isTolerated = (rule: string) => bounds.mayOverlap === true && (rule === 'S1' || rule === 'S2');
  const broken = found.filter(({ rule }) => !isTolerated(rule));
  return {
    figures: permits.figures,
    allocation: allocation.figures,
    violations: [...testBed.complaints, ...broken.map(({ rule, text }) => `${rule} ${text}`)],
    tolerated: found.length - broken.length,
    story: verdictText({ figures: permits.figures, violations: broken }),
  };
}
