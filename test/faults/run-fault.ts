import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sharedNow } from '../apps/say.js';
import { type Verdict, checkHistory } from '../history/check-history.js';
import { verdictText } from '../history/verdict-text.js';
import { Chance } from '../simulation/world/chance.js';
import type { Fault } from './fault.js';
import { CLOCK_TOLERANCE, TestBed } from './test-bed.js';
import type { Site } from './site.js';
import type { StoreName } from './stores.js';
import { type LeadershipFigures, leadershipFigures } from './leadership-figures.js';
import { type SemaphoreTakeovers, takeoversAfterKill } from './takeovers-after-kill.js';

/** ms that a timer may be late, and a line after the event it reports, where three JVMs and four nodes share two cores. */
const SLACK = 250;

export interface FaultOptions {
  readonly seed: number;
  /** ms for which the fault is injected again and again, and at least once. */
  readonly lasts: number;
  /** Folder for the histories. */
  readonly folder: string;
}

export interface FaultResult {
  readonly fault: string;
  readonly store: StoreName;
  readonly seconds: number;
  readonly injections: number;
  readonly figures: Verdict['figures'];
  readonly takeovers: readonly SemaphoreTakeovers[];
  readonly leadership: LeadershipFigures;
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
export async function runFault(site: Site, fault: Fault, options: FaultOptions): Promise<FaultResult> {
  const { seed, lasts, folder } = options;
  const chance = new Chance(seed);
  const { name, clientClocks = false, losesData = false } = fault;
  const testBed = await TestBed.open(site, { fault: name, seed, clientClocks, losesData });
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
  // Where only clients suffer takeovers are due all the time, and are judged by the history.
  return fault.isOfStore ? testBed.grantsOf(testBed.recovering, fault.bounds.recovery) : 0;
}

function judge(
  testBed: TestBed,
  { bounds }: Fault,
): Pick<FaultResult, 'figures' | 'violations' | 'tolerated' | 'story'> {
  const times = [...testBed.recovering, testBed.leadership].map(({ name, duration }) => [
    name,
    { duration, tolerance: CLOCK_TOLERANCE, bound: bounds.takeover },
  ]);
  const verdict = checkHistory(testBed.recorder.entries, { takeovers: Object.fromEntries(times), slack: SLACK });
  const isTolerated = (rule: string) => bounds.mayOverlap === true && (rule === 'S1' || rule === 'S2');
  const broken = verdict.violations.filter(({ rule }) => !isTolerated(rule));
  return {
    figures: verdict.figures,
    violations: [...testBed.complaints, ...broken.map(({ rule, text }) => `${rule} ${text}`)],
    tolerated: verdict.violations.length - broken.length,
    story: verdictText({ ...verdict, violations: broken }),
  };
}
