/** The oldest Java that can run the members' jar: its classes are compiled for Java 17. */
export const MINIMUM_JAVA = 17;

const instead = (version: string) =>
  `Install it, or run a member elsewhere and name it, for example: ` +
  `docker run --rm -p 5701:5701 -e HZ_CLUSTERNAME=dev hazelcast/hazelcast:${version} ` +
  `and HAZELCAST_MEMBERS=127.0.0.1:5701 in this process's environment (HAZELCAST_MEMBERS=host:port, comma separated; ` +
  `HAZELCAST_CLUSTER=name when it is not "dev").`;

export const NEED_JAVA = (found: string) =>
  `${found}: install Java ${MINIMUM_JAVA} or newer ("apt-get install openjdk-17-jre-headless")`;

export const NEED_MAVEN = 'Maven is missing, and it fetches Hazelcast: install it ("apt-get install maven")';

export const JAVA_MISSING = (program: string, version: string) =>
  `Java is missing: "${program} -version" could not be run, and Hazelcast ${version} needs Java ${MINIMUM_JAVA} or newer. ${instead(version)}`;

export const JAVA_TOO_OLD = (program: string, found: string, version: string) =>
  `Java is too old: "${program}" is ${found}, and Hazelcast ${version} needs Java ${MINIMUM_JAVA} or newer. ${instead(version)}`;

export const MAVEN_MISSING = (version: string) =>
  `Maven is missing: "mvn" could not be run, and it fetches hazelcast-${version}.jar. ${instead(version)}`;

export const FETCH_FAILED = (version: string, output: string) =>
  `Maven could not fetch hazelcast-${version}.jar. Does the version exist, and can a Maven repository be reached? Its output:\n${output}`;

export const OPTIONS_INVALID = (faults: string[]) => `Invalid options of startHazelcast: ${faults.join('; ')}.`;

export const ADDRESS_NOT_LOCAL = (address: string, cause: string) =>
  `No free port can be picked on ${address} (${cause}), because it is not an address of this machine. Set basePort to choose the ports.`;

export const NO_FREE_PORT = (address: string) => `No free port was found on ${address}. Set basePort to choose one.`;

export const DIED_AT_START = (address: string, lines: string[]) =>
  `The Hazelcast member ${address} ended while it started. Its last log lines:\n${lines.join('\n')}`;

export const DID_NOT_STOP = (address: string) =>
  `The Hazelcast member ${address} was sent SIGSTOP, but some of its threads still ran after 5 s. Is the machine overloaded?`;

export const START_TIMED_OUT = (waited: number, members: string[]) =>
  `The Hazelcast members did not form one cluster within ${waited} ms (startTimeout). ${members.join('\n')}`;

export const NOT_RUNNING = (address: string, verb: string) =>
  `The Hazelcast member ${address} can't ${verb}: it is not running. Call start() first.`;

export const ALREADY_RUNNING = (address: string) =>
  `The Hazelcast member ${address} already runs. Call kill() or stop() and await it before start().`;

export const NOT_OURS = (address: string, verb: string) =>
  `${verb} is not possible: the Hazelcast cluster ${address} comes from HAZELCAST_MEMBERS and was not started here. ` +
  `Unset it, or give an option that only members started here can satisfy (such as clusterName), to start members.`;
