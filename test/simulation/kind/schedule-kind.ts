import { allocationKind } from '../allocation/allocation-kind.js';
import { tasksKind } from '../tasks/tasks-kind.js';

export interface KindOptions {
  readonly isTraced?: boolean;
  /** Exactly these faults. Default: drawn by the seed. */
  readonly faults?: readonly string[];
}

export interface KindResult {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly violations: readonly string[];
  readonly happenings: number;
  readonly trace: readonly string[];
}

/** A kind of schedules beside those of permits. Each schedule follows from its seed. */
export interface ScheduleKind<Result extends KindResult = KindResult> {
  /** The option of the command line. */
  readonly name: KindName;
  /** The work of the nodes, for people. */
  readonly about: string;
  readonly faults: readonly string[];
  simulate(seed: number, options?: KindOptions): Promise<Result>;
  /** Lines about many schedules, for people. The first one continues a sentence. */
  summary(results: readonly Result[]): readonly string[];
  /** How one schedule ended, for people. */
  end(result: Result): string;
}

export type KindName = 'allocation' | 'tasks';

const KINDS = { allocation: allocationKind, tasks: tasksKind };

export function kindNamed(name: KindName): ScheduleKind {
  return KINDS[name] as unknown as ScheduleKind;
}

/** The kind that a command line asks for. */
export function kindIn(args: readonly string[]): ScheduleKind | undefined {
  const name = (Object.keys(KINDS) as KindName[]).find((each) => args.includes(`--${each}`));
  return name && kindNamed(name);
}

/** Carries out `count` schedules from seed `first` on. @returns the results without their traces */
export async function surveyKind(
  name: KindName,
  first: number,
  count: number,
  options: KindOptions = {},
): Promise<KindResult[]> {
  const results: KindResult[] = [];
  for (let seed = first; seed < first + count; seed++) {
    results.push({ ...(await kindNamed(name).simulate(seed, options)), trace: [] });
  }
  return results;
}
