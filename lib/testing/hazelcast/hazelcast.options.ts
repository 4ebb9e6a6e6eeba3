import { z } from 'zod';
import type { HazelcastMember } from './hazelcast-member.js';
import { HazelcastLauncherError } from './launcher.error.js';
import { OPTIONS_INVALID } from './launcher.messages.js';

/** Options that may differ from member to member. */
export interface HazelcastMemberOptions {
  /** IPv4 address that the member binds, and nothing else. Default `127.0.0.1`. */
  address?: string;
  /** Default: the next after `basePort`, else a free one. */
  port?: number;
  /** The largest heap, as Java's `-Xmx` reads it. Default `256m`. */
  heap?: string;
  /**
   * Further arguments of Java, such as `-Dhz.cp-subsystem.cp-member-count=3`; they come last and so override others. By
   * default members use only Java's quick compiler, for tests of seconds: for longer runs give `-XX:TieredStopAtLevel=4`.
   */
  jvmArgs?: string[];
  /** Put in front of Java's command line: `['ip', 'netns', 'exec', 'a']`, `['faketime', '-f', '+600']`. */
  command?: string[];
}

/** Options of `startHazelcast`; options of members given here apply to each member that has no own ones. */
export interface HazelcastOptions extends Omit<HazelcastMemberOptions, 'port'> {
  /** How many members, or the options of each. Default 1. */
  members?: number | HazelcastMemberOptions[];
  /** Default: a random name, so that test runs on one host stay separate. */
  clusterName?: string;
  /** Hazelcast's version. Default: the one that this package pins. Java's packages are fetched with Maven. */
  version?: string;
  /** The first member's port; the others follow. Default: free ports are picked. */
  basePort?: number;
  /** Path of another hazelcast.yaml. Name, port and member list are always overridden. */
  config?: string;
  /**
   * Fewer members than this neither read nor write `gatekeeper.*` maps, by the hazelcast-majority.yaml that this package
   * ships; 1 turns that off. Default: as `config` says (off). Your own `config` must not define it differently. A
   * member that has just joined refuses until it has had a heartbeat of the others, within a second.
   */
  minimumClusterSize?: number;
  /** How long the members may take until they form the whole cluster, in ms. Default 60,000. */
  startTimeout?: number;
  /** Called with every line that a member logs. */
  onLog?: (member: HazelcastMember, line: string) => void;
}

const port = z.int().min(1).max(65_535);
const memberShape = {
  address: z.ipv4().optional(),
  heap: z
    .string()
    .regex(/^\d+[kmg]$/i, 'is a number with k, m or g, such as 256m')
    .optional(),
  jvmArgs: z.array(z.string().min(1)).optional(),
  command: z.array(z.string().min(1)).optional(),
};
const member = z.strictObject({ ...memberShape, port: port.optional() });

const schema = z.strictObject({
  ...memberShape,
  members: z.union([z.int().min(1), z.array(member).min(1)], 'is a number or an array of member options').optional(),
  clusterName: z.string().min(1).optional(),
  version: z
    .string()
    .regex(/^\d[\w.-]*$/, 'is a version such as 5.6.0')
    .optional(),
  basePort: port.optional(),
  config: z.string().min(1).optional(),
  minimumClusterSize: z.int().min(1).optional(),
  startTimeout: z.number().positive().optional(),
  onLog: z.custom<HazelcastOptions['onLog']>((value) => typeof value === 'function', 'is a function').optional(),
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
