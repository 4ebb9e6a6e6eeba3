import { single } from 'nestjs-gatekeeper';
import { postgres, postgresHistoryArchive } from 'nestjs-gatekeeper/postgres';
import { NOON, archivedRun } from '../../../test/operate/activity/archive/archived-run.js';
import { until } from '../../../test/support/apps.js';
import { describeUnless } from '../../../test/support/unless.js';
import { Gatekeeper } from '../../../lib/gatekeeper/gatekeeper.js';
import { parseGatekeeperOptions, partsOf } from '../../../lib/gatekeeper/index.js';
import { type Pool, PostgresServer, lackOfPostgres } from '../../support/postgres-server.js';

const SILENT = { log() {}, warn() {}, error() {}, debug() {} };

/**
 * What a role with CREATE on "public" can plant: operators for all pairs of common types, and functions with other types than
 * those of pg_catalog, or with the same ones. Each notes that it ran.
 */
const PLANTED = `
CREATE TABLE public.loot (what text, who text);
GRANT ALL ON public.loot TO PUBLIC;
CREATE FUNCTION public.steal(what text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO public.loot VALUES (what, current_user::pg_catalog.text);
END $$;
DO $plant$ DECLARE
  types text[] := ARRAY['text', 'varchar', 'int4', 'int8', 'numeric', 'float8', 'jsonb', 'name', 'oid', 'regclass', 'bool',
    'timestamptz', 'text[]', 'int8[]'];
  l text; r text; op text; result text; name text; number int := 0;
BEGIN
  FOREACH l IN ARRAY types LOOP FOREACH r IN ARRAY types LOOP
    FOREACH op IN ARRAY ARRAY['=', '<>', '<', '<=', '>', '>=', '||', '->', '->>', '+', '-', '*', '/'] LOOP
      number := number + 1;
      result := CASE WHEN op IN ('=', '<>', '<', '<=', '>', '>=') THEN 'bool' WHEN op = '->' THEN 'jsonb'
        WHEN op = '->>' THEN 'text' ELSE l END;
      EXECUTE format('CREATE FUNCTION public.op_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN
        PERFORM public.steal(%L); RETURN NULL; END $f$', number, l, r, result, 'operator ' || op || ' of ' || l || ', ' || r);
      EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.op_%s, LEFTARG = %s, RIGHTARG = %s)', op, number, l, r);
    END LOOP;
  END LOOP; END LOOP;
  FOREACH name IN ARRAY ARRAY['left', 'hashtextextended', 'to_regclass', 'to_regnamespace', 'obj_description', 'nextval',
    'set_config', 'current_setting', 'pg_notify', 'unnest', 'to_timestamp', 'jsonb_array_elements', 'pg_walfile_name',
    'pg_advisory_xact_lock', 'now', 'clock_timestamp', 'pg_is_in_recovery', 'pg_postmaster_start_time', 'coalesce', 'extract',
    'date_part', 'row_number', 'count', 'max'] LOOP
    EXECUTE format('CREATE FUNCTION public.%I() RETURNS text LANGUAGE plpgsql AS $f$ BEGIN
      PERFORM public.steal(%L); RETURN NULL; END $f$', name, name || '()');
    FOREACH l IN ARRAY types LOOP
      EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN
        PERFORM public.steal(%L); RETURN NULL; END $f$', name, l, name || '(' || l || ')');
      FOREACH r IN ARRAY types LOOP
        EXECUTE format('CREATE FUNCTION public.%I(%s, %s) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN
          PERFORM public.steal(%L); RETURN NULL; END $f$', name, l, r, name || '(' || l || ', ' || r || ')');
      END LOOP;
    END LOOP;
    EXECUTE format('CREATE FUNCTION public.%I(text, text, bool) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN
      PERFORM public.steal(%L); RETURN NULL; END $f$', name, name || '(text, text, bool)');
  END LOOP;
  CREATE DOMAIN public.float8 AS pg_catalog.text;
  CREATE DOMAIN public.jsonb AS pg_catalog.text;
  CREATE DOMAIN public.text AS pg_catalog.varchar;
  CREATE DOMAIN public.timestamptz AS pg_catalog.text;
END $plant$`;

describeUnless(lackOfPostgres)('a role that may create in the schema "public"', () => {
  let server: PostgresServer;
  let owner: Pool;
  beforeAll(async () => {
    server = await PostgresServer.start();
    owner = await server.pool({ max: 1 });
    await owner.query(PLANTED);
  });
  afterAll(async () => {
    await owner?.end();
    await server?.[Symbol.asyncDispose]();
  });

  it('plants code that runs for a statement without the name of its schema', async () => {
    const names = await owner.query(`SELECT 'a'::pg_catalog.text || 1::pg_catalog.int4`);
    expect(names.rows).toHaveLength(1);
    const { rows } = await owner.query(`DELETE FROM public.loot RETURNING what`);
    expect(rows).toEqual([{ what: expect.stringContaining('||') }]);
  });

  it.each(['"$user", public', 'public, pg_catalog'])(
    'gets no code of its own run by the store and the archives, with the search path %s',
    async (path) => {
      const url = new URL(server.address());
      url.searchParams.set('options', `-c search_path=${path.replaceAll(' ', '')}`);
      const connectionString = url.href;
      const schema = `gatekeeper_${path.length}`;
      const store = postgres({ connectionString, schema });
      const persistence = postgres({ connectionString, schema: `${schema}_archive` });
      const options = { store, persistence, acquirer: 'app1', clockTolerance: 50, definitionsDelay: 0 };
      const node = new Gatekeeper(parseGatekeeperOptions(options), SILENT);
      await node.start();
      const { tasks } = partsOf(node);
      const pool = await server.pool({ max: 1 });
      try {
        await node.definitions.define({ name: 'job', duration: '10s' });
        await node.definitions.edit('job', { permits: 2 });
        await (await node.tryAcquire('job'))?.release();
        const done: unknown[] = [];
        tasks.handlers.handle('mail', ({ data }) => void done.push(data));
        tasks.start();
        await tasks.submitMany(Array.from({ length: 100 }, (_, id) => ({ name: single('mail', `${id}`), data: id })));
        await pool.query(`SET search_path = ${path}`);
        await pool.query('BEGIN');
        await tasks.submit(single('mail', 'tx'), 'tx', { tx: pool });
        await pool.query('COMMIT');
        await until(async () => done.length === 101);
        await node.definitions.pause('job');
        expect((await partsOf(node).audit.whole()).length).toBeGreaterThan(0);
        await tasks.list({ state: 'dead', limit: 10, isWanted: () => true });
      } finally {
        await pool.end();
        await node.close();
      }
      const history = postgresHistoryArchive({ connectionString, table: `${schema}.runs` });
      const archive = history.open({ group: 'default', acquirer: 'app1', instance: 'cafe' });
      await archive.append([archivedRun(0, { at: NOON - 1 })]);
      await archive.removeOld?.(NOON * 2);
      await archive.close();
      expect((await owner.query('SELECT DISTINCT what FROM public.loot')).rows).toEqual([]);
    },
  );
});
