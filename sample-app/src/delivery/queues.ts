/** Names of the queues. In real life rows of a table: the group reads them again every `refreshInterval`. */
export const QUEUES = [
  'athens',
  'berlin',
  'cairo',
  'delhi',
  'essen',
  'florence',
  'geneva',
  'havana',
  'istanbul',
  'jakarta',
  'kyoto',
  'lima',
] as const;

/** The allocation group that divides them over the nodes. */
export const QUEUE_GROUP = 'queues';
