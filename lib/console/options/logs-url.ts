/** Placeholders of the option `logsUrl`. */
export const LOG_PLACEHOLDERS = [
  'semaphore',
  'job',
  'group',
  'acquirer',
  'instance',
  'token',
  'from',
  'to',
  'fromMs',
  'toMs',
] as const;

const PLACEHOLDER = /\{([^{}]*)\}/g;

/**
 * Checks a template of addresses of logs. Only http and https are allowed, because the page makes a link of it, and a
 * placeholder must not change the host.
 *
 * @returns the fault, if there is one
 */
export function logsUrlFault(template: string): string | undefined {
  const unknown = [...template.matchAll(PLACEHOLDER)].map(([, name]) => name!).find((name) => !isPlaceholder(name));
  if (unknown !== undefined) return `has the unknown placeholder {${unknown}}: use ${LOG_PLACEHOLDERS.join(', ')}`;
  const [one, other] = ['a', 'b'].map((value) => template.replaceAll(PLACEHOLDER, value));
  if (!URL.canParse(one!)) return 'is not an address such as "https://logs.example.com/?query={job}"';
  const { protocol, origin } = new URL(one!);
  if (protocol !== 'https:' && protocol !== 'http:') return 'is neither an http nor an https address';
  return !URL.canParse(other!) || origin !== new URL(other!).origin ? 'has a placeholder in its host' : undefined;
}

function isPlaceholder(name: string): boolean {
  return (LOG_PLACEHOLDERS as readonly string[]).includes(name);
}
