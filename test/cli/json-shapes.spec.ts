import { readFile } from 'node:fs/promises';
import { single } from 'nestjs-gatekeeper';
import { type TestCluster, useMemoryCluster } from './memory-cluster.js';

const DOCS = new URL('../../docs/cli.md', import.meta.url);
const ROW = /^\| (?<commands>(?:`[a-z]+`(?:, )?)+) +\| (?<text>.*?) +\|$/gm;

interface Shape {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** By command: the shapes that docs/cli.md gives, in their order. */
async function documented(): Promise<Map<string, Shape[]>> {
  const section = (await readFile(DOCS, 'utf8')).split('## The JSON of each command')[1]!.split(/^## /m)[0]!;
  return new Map(
    [...section.matchAll(ROW)].flatMap(({ groups }) =>
      [...groups!['commands']!.matchAll(/`([a-z]+)`/g)].map(([, command]) => [command!, shapesIn(groups!['text']!)]),
    ),
  );
}

function shapesIn(text: string): Shape[] {
  return [...text.matchAll(/`\{ ([^}`]+) \}`/g)].map(([, fields]) => {
    const names = fields!.split(', ');
    return {
      required: names.filter((name) => !name.endsWith('?')),
      optional: names.filter((name) => name.endsWith('?')).map((name) => name.slice(0, -1)),
    };
  });
}

function expectShape(value: object, { required, optional }: Shape): void {
  const keys = Object.keys(value);
  expect(keys).toEqual(expect.arrayContaining([...required]));
  expect(keys.filter((key) => !required.includes(key) && !optional.includes(key))).toEqual([]);
}

describe('the JSON that docs/cli.md documents', () => {
  const cluster = useMemoryCluster();
  const json = async (gatekeeper: TestCluster['gatekeeper'], args: readonly string[]) =>
    JSON.parse((await gatekeeper([...args, '--json'])).out);

  it.each<[string, string[], number]>([
    ['status', [], 0],
    ['explain', ['report'], 0],
    ['nodes', [], 0],
    ['runs', [], 0],
    ['history', [], 0],
    ['audit', [], 0],
    ['define', ['another', '--duration', '5m'], 0],
    ['edit', ['report', '--permits', '3'], 0],
    ['pause', ['report'], 0],
    ['pause', ['report', '--dry-run'], 2],
    ['resume', ['report'], 0],
    ['resume', ['report', '--dry-run'], 1],
    ['migrate', ['--to-group', 'b'], 0],
    ['migrate', ['--to-group', 'b', '--yes', '--without-candidates'], 1],
    ['revoke', ['report'], 0],
    ['revoke', ['report', '--dry-run'], 1],
    ['remove', ['by-hand'], 0],
    ['remove', ['by-hand', '--dry-run'], 1],
    ['leaders', [], 0],
    ['leader', ['step-down', 'default'], 0],
    ['leader', ['step-down', 'default', '--dry-run'], 1],
    ['tasks', ['types'], 0],
    ['tasks', ['list', '--state', 'waiting'], 1],
    ['tasks', ['explain', 'mail:one'], 2],
    ['tasks', ['submit', 'mail:two'], 3],
    ['tasks', ['cancel', 'mail:one'], 3],
    ['dump', [], 0],
    ['contexts', [], 0],
  ])('is what "%s %j" prints', async (command, args, index) => {
    const { node, gatekeeper } = cluster();
    const app = await node({ leadership: { enabled: true } });
    await app.tryAcquire('report');
    await app.definitions.define({ name: 'by-hand', duration: '5m' });
    await app.tasks.submit(single('mail', 'one'));
    await app.cluster.initialize();
    await app.cluster.scope().whenLeader();
    const shape = (await documented()).get(command)![index]!;
    expectShape(await json(gatekeeper, [command, ...args]), shape);
  });

  it('names every command that prints JSON', async () => {
    const { gatekeeper } = cluster();
    const help = (await gatekeeper(['--help'])).out.split('\nCommands:\n')[1]!.split('\n\n')[0]!;
    const commands = [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!);
    const printing = commands.filter((name) => !['completion', 'help'].includes(name));
    expect([...(await documented()).keys()].toSorted()).toEqual(printing.toSorted());
  });
});

describe('the help', () => {
  const cluster = useMemoryCluster();

  it.each([[[]], [['edit']], [['watch']]])('of %j says the units of durations', async (command) => {
    const { gatekeeper } = cluster();
    expect((await gatekeeper([...command, '--help'])).out).toContain('Durations are 500ms, 30s, 5m, 2h, 1d or PT5M');
  });
});
