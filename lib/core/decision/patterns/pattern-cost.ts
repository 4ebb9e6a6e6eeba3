import { show } from '../texts/show.js';
import { isLongerThan } from '../texts/one-line.js';
import { type PatternToken, PatternTokens } from './pattern-tokens.js';

/** The longest name of a semaphore, group or acquirer. So it is also the longest text that a pattern must match. */
export const LONGEST_NAME = 200;
/** Characters. Enough for a list of hundreds of host names, and short enough to compile quickly. */
export const LONGEST_PATTERN = 4096;
/**
 * RE2's instructions: one for each character, more for repetitions. A list of 400 host names of 9 characters has 3,600.
 */
export const MOST_INSTRUCTIONS = 5000;
/** Instructions times the positions in the text at which they may be tried: 250,000 take up to 10 ms. */
export const MOST_STEPS = 250_000;
/** Ranges in all character classes together: 20 Unicode classes such as \pL, which compile in 8 ms. */
const MOST_RANGES = 16_000;
/** RE2 joins a class into the alternatives before it by copying all of their ranges: 5,000,000 copies take 5 ms. */
const MOST_COPIES = 5_000_000;
/** Depth of nested groups: RE2's parser walks through all of them again at each counted repetition. */
const DEEPEST_GROUP = 100;

/** Positions in a name, including its end. RE2 moves by whole characters, not by halves of surrogate pairs. */
const PLACES = LONGEST_NAME + 1;

/** Upper bounds of the cost of compiling a pattern and of matching it once. Computed from the pattern's text alone. */
export interface PatternCost {
  readonly instructions: number;
  /** Instructions tried while one name is matched, for a name of any allowed length. */
  readonly steps: number;
  readonly ranges: number;
  /** Alternatives, in all groups together. */
  readonly bars: number;
  readonly depth: number;
}

/**
 * A part of a pattern. `steps` is the cost of a match that enters the part at one position. `min` and `max` are the
 * lengths that it can match, at most {@link PLACES}.
 */
interface Part {
  readonly instructions: number;
  readonly steps: number;
  readonly min: number;
  readonly max: number;
}

/**
 * A group while it is read: `alternatives` are those before the present one. `last` is the last part of the present
 * alternative, and `before` is the rest of it.
 */
interface Group {
  readonly isCapture: boolean;
  alternatives?: Part;
  before: Part;
  last: Part;
}

const NOTHING: Part = { instructions: 0, steps: 0, min: 0, max: 0 };
const CHARACTER: Part = { instructions: 1, steps: 1, min: 1, max: 1 };
const ASSERTION: Part = { instructions: 1, steps: 1, min: 0, max: 0 };

/**
 * Computes the most that a pattern can cost, in time linear in its length. The result is meaningless for a pattern that
 * RE2 refuses.
 */
export function costOf(pattern: string): PatternCost {
  const groups = [newGroup(false)];
  let ranges = 0;
  let bars = 0;
  let depth = 0;
  for (const token of new PatternTokens(pattern)) {
    if (token.kind === 'character') ranges += token.ranges;
    if (token.kind === 'bar') bars++;
    read(token, groups);
    depth = Math.max(depth, groups.length - 1);
  }
  while (groups.length > 1) close(groups);
  const { instructions, steps } = whole(groups[0]!);
  // RE2 begins each program with an instruction that fails, and ends it with one that matches.
  return { instructions: instructions + 2, steps: steps + 2, ranges, bars, depth };
}

/** @returns a sentence, without the field's name, if a pattern is too long */
export function lengthFault(pattern: string): string | undefined {
  if (!isLongerThan(pattern, LONGEST_PATTERN)) return undefined;
  return `${show(pattern)} is longer than ${LONGEST_PATTERN} characters: use a shorter pattern`;
}

