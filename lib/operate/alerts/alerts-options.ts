import { z } from 'zod';
import { durationSchema, nameSchema, onlyFields, show } from '../../core/decision/index.js';
import { choiceSchema, delaySchema, switchSchema } from '../../core/decision/option-types.js';
import { ALERT_KINDS, type AlertKind } from '../../core/context/alert.js';

/** A receiver of alerts: an address that takes POST requests. */
export interface WebhookOptions {
  /**
   * Its address: https, or http to this machine with `allowHttp`. It is never logged in full, because its path may be a
   * secret.
   */
  readonly url: string;
  /**
   * Signs the requests as Standard Webhooks says: `whsec_` and 24 to 64 random bytes in Base64 (`echo whsec_$(openssl
   * rand -base64 32)`). Needed, unless `format` is `'slack'`.
   */
  readonly secret?: string;
  /**
   * Name of the receiver in logs, in the console and on the command line.
   *
   * @defaultValue the host of `url`
   */
  readonly name?: string;
  /**
   * Kinds of alerts that it gets.
   *
   * @defaultValue all
   */
  readonly kinds?: readonly AlertKind[];
  /**
   * `standard`: JSON with a signature. `slack`: `{ "text": … }` without one, for Slack, Mattermost and others: see
   * docs/alerts.md#slack-and-mattermost.
   *
   * @defaultValue `standard`
   */
  readonly format?: 'standard' | 'slack';
  /**
   * Timeout of one request, ms or text; at most 30 s.
   *
   * @defaultValue 5s
   */
  readonly timeout?: number | string;
  /**
   * Allows http, but only to this machine: localhost, 127.0.0.0/8 and [::1].
   *
   * @defaultValue false
   */
  readonly allowHttp?: boolean;
}

/** Alerts by webhook. Durations are ms, or text ("5m", "PT5M"). */
export interface AlertsOptions {
  /** The receivers, at most 10. */
  readonly webhooks: readonly WebhookOptions[];
  /**
   * Name of the cluster in each message, for receivers of several clusters.
   *
   * @defaultValue none
   */
  readonly cluster?: string;
  /**
   * How long a fault of a node's health (docs/operations.md#check-the-health) must last before it fires, 0 for at once.
   *
   * @defaultValue 10s
   */
  readonly pendingPeriod?: number | string;
  /**
   * The shortest time between two messages that one trouble fires. What occurs meanwhile is counted.
   *
   * @defaultValue 5m
   */
  readonly groupInterval?: number | string;
  /**
   * How often a trouble that lasts fires again.
   *
   * @defaultValue 4h
   */
  readonly repeatInterval?: number | string;
}

const MOST_WEBHOOKS = 10;
/** ms */
const LONGEST_TIMEOUT = 30_000;
/** Bytes of a key: Standard Webhooks asks for them. */
const [SHORTEST_KEY, LONGEST_KEY] = [24, 64];
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The error never contains the value, because it is a secret. */
const secretSchema = z.string({ error: 'is not text' }).refine(isSecret, {
  error: `must be "whsec_" and ${SHORTEST_KEY} to ${LONGEST_KEY} bytes in Base64: make one with openssl rand -base64 32`,
});

function isSecret(text: string): boolean {
  const key = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1];
  const { length } = Buffer.from(key ?? '', 'base64');
  return length >= SHORTEST_KEY && length <= LONGEST_KEY;
}

const kindSchema = choiceSchema(ALERT_KINDS);

const webhookSchema = onlyFields({
  url: z.string({ error: 'is not an address' }).max(2000, { error: 'is longer than 2000 characters' }),
  secret: secretSchema.optional(),
  name: nameSchema.optional(),
  kinds: z
    .array(kindSchema, { error: ({ input }) => `${show(input)} is not a list of kinds` })
    .min(1, { error: 'is empty: leave it out for all kinds' })
    .default([...ALERT_KINDS]),
  format: choiceSchema(['standard', 'slack']).default('standard'),
  timeout: durationSchema.default(5000),
  allowHttp: switchSchema.default(false),
})
  .superRefine(({ url, secret, format, timeout, allowHttp }, { addIssue }) => {
    const fault = urlFault(url, allowHttp);
    if (fault) addIssue({ code: 'custom', path: ['url'], message: fault });
    if (format === 'standard' && secret === undefined)
      addIssue({ code: 'custom', path: ['secret'], message: `is missing: it signs the requests` });
    if (timeout > LONGEST_TIMEOUT) addIssue({ code: 'custom', path: ['timeout'], message: 'is longer than 30 s' });
  })
  .transform((webhook) => ({ ...webhook, name: webhook.name ?? hostOf(webhook.url) }));

/** The fault of an address, in a sentence that does not contain it: its path may be a secret. */
function urlFault(text: string, allowHttp: boolean): string | undefined {
  if (!URL.canParse(text)) return 'is not an address: give https://…';
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return 'has a user or a password: use the secret to sign the requests';
  if (protocol === 'https:') return undefined;
  if (protocol !== 'http:') return 'is not an address: give https://…';
  if (LOOPBACK.test(hostname)) return allowHttp ? undefined : 'uses http: set allowHttp, or give https://…';
  return 'uses http, and its host is not this machine: give https://…';
}

/** The host is no secret, unlike the path. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

/** zod type of {@link AlertsOptions}. */
export const alertsSchema = onlyFields({
  webhooks: z
    .array(webhookSchema, { error: ({ input }) => `${show(input)} is not a list of webhooks` })
    .min(1, { error: 'is empty: give a webhook, or leave the option alerts out' })
    .max(MOST_WEBHOOKS, { error: `has more than ${MOST_WEBHOOKS} webhooks` })
    .refine((webhooks) => new Set(webhooks.map(({ name }) => name)).size === webhooks.length, {
      error: 'has two webhooks of one name: give each a name',
    }),
  cluster: nameSchema.optional(),
  pendingPeriod: delaySchema.default(10_000),
  groupInterval: durationSchema.default(300_000),
  repeatInterval: durationSchema.default(14_400_000),
});

/** {@link AlertsOptions} with defaults, durations in ms. */
export type AlertsSettings = z.output<typeof alertsSchema>;

/** {@link WebhookOptions} with defaults, the timeout in ms. */
export type WebhookSettings = AlertsSettings['webhooks'][number];
