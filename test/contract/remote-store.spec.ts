import { describeRemoteOverMemory } from './remote-over-memory.js';

describeRemoteOverMemory('Express');
