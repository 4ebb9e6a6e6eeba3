import { describeCommandLine } from './end-to-end.js';

for (const server of ['Hazelcast', 'PostgreSQL', 'Redis'] as const) describeCommandLine('directly', server);
