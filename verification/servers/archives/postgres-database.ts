import { type Pool, PostgresServer } from './postgres-server.js';

type Query = Pick<Pool, 'query'>;

/** The database of a server that runs while the tests of a file do. */
export class PostgresDatabase {
  #server: PostgresServer | undefined;
  /** Of one connection, so that settings of its session hold for later statements. */
  #session!: Pool;
  #others!: Pool;

  readonly start = async (): Promise<void> => {
    this.#server = await PostgresServer.start();
    this.#session = await this.#server.pool({ max: 1 });
    this.#others = await this.#server.pool();
  };

  readonly stop = async (): Promise<void> => {
    await Promise.all([this.#session?.end(), this.#others?.end()]);
    await this.#server?.[Symbol.asyncDispose]();
  };

  /** Empties the schema `public`. */
  readonly empty = (): Promise<void> => this.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');

  query(text: string, values?: unknown[]) {
    return this.#session.query(text, values);
  }

  async exec(statements: string): Promise<void> {
    await this.#session.query(statements);
  }

  /** Over a connection of its own. */
  async transaction<T>(work: (transaction: Query) => Promise<T>): Promise<T> {
    const connection = await this.#others.connect();
    try {
      await connection.query('BEGIN');
      const result = await work(connection);
      await connection.query('COMMIT');
      return result;
    } catch (error) {
      await connection.query('ROLLBACK');
      throw error;
    } finally {
      connection.release();
    }
  }
}
