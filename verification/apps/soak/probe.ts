import type { EventEmitter } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { getHeapCodeStatistics } from 'node:v8';
import { say } from '../say.js';
import { livingTimers } from './counted-timers.js';
import type { Faults } from './faults.js';

/** One look at a process, as it says it to the soak. */
export interface Sample {
  /** Bytes in use after a forced collection. */
  readonly heapUsed: number;
  /** Bytes of these that are compiled code: what runs often is compiled again and better, for half an hour and more. */
  readonly compiled: number;
  /** Bytes outside of the heap: buffers. */
  readonly external: number;
  /** Bytes; told, not judged: the allocator gives nothing back. */
  readonly rss: number;
  /** Timers of every kind, by where they were set. */
  readonly timers: Readonly<Record<string, number>>;
  /** Resources that keep the process alive, by kind, without timers. */
  readonly resources: Readonly<Record<string, number>>;
  /** On the process, on its open handles, on the client of Hazelcast if it was given. */
  readonly listeners: number;
  /** Semaphores that the store knows. */
  readonly names: number;
  /** ms since the last sample. */
  readonly loopDelay: { readonly mean: number; readonly p99: number; readonly max: number };
  readonly faults: Faults['counts'];
  /** Outcomes of the jobs so far: "granted", "skipped overlap" ... */
  readonly done: Readonly<Record<string, number>>;
}

interface Subject {
  readonly faults: Faults;
  /** Emitters beside the process and its handles. */
  readonly emitters: readonly EventEmitter[];
  readonly done: Readonly<Record<string, number>>;
  names(): Promise<number>;
}

/** Looks at its own process regularly. */
export class Probe {
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });
  #timer?: NodeJS.Timeout;

  constructor(private readonly subject: Subject) {}

  start(every: number): void {
    this.#delay.enable();
    this.#timer = setInterval(() => void this.#say(), every);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#delay.disable();
  }

  async #say(): Promise<void> {
    const names = await this.subject.names();
    const { mean, max } = this.#delay;
    const loopDelay = { mean: inMs(mean), p99: inMs(this.#delay.percentile(99)), max: inMs(max) };
    await collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    const compiled = compiledCode();
    const { faults, done } = this.subject;
    const counts = { timers: livingTimers(), resources: resources(), listeners: this.#listeners() };
    say('sample', { heapUsed, compiled, external, rss, ...counts, names, loopDelay, faults: faults.counts, done });
    // The collection blocks the loop, which is not the loop's own doing.
    this.#delay.reset();
  }

  #listeners(): number {
    return [process, ...this.subject.emitters, ...openHandles()].reduce((sum, each) => sum + listenersOn(each), 0);
  }
}

/** Kinds of what keeps the process alive and how many of each; timers are counted apart. */
export function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    if (kind !== 'Timeout' && kind !== 'Immediate') counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** Twice: what a finalizer of the first pass lets go is gone with the second. */
async function collectGarbage(): Promise<void> {
  globalThis.gc!();
  await turn();
  globalThis.gc!();
}

function compiledCode(): number {
  const { code_and_metadata_size, bytecode_and_metadata_size } = getHeapCodeStatistics();
  return code_and_metadata_size + bytecode_and_metadata_size;
}

function listenersOn(emitter: EventEmitter): number {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
}

/** Not public, and the only way to see what hangs on sockets. */
function openHandles(): EventEmitter[] {
  const handles = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
  return handles.filter((handle) => typeof (handle as EventEmitter).eventNames === 'function') as EventEmitter[];
}

const inMs = (nanoseconds: number): number => Math.round(nanoseconds / 1e4) / 100;
