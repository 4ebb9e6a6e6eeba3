import type { StoreDefinition } from 'nestjs-gatekeeper';
import { openOperator } from '../../lib/cli/session/open-operator.js';
import { createProgram } from '../../lib/cli/program.js';
import { Runner, type Shell } from '../../lib/cli/session/session.js';
import { allocating, untilOwned } from '../console/allocating.js';
import { type Console, TOKENS, useConsoles } from '../console/consoles.js';
import { failingStore } from '../console/failing-store.js';
import { until } from '../support/apps.js';
import { call, commandLine } from './command-line.js';

/** Every verb that reads, also those that show what they would change. ENTRY: id of a change in the audit log. */
const READING = `
  status
  status report
  status --paused
  health
  watch
  watch report
  explain report
  explain none
  nodes
  leaders
  runs
  runs report
  history
  history report
  history --failed --since 1d
  history --follow
  audit
  audit report
  maintenance list
  maintenance list none
  maintenance start db .* --dry-run
  maintenance end none --dry-run
  allocation
  allocation orders
  allocation none
  allocation orders moves
  allocation orders plan --lose app1
  tasks types
  tasks list
  tasks list --state waiting
  tasks explain mail:none
  undo ENTRY
  undo none.1
  undo none.1 --yes
  migrate --to-group dr-site
  run report --dry-run
  run none --dry-run
  pause .* --dry-run
  resume .* --dry-run
  pause none
  remove report --dry-run
  remove none --yes
  revoke report --dry-run
  leader step-down default --dry-run
  dump
`
  .trim()
  .split('\n')
  .map((line) => line.trim());

/** Verbs that only change, or that ask no store. */
const OTHERS = `alerts define edit allocation tasks reset load contexts completion`.split(' ');

const FAULTS = { 'is killed': 'takeAway', 'has lost its quorum': 'loseQuorum' } as const;
type Fault = (typeof FAULTS)[keyof typeof FAULTS];
const WHY = { takeAway: /connection was lost/, loseQuorum: /1 of at least 2 members/ };

/** An answer that tells of the fault by itself, above what is known. */
const TELLS = /^NOTHING IS GRANTED since|nothing is granted/;

it('every verb is in the table', () => {
  const program = createProgram(new Runner({} as Shell), { out: () => {}, err: () => {}, isErrTerminal: false });
  const tried = new Set([...READING.map((verb) => verb.split(' ')[0]), ...OTHERS]);
  expect(program.commands.map((command) => command.name()).filter((name) => !tried.has(name))).toEqual([]);
});

interface Way {
  readonly name: string;
  /** Verbs that only a node of the application can answer are left out. */
  readonly verbs: readonly string[];
  readonly lineOf: (console: Console, store: StoreDefinition, fault: Fault) => ReturnType<typeof commandLine>;
}

const WAYS: readonly Way[] = [
  {
    name: 'over HTTP',
    verbs: READING,
    lineOf:
      ({ url }) =>
      (args, options) =>
        call([...args, '--url', url, '--token', TOKENS.define], { open: openOperator, ...options }),
  },
  {
    name: 'directly to the store',
    verbs: READING.filter((verb) => !verb.startsWith('allocation')),
    lineOf: (_, store, fault) => (args, options) =>
      // To connect fails for as long as it may take. Calls that are answered get all the time of a busy machine.
      commandLine(store)([...(fault === 'takeAway' ? ['--timeout', '200ms'] : []), ...args], options),
  },
];

describe.each(WAYS)('the command line $name', ({ verbs, lineOf }) => {
  const start = useConsoles();
  const startFailing = async (fault: Fault) => {
    const store = failingStore();
    const gatekeeper = {
      ...allocating('ab'),
      definitions: [{ name: 'report', duration: '90s' }],
      leadership: { enabled: true, lease: '1s' },
    };
    const console = await start({ store: store.definition, gatekeeper });
    await untilOwned(console, ({ resources }) => resources?.length === 2);
    await console.gatekeeper.definitions.edit('report', { permits: 2 }, { by: 'cleo' });
    let entry = '';
    await until(async () => (entry = (await console.get('/api/audit')).json.entries[0]?.id ?? '') !== '');
    return { store, entry, run: lineOf(console, store.definition, fault) };
  };

  it.each(Object.entries(FAULTS))('never shows an empty answer as the truth while the store %s', async (_, fault) => {
    const { store, run, entry } = await startFailing(fault);
    store[fault]();
    for (const verb of verbs) {
      const args = verb.split(' ').map((word) => (word === 'ENTRY' ? entry : word));
      const { exitCode, out, err } = await run(args, { signal: AbortSignal.timeout(5000) });
      const isTold = TELLS.test(out) || (out === '' && WHY[fault].test(err));
      expect({ verb, exitCode, isTold, out, err }).toMatchObject({ verb, exitCode: 6, isTold: true });
    }
    store.giveBack();
  });
});
