// This file must import nothing, because it is also part of the console's page.

/** Why the permit of a run ended before the run did, for people: "lost its permit: <words>". Each `LossReason` has some. */
export const LOSS_WORDS = {
  expired: 'it could not be renewed in time',
  revoked: 'it was revoked or removed',
  'max-run-time': 'the run took longer than its maxRunTime',
  stuck: 'the run did not end after its signal',
  released: 'it was released',
  closing: 'the application shut down',
  unguarded: 'the store was unreachable',
} as const;
