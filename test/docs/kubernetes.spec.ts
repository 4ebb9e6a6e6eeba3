import { readFileSync, readdirSync } from 'node:fs';
import type { Container, PodSpec } from 'kubernetes-types/core/v1.js';
import ms from 'ms';
import { parseAllDocuments } from 'yaml';
import { ROOT, useCompiler } from './snippets.js';

const compile = useCompiler();
const FOLDER = `${ROOT}examples/kubernetes/`;

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: { readonly matchLabels?: Record<string, string> } & Record<string, unknown>;
    readonly template?: { readonly metadata: { readonly labels: Record<string, string> }; readonly spec: PodSpec };
  };
}

const read = (file: string): Resource[] =>
  parseAllDocuments(readFileSync(FOLDER + file, 'utf8')).map((document) => document.toJS() as Resource);

/** Compiles each resource against the type of its kind, so that unknown, missing and wrong fields are faults. */
function faultsOf(resources: readonly Resource[]): string[] {
  const snippets = resources.map((resource) => {
    const group = resource.apiVersion.includes('/') ? resource.apiVersion : `core/${resource.apiVersion}`;
    const path = `kubernetes-types/${group.replace('.k8s.io', '')}.js`;
    const code = `import type { ${resource.kind} } from '${path}';\nexport const _: ${resource.kind} = ${JSON.stringify(resource)};\n`;
    return { page: `${resource.kind} ${resource.metadata.name}`, line: 1, language: 'ts', isQuote: false, code };
  });
  return compile(snippets);
}

function podOf(file: string): PodSpec {
  return read(file).find(({ spec }) => spec.template)!.spec.template!.spec;
}

function containerOf(file: string): Container {
  return podOf(file).containers[0]!;
}

describe('The manifests of examples/kubernetes', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));

  it('fit the types of the Kubernetes API', () => {
    expect(files).toEqual(['application.yaml', 'hazelcast.yaml']);
    expect(faultsOf(files.flatMap(read))).toEqual([]);
  });

  it('are found to be wrong if they are', () => {
    const [service] = read('hazelcast.yaml');
    const wrong = { ...service!, spec: { ...service!.spec, clusterIp: 'None' } };
    expect(faultsOf([wrong])).toEqual([expect.stringMatching(/'"clusterIp"' does not exist/)]);
  });

  it.each(files)('of %s select the pods that they start, three of them', (file) => {
    const resources = read(file);
    const { spec } = resources.find((resource) => resource.spec.template)!;
    const labels = Object.entries(spec.template!.metadata.labels);
    expect(spec.replicas).toBe(3);
    for (const each of resources) {
      const { matchLabels = each.spec.selector } = each.spec.selector ?? {};
      expect(labels).toEqual(expect.arrayContaining(Object.entries(matchLabels ?? {})));
    }
  });

  it.each(files)('of %s run without root, privileges and a service account', (file) => {
    expect(podOf(file)).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(containerOf(file).securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('ask only the process in each probe of the application', () => {
    const { livenessProbe, startupProbe, readinessProbe } = containerOf('application.yaml');
    expect([livenessProbe, startupProbe, readinessProbe].map((probe) => probe?.httpGet?.path)).toEqual(
      Array.from({ length: 3 }, () => '/live'),
    );
  });

  it('give a pod the time for preStop, shutdownGrace and the release of its permits', () => {
    const { env = [], lifecycle } = containerOf('application.yaml');
    const grace = ms(env.find(({ name }) => name === 'SHUTDOWN_GRACE')!.value as ms.StringValue) / 1000;
    const needed = lifecycle!.preStop!.sleep!.seconds + grace + 10;
    expect(podOf('application.yaml').terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
  });

  it('give a member the time in which it passes on its data', () => {
    const [config] = parseAllDocuments(readFileSync(`${ROOT}tools/hazelcast/hazelcast.yaml`, 'utf8'));
    const wait = config!.getIn(['hazelcast', 'properties', 'hazelcast.graceful.shutdown.max.wait']) as number;
    expect(podOf('hazelcast.yaml').terminationGracePeriodSeconds).toBeGreaterThan(wait);
  });
});
