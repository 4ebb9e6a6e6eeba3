import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaunchedCluster } from '../../../lib/testing/hazelcast/launched-cluster.js';
import { HazelcastLauncherError, type HazelcastOptions } from '../../../lib/testing/index.js';

const STARTED = 'LifecycleService: [127.0.0.1]:5701 [x] [5.6.0] [127.0.0.1]:5701 is STARTED';

describe('a member whose port another process has taken since it was chosen', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'gatekeeper-java-'))));
  afterEach(() => rm(folder, { recursive: true }));

  /** A cluster whose Java is a script, which notes the port of each start. The first starts end as Java's do. */
  async function clusterOf(failing: number, options: HazelcastOptions = {}) {
    const [java, starts] = [join(folder, 'java'), join(folder, 'starts')];
    const script = `#!/bin/sh
      for each in "$@"; do case "$each" in *port.port=*) echo "\${each#*=}" >> ${starts};; esac; done
      [ $(wc -l < ${starts}) -gt ${failing} ] || { echo 'java.net.BindException: Address already in use'; exit 1; }
      echo '${STARTED}'
      echo 'Members {size:1, ver:1} ['
      exec sleep 1000`;
    await writeFile(java, script);
    await chmod(java, 0o755);
    const cluster = new LaunchedCluster(java, { clusterName: 'x', jar: 'x.jar', config: 'x.yaml' }, options);
    return { cluster, ports: async () => (await readFile(starts, 'utf8')).trim().split('\n') };
  }

  it('gets another one', async () => {
    const { cluster, ports } = await clusterOf(1);
    await using _cluster = cluster;
    await cluster.start([{}]);
    const [taken, port, ...others] = await ports();
    expect(taken).not.toBe(port);
    expect([cluster.addresses, others]).toEqual([[`127.0.0.1:${port}`], []]);
    expect(cluster.members).toMatchObject([{ address: `127.0.0.1:${port}`, running: true }]);
  });

  it.each<[string, number, HazelcastOptions, number]>([
    ['after three ports', 3, {}, 3],
    ['if the caller chose the port', 1, { basePort: 15_000 }, 1],
  ])('does not start %s', async (_when, failing, options, starts) => {
    const { cluster, ports } = await clusterOf(failing, options);
    await using _cluster = cluster;
    await expect(cluster.start([{}])).rejects.toThrow(HazelcastLauncherError);
    expect(await ports()).toHaveLength(starts);
  });
});
