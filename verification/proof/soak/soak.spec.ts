import { describeOnHazelcast } from '../../needs/members.js';
import { FIGURES } from './figures.js';
import { soak } from './soak.js';
import { verdictOf } from './verdict.js';

const MINUTE = { minutes: 1, members: 1, names: 100 };

/**
 * Per minute. In half a minute the work in progress moves the number of timers by ten and more. One that is lost with each
 * permit makes a thousand.
 */
const NOISE = 40;

/** Figures that can be judged within a minute. Memory, and smaller leaks, need more, as `npm run soak` gives it. */
const COUNTS = FIGURES.filter(({ warmUp }) => warmUp === 0).map((figure) => ({ ...figure, allowed: NOISE }));

describeOnHazelcast('a minute of random work with a member that restarts', () => {
  it('leaves no timers, handles, listeners or names behind', async () => {
    const courses = await soak(MINUTE, () => undefined, new AbortController().signal);
    expect(courses.map(({ samples }) => samples.length > 0)).toEqual([true, true, true]);
    expect(verdictOf(courses, COUNTS)).toEqual([]);
  }, 150_000);
});
