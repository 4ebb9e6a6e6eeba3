import { execa } from 'execa';
import { canSetClocks } from '../cluster/wrong-clock.js';
import { lackOf } from '../../needs/programs.js';
import { lackOfPostgres } from '../../support/postgres-server.js';
import { CutNetwork } from './network.js';

/** A tool or right that a fault needs. */
export type Need = 'namespaces' | 'faketime' | 'postgres' | 'redis';

/** Missing tools, with the remedy for each. */
export type Lacks = Partial<Record<Need, string>>;

/** Finds out by doing it. */
export async function lacks(): Promise<Lacks> {
  const namespaces = await tryNetwork();
  const redis = await lackOf('redis-server');
  return {
    ...(namespaces !== undefined && { namespaces }),
    ...(lackOfPostgres !== undefined && { postgres: lackOfPostgres }),
    ...(redis !== undefined && { redis }),
    ...(!canSetClocks() && { faketime: 'faketime is missing (apt-get install faketime)' }),
  };
}

async function tryNetwork(): Promise<string | undefined> {
  try {
    await using network = await CutNetwork.open();
    const [one, other] = [await network.place('one'), await network.place('other')];
    await network.part([one]);
    await network.silence(other);
    await network.heal();
    const [file, ...args] = [...one.command, 'tc', 'qdisc', 'show'];
    await execa(file!, args);
    return undefined;
  } catch (error) {
    const [message] = (error as Error).message.split('\n');
    return `no network namespaces here; they need root, and ip and tc (apt-get install iproute2): ${message}`;
  }
}
