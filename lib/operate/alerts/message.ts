import { createHmac } from 'node:crypto';
import type { Alert } from '../../core/context/alert.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';
import type { WebhookSettings } from './alerts-options.js';

/** The body of a request of the format `standard`. */
export interface AlertsMessage {
  /** `alerts`, or `alerts.test` for a test, whose list is empty. */
  readonly type: 'alerts' | 'alerts.test';
  /** When the message was made, in ISO 8601. */
  readonly timestamp: string;
  /** The content. */
  readonly data: {
    /** The option `alerts.cluster`, if it is set. */
    readonly cluster?: string;
    /** The node that sends. */
    readonly node: NodeIdentity;
    /** The oldest first, at most 20. */
    readonly alerts: readonly Alert[];
  };
}

/** Makes the body of a request in the receiver's format. */
export function bodyOf(message: AlertsMessage, { format }: Pick<WebhookSettings, 'format'>): string {
  return JSON.stringify(format === 'slack' ? { text: slackText(message), ...PLAIN } : message);
}

/**
 * Headers of a request. Its id stays the same when it is repeated, its time does not.
 *
 * @param seconds Unix time
 * @see https://www.standardwebhooks.com
 */
export function headersOf(
  id: string,
  body: string,
  secret: string | undefined,
  seconds: number,
): Record<string, string> {
  const signature: Record<string, string> =
    secret === undefined ? {} : { 'webhook-signature': signatureOf(`${id}.${seconds}.${body}`, secret) };
  return {
    'content-type': 'application/json',
    'user-agent': 'nestjs-gatekeeper',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    ...signature,
  };
}

function signatureOf(content: string, secret: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}

function slackText({ type, data: { cluster, node, alerts } }: AlertsMessage): string {
  const lines = type === 'alerts.test' ? [`Test of the alerts of node ${node.acquirer}`] : alerts.map(slackLine);
  return slackEscaped(lines.map((line) => (cluster === undefined ? line : `[${cluster}] ${line}`)).join('\n'));
}

function slackLine({ status, severity, kind, sentence, count }: Alert): string {
  const head = status === 'resolved' ? 'resolved' : severity;
  const line = `${head}: ${kind}${count > 1 ? ` (${count} times)` : ''}: ${sentence}`;
  // A name with a line break could begin a line that looks like another alert.
  return line.replaceAll(/\s*[\n\v\f\r\u0085\u2028\u2029]\s*/gu, ' ');
}

/** No formatting, no links and no previews of the pages behind them. */
const PLAIN = { mrkdwn: false, parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false } as const;
/** Takes no room, and ends what a program would take for a mention or a link. */
const GAP = '\u200b';

/**
 * Otherwise a name or a message of an error could mention a channel, look like a link to another page, or be formatted. Other
 * programs that take the same format know more forms than Slack: `@all`, `[text](address)`, and addresses without brackets.
 */
function slackEscaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', `@${GAP}`)
    .replaceAll('](', `]${GAP}(`)
    .replaceAll('://', `:${GAP}//`)
    .replaceAll('*', '\u2217')
    .replaceAll('`', "'")
    .replaceAll('~', '\u223c');
}
