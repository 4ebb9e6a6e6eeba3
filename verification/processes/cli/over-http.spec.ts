import { describeCommandLine } from './end-to-end.js';

describeCommandLine('over HTTP');
