import { DOUBT } from '../../../lib/core/decision/index.js';
import { MessageSeals, SEAL } from '../../../lib/core/store/message-seals.js';

const SCOPE = 'gatekeeper';
const BODY = JSON.stringify(['changed', 'node', 'semaphore:job', '{"seq":7}']);

/** A store that keeps one key. Counts the readings. */
class Place {
  reads = 0;

  constructor(public key?: string) {}

  read = async () => (this.reads++, this.key);
  create = async (key: string) => void (this.key ??= key);
}

/** Two nodes of one cluster, and time that the test moves. */
async function two(place = new Place()) {
  const clock = { now: 0, monotonic: () => clock.now };
  const [sender, receiver] = [new MessageSeals(clock), new MessageSeals(clock)];
  await sender.load(place);
  await receiver.load(place);
  return { place, clock, sender, receiver };
}

describe('A hint', () => {
  it('of a node with the same key is proven', async () => {
    const { sender, receiver } = await two();
    expect(receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY)).toBe('proven');
  });

  it('that is sent once more is told apart, also with another text', async () => {
    const { sender, receiver } = await two();
    const seal = sender.sealOf(SCOPE, BODY);
    receiver.judge(seal, SCOPE, BODY);
    expect([BODY, 'other'].map((body) => receiver.judge(seal, SCOPE, body))).toEqual(['repeated', 'repeated']);
  });

  it('with the text of an earlier one is proven: a text may come back', async () => {
    const { sender, receiver } = await two();
    const verdicts = [1, 2].map(() => receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY));
    expect(verdicts).toEqual(['proven', 'proven']);
  });

  it.each<[string, (seal: string) => [seal: string, scope: string, body: string]]>([
    ['without a seal', () => [' '.repeat(SEAL), SCOPE, BODY]],
    ['with a random seal', () => ['x'.repeat(SEAL), SCOPE, BODY]],
    ['with a seal of characters beyond ASCII', () => ['ß'.repeat(SEAL), SCOPE, BODY]],
    ['shorter than a seal', () => ['', SCOPE, '']],
    ['whose text is cut', (seal) => [seal, SCOPE, BODY.slice(0, -8)]],
    ['whose text is left out', (seal) => [seal, SCOPE, JSON.stringify(['changed', 'node', 'semaphore:job'])]],
    ['whose text is another one', (seal) => [seal, SCOPE, BODY.replace('7', '8')]],
    ['about another record', (seal) => [seal, SCOPE, BODY.replace('job', 'leader:default')]],
    ['of another cluster on the same server', (seal) => [seal, 'gatekeeper2', BODY]],
    ['whose scope begins with the text of it', (seal) => [seal, SCOPE + BODY.slice(0, 3), BODY.slice(3)]],
    ['with another number', (seal) => [`${seal.slice(0, -1)}${seal.endsWith('1') ? 2 : 1}`, SCOPE, BODY]],
    ['that is longer than any record', (seal) => [seal, SCOPE, 'x'.repeat(5_000_000)]],
  ])('%s is unproven', async (_, forged) => {
    const { sender, receiver } = await two();
    expect(receiver.judge(...forged(sender.sealOf(SCOPE, BODY)))).toBe('unproven');
  });

  it('of a cluster with another key is unproven', async () => {
    const [{ sender }, { receiver }] = [await two(), await two()];
    expect(receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY)).toBe('unproven');
  });

  it('of a node that has read no key has no seal, and the node reads it then', async () => {
    const { place, receiver } = await two();
    const late = new MessageSeals();
    expect(late.sealOf(SCOPE, BODY)).toBe(' '.repeat(SEAL));
    await late.load(place);
    expect(receiver.judge(late.sealOf(SCOPE, BODY), SCOPE, BODY)).toBe('proven');
  });

  it('does not stay in memory for ever', async () => {
    const { sender, receiver } = await two();
    const first = sender.sealOf(SCOPE, BODY);
    receiver.judge(first, SCOPE, BODY);
    for (let i = 0; i < 5000; i++) receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY);
    expect(receiver.judge(first, SCOPE, BODY)).toBe('proven');
  });
});

describe('The key of hints', () => {
  it('is created once, and is not the same for two clusters', async () => {
    const [one, other] = [new Place(), new Place()];
    for (const place of [one, other, one]) await new MessageSeals().load(place);
    expect(one.key).toMatch(/^[\w-]{43}$/);
    expect(other.key).not.toBe(one.key);
  });

  it('costs a node one reading if it is there', async () => {
    const { place } = await two();
    const before = place.reads;
    await new MessageSeals().load(place);
    expect(place.reads - before).toBe(1);
  });

  it('is put back by a node that knows it when the store lost everything, and hints are proven meanwhile', async () => {
    const { place, clock, sender, receiver } = await two();
    const { key } = place;
    delete place.key;
    expect(receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY)).toBe('proven');
    clock.now += 1000;
    await receiver.refresh();
    expect(place.key).toBe(key);
  });

  it('that was replaced is read again, at most once a second', async () => {
    const { place, clock, sender, receiver } = await two();
    place.key = 'k'.repeat(43);
    await sender.load(place);
    const before = place.reads;
    expect(receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY)).toBe('unproven');
    clock.now += 1000;
    for (let i = 0; i < 100; i++) await receiver.refresh();
    expect(place.reads - before).toBe(1);
    expect(receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY)).toBe('proven');
  });

  it('that is replaced leaves hints under the former one unproven', async () => {
    const { place, sender, receiver } = await two();
    const seal = sender.sealOf(SCOPE, BODY);
    place.key = 'k'.repeat(43);
    await receiver.load(place);
    expect(receiver.judge(seal, SCOPE, BODY)).toBe('unproven');
  });

  it('is kept while the store does not answer', async () => {
    const { sender, receiver } = await two();
    await receiver.load({ read: () => Promise.reject(new Error('down')), create: async () => undefined });
    expect(receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY)).toBe('proven');
  });

  it('is the same when the store doubts it after a failover', async () => {
    const { place, sender } = await two();
    const receiver = new MessageSeals();
    await receiver.load(new Place(DOUBT + place.key));
    expect(receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY)).toBe('proven');
  });

  it.each(['', 'secret', 'k'.repeat(42)])('that could be guessed (%j) proves nothing', async (key) => {
    const { sender, receiver } = await two(new Place(key));
    expect(receiver.judge(sender.sealOf(SCOPE, BODY), SCOPE, BODY)).toBe('unproven');
  });
});
