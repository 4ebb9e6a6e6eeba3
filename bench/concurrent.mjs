import { median, rate } from './measure.mjs';
import { row, textOf } from './sequential.mjs';

const FLOWS = 64;
const ROUNDS = 7;
const ROUND_MS = 1500;

/** 64 flows, each refreshing a semaphore of its own, against 64 flows of raw compare-and-set on keys of their own. */
export async function concurrent({ gatekeeper, map, records }) {
  const semaphores = Array.from({ length: FLOWS }, (_, index) => gatekeeper.semaphore(`bench-flow-${index}`));
  const permits = await Promise.all(semaphores.map((semaphore) => semaphore.tryAcquire({ duration: '10m' })));
  const { length } = await records.get('semaphore:bench-flow-0');
  const texts = semaphores.map(() => textOf(length, 0));
  await Promise.all(texts.map((text, index) => map.set(`flow-${index}`, text)));

  const ours = (index) => gatekeeper.refresh(permits[index]);
  const reference = async (index) => {
    const next = textOf(length, Math.floor(Math.random() * 1e9));
    if (await map.replaceIfSame(`flow-${index}`, texts[index], next)) texts[index] = next;
  };
  const rates = { ours: [], reference: [] };
  await rate(FLOWS, ours, 500);
  await rate(FLOWS, reference, 500);
  for (let round = 0; round < ROUNDS; round++) {
    rates.ours.push(await rate(FLOWS, ours, ROUND_MS));
    rates.reference.push(await rate(FLOWS, reference, ROUND_MS));
  }
  const medians = { ours: median(rates.ours), reference: median(rates.reference) };
  return [
    row(`${FLOWS} flows on own semaphores / raw compare-and-set`, medians, 0.7, (ratio) => ratio >= 0.7, 'calls/s'),
  ];
}