/** @returns a sentence, without the field's name, that says which limit a pattern exceeds and what to do */
export function costFault(pattern: string): string | undefined {
  const tooLong = lengthFault(pattern);
  if (tooLong !== undefined) return tooLong;
  const { instructions, steps, ranges, bars, depth } = costOf(pattern);
  if (depth > DEEPEST_GROUP) {
    return `${show(pattern)} has groups within groups ${depth} deep, more than ${DEEPEST_GROUP}: remove brackets that it doesn't need`;
  }
  if (instructions > MOST_INSTRUCTIONS) return sizeFault(pattern, instructions);
  if (ranges > MOST_RANGES || bars * (bars + ranges) > MOST_COPIES) {
    return `${show(pattern)} has ${amount(ranges)} ranges of characters in ${amount(bars + 1)} alternatives, too many to compile: use fewer classes such as \\pL, or smaller ones`;
  }
  if (steps > MOST_STEPS) {
    return `${show(pattern)} takes up to ${amount(steps)} steps to match a name, more than ${amount(MOST_STEPS)}: put less behind "*", "+" or "{…}", or use smaller counted repetitions`;
  }
  return undefined;
}

/** The fault of a pattern that has too many instructions, found by its cost or after it was compiled. */
export function sizeFault(pattern: string, instructions: number): string {
  return `${show(pattern)} compiles to ${amount(instructions)} instructions, more than ${amount(MOST_INSTRUCTIONS)}: use fewer or smaller counted repetitions`;
}

function read(token: PatternToken, groups: Group[]): void {
  const group = groups.at(-1)!;
  switch (token.kind) {
    case 'character':
      return append(group, CHARACTER);
    case 'assertion':
      return append(group, ASSERTION);
    case 'open':
      groups.push(newGroup(token.isCapture));
      return;
    case 'close':
      if (groups.length > 1) close(groups);
      return;
    case 'bar':
      group.alternatives = whole(group);
      group.before = group.last = NOTHING;
      return;
    case 'repeat':
      group.last = repeated(group.last, token.min, token.max);
  }
}

function newGroup(isCapture: boolean): Group {
  return { isCapture, before: NOTHING, last: NOTHING };
}

function append(group: Group, part: Part): void {
  group.before = joined(group.before, group.last);
  group.last = part;
}

function close(groups: Group[]): void {
  const group = groups.pop()!;
  const inner = whole(group);
  const ends = group.isCapture ? 2 : 0;
  append(groups.at(-1)!, { ...inner, instructions: inner.instructions + ends, steps: inner.steps + ends });
}

/** The cost of a group so far. */
function whole({ alternatives, before, last }: Group): Part {
  const read = joined(before, last);
  // RE2 makes one instruction of an empty alternative.
  const present = read.instructions > 0 ? read : { ...read, instructions: 1, steps: 1 };
  if (!alternatives) return present;
  return {
    instructions: alternatives.instructions + present.instructions + 1,
    steps: alternatives.steps + present.steps + 1,
    min: Math.min(alternatives.min, present.min),
    max: Math.max(alternatives.max, present.max),
  };
}

/** The cost of two parts in sequence. The second part is tried at each position where the first may end. */
function joined(first: Part, second: Part): Part {
  return {
    instructions: first.instructions + second.instructions,
    steps: first.steps + stepsFrom(second, first.max - first.min + 1),
    min: Math.min(first.min + second.min, PLACES),
    max: Math.min(first.max + second.max, PLACES),
  };
}

/** RE2 compiles a counted repetition into copies in sequence. Each copy may need one instruction that skips it. */
function repeated(part: Part, min: number, max: number): Part {
  const isLoop = max === Infinity;
  const copies = Math.max(1, isLoop ? min : max);
  const places = isLoop ? PLACES : 1 + (copies - 1) * (part.max - part.min);
  const copy = { ...part, instructions: part.instructions + 1, steps: part.steps + 1 };
  return {
    instructions: copies * part.instructions + (isLoop ? 2 : max - min),
    steps: copies * stepsFrom(copy, places) + 1,
    min: Math.min(min * part.min, PLACES),
    max: isLoop ? PLACES : Math.min(max * part.max, PLACES),
  };
}

/** @param places number of positions at which the part may be entered */
function stepsFrom({ steps, instructions }: Part, places: number): number {
  const most = Math.min(places, PLACES);
  return Math.min(steps * most, instructions * PLACES);
}

function amount(count: number): string {
  // Not `toLocaleString`: the first call of a process loads its tables for 16 ms.
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
