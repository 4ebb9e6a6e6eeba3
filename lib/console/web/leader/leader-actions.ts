import { someOf } from '../../lists/texts.js';
import type { LeaderAnswer, ScopeCandidate } from '../api/answers.js';
import { call } from '../api/call.js';
import type { Action } from '../forms/action-dialog.js';

/* The handovers of a leader's page. */

type Done = () => Promise<void>;

/** Whether a node could take the leadership of its scope now. */
export function canTakeOver({ reason }: ScopeCandidate): boolean {
  return reason === 'no-permit' || reason === 'waiting' || reason === 'other-preferred';
}

export function stepDownAction({ scope: { scope, leader }, candidates }: LeaderAnswer, done: Done): Action {
  const name = leader?.acquirer ?? 'the leader';
  const others = candidates.filter(canTakeOver).map(({ acquirer }) => acquirer);
  const next =
    others.length > 0
      ? `Then one of these nodes leads: ${someOf(others, others.length, 5)}.`
      : `No other node can lead now, so ${name} leads again after 6 seconds.`;
  return {
    title: `Ask ${name} to step down`,
    explanation: `${name} ends its term of “${scope}” at once, finishes the work under it, and gives its permit back. ${next}`,
    verb: 'Step down',
    isDangerous: others.length === 0,
    run: async (reason) => {
      const { asked } = await call('stepDown', { params: { scope }, body: { reason } });
      await done();
      return asked ? `${name} was asked to step down.` : 'No node leads now.';
    },
  };
}

export function transferAction({ scope: { scope, leader } }: LeaderAnswer, target: ScopeCandidate, done: Done): Action {
  const { acquirer, group, instance } = target;
  const first = leader
    ? `${leader.acquirer} ends its term of “${scope}” at once, finishes the work under it, and gives its permit back.`
    : `No node leads “${scope}” now.`;
  return {
    title: `Transfer the leadership to ${acquirer}`,
    explanation: `${first} For 6 seconds only ${acquirer} (${group}) can take it; after that any node can.`,
    verb: 'Transfer',
    run: async (reason) => {
      const { asked } = await call('transfer', { params: { scope }, body: { node: instance, reason } });
      await done();
      return asked ? `The leadership goes to ${acquirer}.` : `${acquirer} leads already.`;
    },
  };
}
