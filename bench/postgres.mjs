import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { definitionsLoaded, openGatekeeper } from './in-process.mjs';
import { startPostgres } from './peers/servers.mjs';
import { NAMES, sequential, textOf } from './sequential.mjs';

/** Single calls on `postgres()` against one `UPDATE … RETURNING` of a text of the same length, over the same pool. */
export async function onPostgres() {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url, max: 10 });
  const nodes = [];
  try {
    for (const name of ['bench', 'other']) nodes.push(await openGatekeeper(postgres({ pool }), name, NAMES));
    const [gatekeeper, other] = nodes;
    await definitionsLoaded(gatekeeper);
    const rows = await sequential({ gatekeeper, other, raw: await rawStatements(pool) });
    return rows.map((row) => ({ ...row, name: `postgres(): ${row.name.replace('raw', 'one')}` }));
  } finally {
    for (const node of nodes) await node.close();
    await pool.end();
    await server.stop();
  }
}

/** Statements on a table of their own with the settings of the records' table, in the form that `sequential` needs. */
async function rawStatements(pool) {
  await pool.query('CREATE TABLE raw (LIKE gatekeeper.records INCLUDING ALL) WITH (fillfactor = 50)');
  const write = 'INSERT INTO raw VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET text = $2';
  const set = (key, text) => pool.query({ name: 'set', text: write, values: [key, text] });
  const get = (key) => pool.query({ name: 'get', text: 'SELECT text FROM raw WHERE key = $1', values: [key] });
  const replace = 'UPDATE raw SET text = $3 WHERE key = $1 AND text = $2 RETURNING key';
  return {
    afterWrite: () => set('quiet', 'quiet'),
    afterRead: () => get('quiet'),
    async stored(name) {
      const text = 'SELECT text FROM gatekeeper.records WHERE key = $1';
      return (await pool.query(text, [`semaphore:${name}`])).rows[0].text;
    },
    compareAndSet(from, to) {
      const key = randomUUID();
      let stored;
      return async (count) => {
        const [current, next] = [stored ?? textOf(from, `${count}-`), textOf(to, `${count}+`)];
        if (current !== stored) await set(key, current);
        stored = from === to ? next : undefined;
        return async () => {
          const { rowCount } = await pool.query({ name: 'replace', text: replace, values: [key, current, next] });
          if (rowCount !== 1) throw new Error('the raw statement was refused');
        };
      };
    },
    get(text) {
      const key = randomUUID();
      const written = set(key, text);
      return async () => {
        await written;
        return () => get(key);
      };
    },
  };
}
