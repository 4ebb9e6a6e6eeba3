/** The card of a node, as a text of the store has it. */
export const CARD = {
  group: 'g',
  acquirer: 'a',
  instance: 'i',
  host: 'h',
  pid: 1,
  startedAt: 1,
  at: 1,
  heartbeat: 1,
  clock: {},
  jobs: [],
};
