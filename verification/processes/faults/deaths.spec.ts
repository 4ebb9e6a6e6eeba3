import { describeFaults } from './short-faults.js';

describeFaults(['kill-holder', 'kill-member', 'kill-leader']);
