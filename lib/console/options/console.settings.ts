import type { CanActivate, Type } from '@nestjs/common';
import { z } from 'zod';
import {
  InvalidOptionsError,
  durationSchema,
  faultsOf,
  nameSchema,
  show,
  onlyFields,
  patternSchema,
  urlText,
} from '../../core/decision/index.js';
import { ROLES } from '../api/index.js';
import type { ConsoleOptions } from './console.options.js';
import { logsUrlFault } from './logs-url.js';

const DEFAULT_PATH = 'gatekeeper';
const SHORTEST_TOKEN = 16;
/** Matches characters that an Authorization header can carry. */
const SENDABLE = /^[\x21-\x7e]+$/;
const PATH = /^[\w.~-]+(\/[\w.~-]+)*$/;

const isGuard = (value: unknown) =>
  typeof value === 'function' || typeof (value as CanActivate | null)?.canActivate === 'function';

/** A decorator for classes and methods, such as Nest's `SetMetadata` makes. */
const decoratorSchema = z.custom<ClassDecorator & MethodDecorator>((value) => typeof value === 'function', {
  error: ({ input }) => `${show(input)} is no decorator: call it, as in "SkipThrottle()"`,
});

const switchSchema = z.boolean({ error: ({ input }) => `${show(input)} is neither true nor false` }).default(false);

/** Its faults never show the value, because it is a secret. */
const secretSchema = z
  .string({
    error: ({ input }) => (input === undefined ? 'is missing: is the variable set that it comes from?' : 'is not text'),
  })
  .min(SHORTEST_TOKEN, {
    error: ({ input }) =>
      `has ${String(input).length} characters, but ${SHORTEST_TOKEN} are needed: use a random one ("openssl rand -hex 32")`,
  })
  .max(1000, { error: 'is longer than 1000 characters' })
  .regex(SENDABLE, { error: 'has characters that no header can carry: use letters and digits' });

const tokenSchema = onlyFields({
  token: secretSchema,
  name: nameSchema,
  role: z.enum(ROLES, { error: ({ input }) => `${show(input)} is not one of ${ROLES.join(', ')}` }),
  names: patternSchema.optional(),
  permitsOnly: switchSchema.optional(),
  maxLease: durationSchema.optional(),
}).superRefine(({ role, names, permitsOnly }, context) => {
  const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (names !== undefined && role === 'node') fault('names', 'does not fit the role node, which uses the store itself');
  if (permitsOnly && (role === 'view' || role === 'node'))
    fault('permitsOnly', `does not fit the role ${role}: give operate or define`);
});

const originSchema = z.string({ error: ({ input }) => `${show(input)} is not text` }).refine(isOrigin, {
  error: ({ input }) => `${show(urlText(input as string))} is not an origin such as "https://ops.example.com"`,
});

const hostSchema = z
  .string({ error: ({ input }) => `${show(input)} is not text` })
  .regex(/^[\w-]+(\.[\w-]+)*$/, { error: ({ input }) => `${show(input)} is not a host name such as "dev.local"` })
  .toLowerCase();

const logsUrlSchema = z
  .string({ error: ({ input }) => `${show(input)} is not text` })
  .max(2000, { error: 'is longer than 2000 characters' })
  .superRefine((template, context) => {
    const fault = logsUrlFault(template);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });

const settingsSchema = onlyFields({
  path: z
    .string({ error: ({ input }) => `${show(input)} is not text` })
    .transform((path) => path.replace(/^\/+|\/+$/g, ''))
    .refine((path) => PATH.test(path) && !/(^|\/)\.\.?(\/|$)/.test(path), {
      error: ({ input }) => `${show(input)} is not a path such as "gatekeeper" or "internal/gatekeeper"`,
    })
    .default(DEFAULT_PATH),
  tokens: z.array(tokenSchema, { error: 'is not a list of { token, name, role }' }).default([]),
  guards: z
    .array(z.custom<Type<CanActivate> | CanActivate>(isGuard, 'is neither a guard nor a class of one'), {
      error: 'is not a list of guards',
    })
    .default([]),
  decorators: z.array(decoratorSchema, { error: 'is not a list of decorators' }).default([]),
  readOnly: switchSchema,
  insecure: switchSchema,
  allowedHosts: z.array(hostSchema, { error: 'is not a list of host names' }).default([]),
  trustProxy: switchSchema,
  environment: nameSchema.optional(),
  logsUrl: logsUrlSchema.optional(),
  allowedOrigins: z.array(originSchema, { error: 'is not a list of origins' }).default([]),
}).superRefine(({ tokens, guards, insecure }, context) => {
  const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  const isProtected = tokens.length + guards.length > 0;
  if (!isProtected && !insecure) {
    fault(
      'tokens',
      'are missing, and there are no guards: every client could change what runs. Give tokens: [{ token, name, role }], ' +
        'or guards: [...] of your application, or insecure: true if no other machine reaches the port',
    );
  }
  if (isProtected && insecure) fault('insecure', 'true contradicts tokens and guards: leave it out');
  if (new Set(tokens.map(({ token }) => token)).size < tokens.length) {
    fault('tokens', 'the same token is given twice: each owner needs a token of its own');
  }
});

/** The options with defaults filled in. */
export type ConsoleSettings = z.output<typeof settingsSchema>;

/**
 * Checks all options of the console at once.
 *
 * @param given the static options, then those of a factory, which override them
 * @throws InvalidOptionsError that lists every fault, but contains no secret
 */
export function parseConsoleOptions(...given: readonly (ConsoleOptions | undefined)[]): ConsoleSettings {
  const parsed = settingsSchema.safeParse(Object.assign({}, ...given));
  if (parsed.success) return parsed.data;
  throw new InvalidOptionsError("GatekeeperModule's option console", faultsOf(parsed.error));
}

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}
