import { describeCommandLine } from './end-to-end.js';

describeCommandLine('directly to Hazelcast');
