import { DirectOperator } from '../../lib/cli/direct/direct-operator.js';
import type { Operation } from '../../lib/console/api/operation.js';
import type { Call, Operator, Sent } from '../../lib/cli/operator/operator.js';
import { run } from '../../lib/cli/run.js';
import type { StoreDefinition } from '../../lib/index.js';

/** Result of a call of the command line. */
export interface Outcome {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** As openOperator, over a store that the test has. */
export type Opening = Parameters<typeof run>[1]['open'];

export interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Whether standard error is a terminal. */
  readonly isErrTerminal?: boolean;
  readonly signal?: AbortSignal;
  readonly open?: Opening;
  /** Answers questions as a person at a terminal; absent: there is no terminal. */
  readonly ask?: (question: string) => Promise<boolean>;
  /** Told of all that is written to standard output, at once. */
  readonly onOut?: (text: string) => void;
}

/** The command line in this process: its streams are texts, and it operates straight on the given store. */
export function commandLine(store: StoreDefinition) {
  return (args: readonly string[], options: CallOptions = {}): Promise<Outcome> =>
    call(['--store', 'hazelcast://somewhere:5701', '--as', 'ann', ...args], { open: over(store), ...options });
}

export async function call(args: readonly string[], options: CallOptions = {}): Promise<Outcome> {
  const {
    env = {},
    isErrTerminal = false,
    signal = new AbortController().signal,
    open = nowhere,
    ask,
    onOut,
  } = options;
  const written = { out: '', err: '' };
  const exitCode = await run(args, {
    streams: {
      out: (text) => {
        written.out += text;
        onOut?.(text);
      },
      err: (text) => void (written.err += text),
      isErrTerminal,
    },
    env,
    interruption: () => signal,
    ask,
    open,
  });
  return { exitCode, ...written };
}

export function over(store: StoreDefinition): Opening {
  return (_, { by = 'unnamed', ...manner }) => DirectOperator.open({ ...manner, by, store, target: 'memory' });
}

/** An operator of which the test answers one operation; all others go to `operator`. */
export function answering(operator: Operator, operation: unknown, answer: (sent: Sent) => Promise<unknown>): Operator {
  const call = (called: Operation, sent: Sent = {}) =>
    called === operation ? answer(sent) : operator.call(called, sent);
  return instead(operator, { call: call as Call });
}

/** An operator of which the test says what some methods do; all others go to `operator`. */
export function instead(operator: Operator, changes: Partial<Operator>): Operator {
  return new Proxy(operator, {
    get: (target, name) => {
      const source: Record<PropertyKey, unknown> = Object.hasOwn(changes, name) ? { ...changes } : (target as never);
      const value = source[name];
      return typeof value === 'function' ? value.bind(source) : value;
    },
  });
}

function nowhere(): never {
  throw new Error('this call was not to open anything');
}
