import { z } from 'zod';
import type { HazelcastMember } from './hazelcast-member.js';
import { HazelcastLauncherError } from './launcher.error.js';
import { OPTIONS_INVALID } from './launcher.messages.js';

/** Options that may differ from member to member. */
export interface HazelcastMemberOptions {
  /** The only IPv4 address that the member binds. Default `127.0.0.1`. */
  address?: string;
  /** Default: `basePort` plus the member's index; without `basePort` a free port. */
  port?: number;
  /** Maximum heap, in the format of Java's `-Xmx`. Default `256m`. */
  heap?: string;
  /**
   * More arguments of Java, such as `-Dhz.cp-subsystem.cp-member-count=3`. They override the launcher's own arguments.
   * A member gets those of the cluster, then its own. By default members use only Java's quick compiler, which suits
   * tests of seconds. For longer runs give `-XX:TieredStopAtLevel=4`.
   */
  jvmArgs?: string[];
  /**
   * Command in front of Java's command line: `['ip', 'netns', 'exec', 'a']`, `['faketime', '-f', '+600']`. Default:
   * none.
   */
  command?: string[];
}

/** Options of `startHazelcast`. Options of members that are given here are the defaults of all members. */
export interface HazelcastOptions extends Omit<HazelcastMemberOptions, 'port'> {
  /** Number of members, or the options of each member. Default 1. */
  members?: number | HazelcastMemberOptions[];
  /** Default: a random name, so that test runs on one host stay separate. */
  clusterName?: string;
  /**
   * Hazelcast's version, fetched with Maven. Default: `HAZELCAST_VERSION` of the environment, or else the version that
   * this package pins.
   */
  version?: string;
  /** Port of the first member. The other members use the next ports. Default: each member gets a free port. */
  basePort?: number;
  /**
   * Path of another hazelcast.yaml. Its name, port and member list are always overridden. Default: the shipped file.
   */
  config?: string;
  /**
   * While fewer members than this are connected, they refuse to read and write `gatekeeper.*` maps (split-brain
   * protection, by the hazelcast-majority.yaml that this package ships). 1 turns it off. Default: as `config` says; the
   * shipped file has none. Your own `config` must not define it differently. A member that has just joined refuses for
   * up to a second, until it has received a heartbeat of the others.
   */
  minimumClusterSize?: number;
  /** ms within which the members must form one cluster. Default 60,000. */
  startTimeout?: number;
  /** Called with every line that a member logs. */
  onLog?: (member: HazelcastMember, line: string) => void;
}

const port = z.int().min(1).max(65_535);
const memberShape = {
  address: z.ipv4().optional(),
  heap: z
    .string()
    .regex(/^\d+[kmg]$/i, 'must be a number with k, m or g, such as 256m')
    .optional(),
  jvmArgs: z.array(z.string().min(1)).optional(),
  command: z.array(z.string().min(1)).optional(),
};
const member = z.strictObject({ ...memberShape, port: port.optional() });

const schema = z.strictObject({
  ...memberShape,
  members: z
    .union([z.int().min(1), z.array(member).min(1)], 'must be a number or an array of member options')
    .optional(),
  clusterName: z.string().min(1).optional(),
  version: z
    .string()
    .regex(/^\d[\w.-]*$/, 'must be a version such as 5.6.0')
    .optional(),
  basePort: port.optional(),
  config: z.string().min(1).optional(),
  minimumClusterSize: z.int().min(1).optional(),
  startTimeout: z.number().positive().optional(),
  onLog: z.custom<HazelcastOptions['onLog']>((value) => typeof value === 'function', 'must be a function').optional(),
});

/** @throws {HazelcastLauncherError} that lists every fault, by field. */
export function checkOptions(options: HazelcastOptions): HazelcastOptions {
  return checked(schema, options);
}

/** @throws {HazelcastLauncherError} that lists every fault, by field. */
export function checkMemberOptions(options: HazelcastMemberOptions): HazelcastMemberOptions {
  return checked(member, options);
}

function checked<T>(shape: z.ZodType<T>, options: T): T {
  const result = shape.safeParse(options);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.') || 'options'}: ${message}`);
  throw new HazelcastLauncherError(OPTIONS_INVALID(faults), { cause: result.error });
}
