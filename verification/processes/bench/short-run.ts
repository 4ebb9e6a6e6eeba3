import { execa } from 'execa';
import { lackOfPostgres } from '../../support/postgres-server.js';
import { lackOf } from '../../needs/programs.js';
import { ROOT } from '../../../test/docs/snippets.js';

interface Figures {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

interface Result {
  readonly text: string;
  readonly holds: boolean | 'failed' | null;
}

export interface Results {
  readonly speed: Readonly<Record<string, Readonly<Record<string, Figures>>>>;
  readonly cases: Readonly<Record<string, Readonly<Record<string, Result>>>>;
  readonly tasks: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly missing: readonly string[];
}

/** Why no comparison can run here; undefined: one can. */
export const lack = lackOfPostgres ?? (await lackOf('redis-server', 'faketime'));

/** Runs the comparison as a process. */
export const bench = (...args: string[]) =>
  execa(process.execPath, ['bench/locks/run.mjs', ...args], { cwd: ROOT, env: { NODE_OPTIONS: '' } });
