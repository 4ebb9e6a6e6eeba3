import { Connection } from '../../../lib/stores/postgres/connection.js';
import { PostgresUnusableError } from '../../../lib/stores/postgres/failures.js';
import type { Server } from '../../../lib/stores/postgres/server.js';
import { StoreUnavailableError } from '../../../lib/core/store/store.errors.js';

const refused = (code: string): Error => new StoreUnavailableError('not yet', { cause: { code } });

describe('the connection to PostgreSQL', () => {
  let connection: Connection;
  const examinations: { resolve: () => void; reject: (reason: Error) => void }[] = [];
  afterEach(async () => {
    for (const { resolve } of examinations.splice(0)) resolve();
    await connection.close();
  });

  /** An open connection, of which the next examination is under way. */
  async function whileExamined() {
    const begun: (() => void)[] = [];
    const examine = (): Promise<void> =>
      new Promise((resolve, reject) => {
        examinations.push({ resolve, reject });
        for (const tell of begun.splice(0)) tell();
      });
    const states: string[] = [];
    const server = { close: () => Promise.resolve() } as Partial<Server> as Server;
    connection = new Connection(server, 'the server', examine, {
      opened: () => states.push('opened'),
      lost: () => states.push('lost'),
    });
    const next = () => new Promise<void>((resolve) => begun.push(resolve));
    examinations[0]!.resolve();
    await connection.firstAttempt.wait(5000);
    const second = next();
    connection.suspect();
    await second;
    return { states, next, latest: () => examinations.at(-1)! };
  }

  it.each(['57P03', 'ECONNREFUSED'])(
    'stays open after a refusal (%s) that is older than an answer, and is examined again',
    async (code) => {
      const { states, next, latest } = await whileExamined();
      connection.answered();
      const third = next();
      latest().reject(refused(code));
      await third;
      expect(connection.isOpen).toBe(true);
      latest().resolve();
      expect(states).toEqual(['opened']);
    },
  );

  it('is lost if the second examination after an answer is refused, too', async () => {
    const { states, next, latest } = await whileExamined();
    connection.answered();
    const third = next();
    latest().reject(refused('57P03'));
    await third;
    const fourth = next();
    latest().reject(refused('57P03'));
    await fourth;
    expect(states).toEqual(['opened', 'lost']);
    expect(() => connection.assertOpen()).toThrow('Not connected to the server: not yet');
  });

  it.each([
    ['a refusal without an answer', false, refused('57P03')],
    ['a standby that answers', true, new StoreUnavailableError('the server is a standby')],
    ['a database that can never serve', true, new PostgresUnusableError('it lacks a table')],
    ['a connection that broke', true, refused('ECONNRESET')],
  ])('is lost after %s', async (_name, isAnswered, error) => {
    const { states, next, latest } = await whileExamined();
    if (isAnswered) connection.answered();
    const third = next();
    latest().reject(error);
    await third;
    expect(states).toEqual(['opened', 'lost']);
  });
});
