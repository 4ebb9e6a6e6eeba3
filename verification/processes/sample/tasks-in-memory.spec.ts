import { Test, type TestingModule } from '@nestjs/testing';
import { GatekeeperTestingModule, type TestNode, TestTasks } from 'nestjs-gatekeeper/testing';
import { Environment } from '../../../sample-app/src/environment.js';
import { LedgerClient } from '../../../sample-app/src/ledger/ledger.client.js';
import { type Entry, Ledger } from '../../../sample-app/src/ledger/ledger.js';
import { MailMerge } from '../../../sample-app/src/tasks/mail-merge.js';
import { MonthEnd } from '../../../sample-app/src/tasks/month-end.js';
import { Reconciliation } from '../../../sample-app/src/tasks/reconciliation.js';
import { Work } from '../../../sample-app/src/work.js';
import { type LetterEntry, areParallel, notOnce, outOfOrder } from './task-effects.js';

const MONTH = '2030-06';

describe('the examples of tasks on three nodes in memory, of which one crashes half-way', () => {
  let tasks: TestTasks;
  let ledger: Ledger;
  let nodes: TestNode[];
  let modules: TestingModule[];
  /** Called after each write. */
  let written: () => void;

  beforeEach(async () => {
    tasks = new TestTasks();
    ledger = new Ledger();
    modules = [];
    written = () => undefined;
    nodes = [tasks.node(), tasks.node(), tasks.node()];
    for (const node of nodes) modules.push(await boot(node));
  });
  afterEach(() => Promise.all(modules.map((module) => module.close())));

  async function boot(node: TestNode): Promise<TestingModule> {
    const write: LedgerClient['write'] = async (book, { id, token }, line) => {
      ledger.write(book, { id, token, node: node.node.acquirer, ...line });
      written();
    };
    const builder = Test.createTestingModule({
      imports: [GatekeeperTestingModule.forNode(node)],
      providers: [
        Reconciliation,
        MailMerge,
        MonthEnd,
        Work,
        { provide: Environment, useValue: new Environment({ TASK_DURATION: '2' }) },
        { provide: LedgerClient, useValue: { write } },
      ],
    });
    return (await builder.compile()).init();
  }

  /** The second node crashes as soon as the book has so many lines. */
  function crashAt(book: string, lines: number): void {
    written = () => {
      if (ledger.read(book).length === lines) void tasks.crash(nodes[1]!);
    };
  }

  it('reconcile 100 record sets, each once, and both joins run once', async () => {
    crashAt('record-sets', 50);
    await modules[0]!.get(Reconciliation).begin(MONTH);
    await tasks.runAll();
    expect(nodes[1]!.isCrashed).toBe(true);
    expect(notOnce(ledger.read('record-sets'), 100)).toEqual([]);
    expect(ledger.read('differences')).toMatchObject([{ difference: 450, completed: 100, total: 100 }]);
    expect(ledger.read('closed-months')).toMatchObject([{ month: MONTH, failed: 0 }]);
    const joins = tasks.attempts.filter(({ task }) => task.endsWith('#join'));
    expect(joins.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
  });

  it('send the letters of each customer in order, and those of different customers at the same time', async () => {
    crashAt('letters', 10);
    await modules[0]!.get(MailMerge).begin('june', ['ada', 'grace', 'leslie', 'nancy'], 6);
    await tasks.runAll();
    const letters = ledger.read('letters') as LetterEntry[];
    expect(notOnce(letters, 24)).toEqual([]);
    expect(outOfOrder(letters)).toEqual([]);
    expect(areParallel(letters)).toBe(true);
  });

  it('write the report when all files have been imported', async () => {
    crashAt('imported', 10);
    const files = Array.from({ length: 20 }, (_, index) => `file ${index}`);
    await modules[0]!.get(MonthEnd).begin(MONTH, files, ['balance', 'taxes']);
    await tasks.runAll();
    expect(notOnce(ledger.read('imported'), 20)).toEqual([]);
    expect(notOnce(ledger.read('report-parts'), 2)).toEqual([]);
    expect(ledger.read('reports')).toMatchObject([{ month: MONTH }]);
    const imports = tasks.attempts.findLastIndex(({ task }) => task.startsWith('import-file'));
    expect(tasks.attempts.findIndex(({ task }) => task.startsWith('report-part'))).toBeGreaterThan(imports);
  });
});

describe('the checks of the examples', () => {
  const entry = (id: string): Entry => ({ id, token: 1, node: 'a' });
  const letter = (customer: string, page: number, begunAt: number, sentAt: number): LetterEntry => ({
    ...entry(`${customer} ${page}`),
    customer,
    page,
    begunAt,
    sentAt,
  });

  it('see an effect that stands twice, or is missing', () => {
    expect(notOnce([entry('a'), entry('b'), entry('a')], 2)).toEqual(['1 effects stand there twice']);
    expect(notOnce([entry('a')], 2)).toEqual(['1 effects in place of 2']);
  });

  it('see letters that overlap, or change their places', () => {
    expect(outOfOrder([letter('a', 1, 0, 5), letter('a', 2, 4, 9)])).toEqual(['a: page 2 began too early']);
    expect(outOfOrder([letter('a', 2, 0, 5)])).toEqual(['a: page 2 came as number 1']);
    expect(areParallel([letter('a', 1, 0, 5), letter('b', 1, 5, 9)])).toBe(false);
    expect(areParallel([letter('a', 1, 0, 5), letter('b', 1, 4, 9)])).toBe(true);
  });
});
