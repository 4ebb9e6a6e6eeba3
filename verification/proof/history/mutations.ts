import type { EntryOf, HistoryEntry } from './history.js';

type Entries = readonly HistoryEntry[];
type Granted = EntryOf<'granted'>;

interface Mutation {
  /** One of them has to be found. */
  readonly rules: RegExp;
  /** All ways in which a sorted history can be changed so; each is carried out only when it is chosen. */
  readonly variants: (entries: Entries) => (() => HistoryEntry[])[];
}

const isGranted = (entry: HistoryEntry): entry is Granted => entry.event === 'granted';

const without = (entries: Entries, gone: HistoryEntry) => entries.filter((entry) => entry !== gone);
const withOther = (entries: Entries, old: HistoryEntry, other: HistoryEntry) =>
  entries.map((entry) => (entry === old ? other : entry));

/** Each entry that `isMeant` means, changed. */
const each =
  (
    isMeant: (entry: HistoryEntry, entries: Entries) => boolean,
    change: (all: Entries, entry: never) => HistoryEntry[],
  ) =>
  (entries: Entries) =>
    entries.filter((entry) => isMeant(entry, entries)).map((entry) => () => change(entries, entry as never));

/** Ways to make a legal history illegal, each as a bug or a careless log would. */
export const MUTATIONS: Record<string, Mutation> = {
  'a call is missing': {
    rules: /^H$/,
    variants: each(
      (entry, all) => entry.event === 'invoked' && all.some((other) => isAnswerTo(other, entry)),
      (all, call: HistoryEntry) => without(all, call),
    ),
  },
  'an answer came twice': {
    rules: /^H$/,
    variants: each(isGranted, (all, answer: Granted) => [...all, answer]),
  },
  'a grant is missing of which more was heard': {
    rules: /^H$/,
    variants: each(
      (entry, all) => isGranted(entry) && all.some((other) => other !== entry && isOf(other, entry.permit)),
      (all, grant: Granted) => without(all, grant),
    ),
  },
  'another is granted the same slot meanwhile': {
    rules: /^S1$/,
    variants: (entries) =>
      entries
        .filter((entry) => isGranted(entry) && isHeldOn(entry, entries))
        .map((entry) => () => [...entries, ...rival(entry as Granted)]),
  },
  'three more are granted slots that there are not': {
    rules: /^S1$/,
    variants: (entries) =>
      entries
        .filter((entry) => isGranted(entry) && isHeldOn(entry, entries))
        .map((entry) => () => [...entries, ...[7, 8, 9].flatMap((slot) => rival(entry as Granted, slot))]),
  },
  'a token is as low as one before': {
    rules: /^S2$/,
    variants: (entries) => {
      const grants = entries.filter(isGranted);
      return grants
        .slice(1)
        .filter((grant) => callOf(grant, entries).at > grants[0]!.at)
        .map((grant) => () => withOther(entries, grant, { ...grant, token: grants[0]!.token }));
    },
  },
  'a write with a token of before is applied': {
    rules: /^S3$/,
    variants: each(
      (entry) => entry.event === 'written' && entry.isApplied && entry.token > 0,
      (all, write: EntryOf<'written'>) => [...all, { ...write, token: write.token - 1, at: write.at + 0.001 }],
    ),
  },
  'a stale write is applied': {
    rules: /^S3$/,
    variants: each(
      (entry) => entry.event === 'written' && !entry.isApplied,
      (all, write: EntryOf<'written'>) => withOther(all, write, { ...write, isApplied: true }),
    ),
  },
  'a holder does not learn of the end': {
    rules: /^S4$/,
    variants: each(
      // The death of a process just after the end would be an excuse.
      ({ event, process }, all) =>
        event === 'ended' && !all.some((other) => other.event === 'killed' && other.process === process),
      (all, end: HistoryEntry) => without(all, end),
    ),
  },
  'the first look after a freeze does not throw': {
    rules: /^S4$/,
    variants: each(
      (entry) => entry.event === 'woken' && entry.callback === 'io',
      (all, look: EntryOf<'woken'>) => withOther(all, look, { ...look, threw: false }),
    ),
  },
  'the signal aborts too late after a freeze': {
    rules: /^S4$/,
    variants: each(
      (entry) => entry.event === 'woken' && entry.callback === 'after-timers',
      (all, look: EntryOf<'woken'>) => withOther(all, look, { ...look, aborted: false }),
    ),
  },
  'what had ended is revived': {
    rules: /^S4$/,
    variants: each(
      (entry) => entry.event === 'ended',
      (all, { process, semaphore, permit, at }: EntryOf<'ended'>) => [
        ...all,
        { event: 'refreshed', process, semaphore, permit, at: at + 20, remaining: 1 },
      ],
    ),
  },
  'the dead go on': {
    rules: /^H$/,
    variants: each(
      (entry) => entry.event === 'killed',
      (all, { process, at }: HistoryEntry) => [
        ...all,
        { event: 'invoked', verb: 'acquire', process, semaphore: 'job', call: 'from beyond', at: at + 20 },
      ],
    ),
  },
};

function isAnswerTo(entry: HistoryEntry, call: HistoryEntry): boolean {
  return entry !== call && 'call' in entry && 'call' in call && entry.call === call.call;
}

function isOf(entry: HistoryEntry, permit: string): boolean {
  return 'permit' in entry && entry.permit === permit;
}

function callOf(grant: Granted, entries: Entries): HistoryEntry {
  return entries.find((entry) => entry !== grant && isAnswerTo(entry, grant))!;
}

/** Whether nothing ends it within the moment after it was granted. */
function isHeldOn(grant: Granted, entries: Entries): boolean {
  const isOver = (entry: HistoryEntry) =>
    (isOf(entry, grant.permit) && entry !== grant) || (entry.event === 'killed' && entry.process === grant.process);
  return !entries.some((entry) => isOver(entry) && entry.at >= grant.at && entry.at <= grant.at + 1);
}

/** Another process that is granted just after, with a new token. */
function rival({ at, semaphore, slot: taken, token }: Granted, slot = taken): HistoryEntry[] {
  const call = { process: `rival-${slot}`, call: `rival-${slot}`, semaphore };
  return [
    { event: 'invoked', verb: 'acquire', at: at + 0.001, ...call },
    { event: 'granted', at: at + 0.002, ...call, permit: call.call, slot, token: token + 1000 + slot, remaining: 10 },
  ];
}
