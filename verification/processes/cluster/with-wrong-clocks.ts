import { lackOfMembers } from '../../needs/members.js';
import { describeUnless } from '../../../test/support/unless.js';
import { canSetClocks } from './wrong-clock.js';

const lackOfFaketime = canSetClocks() ? undefined : 'faketime is missing: "apt-get install faketime"';

/** Tests of nodes and members of which some have a wrong clock. */
export const describeWithWrongClocks = describeUnless(lackOfMembers ?? lackOfFaketime);
