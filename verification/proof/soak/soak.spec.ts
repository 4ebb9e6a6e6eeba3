import { describeOnHazelcast } from '../../needs/members.js';
import { FIGURES } from './figures.js';
import { soak } from './soak.js';
import { verdictOf } from './verdict.js';

const MINUTE = { minutes: 1, members: 1, names: 100 };

/** Figures that can be judged within a minute. Memory needs more, as `npm run soak` gives it. */
const COUNTS = FIGURES.filter(({ warmUp }) => warmUp === 0);

describeOnHazelcast('a minute of random work with a member that restarts', () => {
  it('leaves no timers, handles, listeners or names behind', async () => {
    const courses = await soak(MINUTE, () => undefined, new AbortController().signal);
    expect(courses.map(({ samples }) => samples.at(-1)!.done['event granted'])).not.toContain(undefined);
    expect(verdictOf(courses, COUNTS)).toEqual([]);
  }, 150_000);
});
