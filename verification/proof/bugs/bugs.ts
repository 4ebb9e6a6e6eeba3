import { ADDRESSED_BUGS } from './addressed.bugs.js';
import { AFTER_BUGS } from './after.bugs.js';
import { ALLOCATION_BUGS } from './allocation.bugs.js';
import { ALLOCATION_NODE_BUGS } from './allocation-node.bugs.js';
import type { Bug } from './bug.js';
import { DEFINITIONS_BUGS } from './definitions.bugs.js';
import { LEADERSHIP_BUGS } from './leadership.bugs.js';
import { MEMBERSHIP_BUGS } from './membership.bugs.js';
import { ON_DEMAND_BUGS } from './on-demand.bugs.js';
import { OPERATORS_BUGS } from './operators.bugs.js';
import { PERMIT_BUGS } from './permit.bugs.js';
import { SCHEDULES_BUGS } from './schedules.bugs.js';
import { STORE_BUGS } from './store.bugs.js';
import { SWEEP_BUGS } from './sweep.bugs.js';
import { TASKS_BUGS } from './tasks.bugs.js';
import { TIME_BUGS } from './time.bugs.js';

export const BUGS: readonly Bug[] = [
  ...STORE_BUGS,
  ...PERMIT_BUGS,
  ...ON_DEMAND_BUGS,
  ...SWEEP_BUGS,
  ...TIME_BUGS,
  ...LEADERSHIP_BUGS,
  ...MEMBERSHIP_BUGS,
  ...ALLOCATION_BUGS,
  ...ALLOCATION_NODE_BUGS,
  ...TASKS_BUGS,
  ...ADDRESSED_BUGS,
  ...AFTER_BUGS,
  ...SCHEDULES_BUGS,
  ...OPERATORS_BUGS,
  ...DEFINITIONS_BUGS,
];

/** @throws Error that lists the known bugs */
export function bugNamed(name: string): Bug {
  const bug = BUGS.find((each) => each.name === name);
  if (bug) return bug;
  throw new Error(
    `there is no bug named ${JSON.stringify(name)}; there are: ${BUGS.map((each) => each.name).join(', ')}`,
  );
}
