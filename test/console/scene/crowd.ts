import { type SemaphoreDefinitionInput, memory } from 'nestjs-gatekeeper';
import { cardsOf, publishCards } from './cards.js';

const WORK = [
  'invoices',
  'reindex',
  'reports',
  'mailing',
  'cleanup',
  'sync',
  'backup',
  'billing',
  'thumbnails',
  'exports',
];

/** So many definitions, as a large application has them. */
export function crowdOf(count: number): SemaphoreDefinitionInput[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${WORK[index % WORK.length]}-${String(index).padStart(4, '0')}`,
    groupPattern: index % 3 === 0 ? 'production' : '.*',
    permits: 1 + (index % 3),
    duration: `${1 + (index % 10)}m`,
  }));
}

/** Options of a console that shows a thousand semaphores on a hundred nodes. */
export async function crowd() {
  const store = memory();
  await publishCards(store.open(), cardsOf(99, Date.now()));
  return { store, gatekeeper: { definitions: crowdOf(1000), group: 'production' } };
}
