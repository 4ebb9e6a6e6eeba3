import type { Fault } from './fault.js';
import { CLOCKS } from './actions/clocks.js';
import { CUTS } from './actions/cuts.js';
import { DATA_LOSSES } from './actions/data-loss.js';
import { DEATHS } from './actions/deaths.js';
import { FREEZES } from './actions/freezes.js';
import { LEADERS } from './actions/leaders.js';
import { RESTARTS } from './actions/restarts.js';
import { SERVERS } from './actions/servers.js';

export const FAULTS: readonly Fault[] = [
  ...DEATHS,
  ...FREEZES,
  ...CUTS,
  ...CLOCKS,
  ...RESTARTS,
  ...LEADERS,
  ...DATA_LOSSES,
  ...SERVERS,
];

/** @throws when there is none of that name */
export function faultNamed(name: string): Fault {
  const fault = FAULTS.find((each) => each.name === name);
  if (fault) return fault;
  throw new Error(
    `--fault ${JSON.stringify(name)}: there is none; choose of ${FAULTS.map((each) => each.name).join(', ')}`,
  );
}
