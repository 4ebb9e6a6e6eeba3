import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { MOST_KEYS } from '../../core/store/store.js';
import type { Texts } from '../../core/store/task-storage.js';
import { AWKWARD_TEXTS, keysThatLookAlike } from './awkward-texts.js';
import type { ContractTests } from './test-runner.js';

/** Two clients of the same texts. */
type TwoTexts = () => readonly [Texts, Texts];

/** Contract of {@link Texts}. */
export function describeTextsContract(tests: ContractTests, clients: TwoTexts): void {
  const created = async (text: string): Promise<string> => {
    const key = randomUUID();
    assert.equal(await clients()[0].create(key, text), undefined);
    return key;
  };
  describeChanges(tests, clients, created);
  describeKeptTexts(tests, clients, created);

  tests.it('lets exactly one of many concurrent writers create, replace and remove, over two clients', () =>
    raceForOneKey(clients),
  );
  tests.it('answers each of many changes that come at once by itself', () => changeManyAtOnce(clients, created));
}

type Created = (text: string) => Promise<string>;

function describeChanges({ it }: ContractTests, clients: TwoTexts, created: Created): void {
  it('finds nothing under a key that was never written', async () => {
    assert.equal(await clients()[0].read(randomUUID()), undefined);
  });

  it('creates a text that the other client reads', async () => {
    assert.equal(await clients()[1].read(await created('text')), 'text');
  });

  it('creates no second text under a key, and answers with the first', async () => {
    const [one, other] = clients();
    const key = await created('first');
    assert.equal(await other.create(key, 'second'), 'first');
    assert.equal(await one.read(key), 'first');
  });

  it('replaces the exact text', async () => {
    const [one, other] = clients();
    const key = await created('before');
    assert.equal(await other.replace(key, 'before', 'after'), true);
    assert.equal(await one.read(key), 'after');
  });

  it('leaves the text untouched when another one was expected', async () => {
    const [one, other] = clients();
    const key = await created('{"x":1}');
    assert.equal(await other.replace(key, '{ "x": 1 }', 'never'), false);
    assert.equal(await other.remove(key, '{ "x": 1 }'), false);
    assert.equal(await one.read(key), '{"x":1}');
  });

  it('replaces and removes nothing where there is no text', async () => {
    const [one, other] = clients();
    const key = randomUUID();
    assert.equal(await one.replace(key, '', 'never'), false);
    assert.equal(await one.remove(key, ''), false);
    assert.equal(await other.read(key), undefined);
  });

  it('removes the exact text, and a new one can be created', async () => {
    const [one, other] = clients();
    const key = await created('text');
    assert.equal(await other.remove(key, 'text'), true);
    assert.equal(await one.read(key), undefined);
    assert.equal(await one.create(key, 'new'), undefined);
    assert.equal(await other.read(key), 'new');
  });
}

function describeKeptTexts({ it }: ContractTests, clients: TwoTexts, created: Created): void {
  for (const [name, text] of [...AWKWARD_TEXTS, ['200 KiB', 'ü'.repeat(100 * 1024)] as const]) {
    it(`compares ${name} as they are`, async () => {
      const [one, other] = clients();
      const key = await created(text);
      assert.ok((await other.read(key)) === text, 'The other client reads another text');
      assert.equal(await other.replace(key, text, `${text}.`), true);
      assert.equal(await one.remove(key, `${text}.`), true);
    });
  }

  it('keeps texts apart whose keys look alike', async () => {
    const [one, other] = clients();
    const keys = keysThatLookAlike(randomUUID());
    for (const key of keys) assert.equal(await one.create(key, `text of ${key}`), undefined);
    for (const key of keys) assert.equal(await other.read(key), `text of ${key}`);
  });

  it('reads the texts of many keys at once, without those that have none', async () => {
    const [, other] = clients();
    const [first, second] = [await created('first'), await created('second')];
    const absent = Array.from({ length: MOST_KEYS - 2 }, () => randomUUID());
    const expected = new Map([
      [first, 'first'],
      [second, 'second'],
    ]);
    assert.deepEqual(await other.readMany([first, ...absent, second]), expected);
    assert.deepEqual(await other.readMany([]), new Map());
  });
}

/** A store may send them together. In each row of changes, every third one expects a text that is not there. */
async function changeManyAtOnce(clients: TwoTexts, created: Created): Promise<void> {
  const [one, other] = clients();
  const wanted = Array.from({ length: 100 }, (_, index) => index % 3 !== 0);
  const all = <T>(change: (index: number) => Promise<T>) => Promise.all(wanted.map((_, index) => change(index)));
  const keys = await all((index) => (wanted[index] ? Promise.resolve(randomUUID()) : created('there')));
  const readAll = () => all((index) => other.read(keys[index]!));

  const found = await all((index) => one.create(keys[index]!, `text ${index}`));
  assert.deepEqual(
    found,
    wanted.map((isFree) => (isFree ? undefined : 'there')),
  );
  const replaced = await all((index) => one.replace(keys[index]!, `text ${index}`, `next ${index}`));
  assert.deepEqual(replaced, wanted);
  assert.deepEqual(
    await readAll(),
    wanted.map((isFree, index) => (isFree ? `next ${index}` : 'there')),
  );
  const removed = await all((index) => one.remove(keys[index]!, `next ${index}`));
  assert.deepEqual(removed, wanted);
  assert.deepEqual(
    await readAll(),
    wanted.map((isFree) => (isFree ? undefined : 'there')),
  );
}

async function raceForOneKey(clients: TwoTexts): Promise<void> {
  const [one, other] = clients();
  const key = randomUUID();
  const all = <T>(write: (texts: Texts, writer: number) => Promise<T>) =>
    Promise.all(Array.from({ length: 40 }, (_, writer) => write(writer % 2 ? one : other, writer)));

  const creations = await all((texts, writer) => texts.create(key, `created by ${writer}`));
  const first = (await one.read(key))!;
  assert.deepEqual(
    creations.map((found, writer) => found ?? `created by ${writer}`),
    Array<string>(40).fill(first),
  );
  assert.equal(creations.filter((found) => found === undefined).length, 1);

  const replacements = await all((texts, writer) => texts.replace(key, first, `replaced by ${writer}`));
  const second = (await one.read(key))!;
  assert.deepEqual(
    replacements.flatMap((won, writer) => (won ? [`replaced by ${writer}`] : [])),
    [second],
  );

  const removals = await all((texts) => texts.remove(key, second));
  assert.equal(removals.filter((won) => won).length, 1);
  assert.equal(await one.read(key), undefined);
}
