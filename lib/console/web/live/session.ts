import { signal } from '@preact/signals';
import type { Role, SessionAnswer } from '../api/answers.js';
import { ApiError, messageOf } from '../api/api-error.js';
import { call } from '../api/call.js';
import { forgetSamples } from './type-history.js';
import { signOuts, token } from '../api/token.js';
import { tokenOfOtherTab } from '../tabs/other-tabs.js';

export type SignIn =
  | { readonly state: 'asking' }
  /** Signed out; `message` says why, if there is a reason. */
  | { readonly state: 'out'; readonly message?: string }
  | { readonly state: 'in'; readonly session: SessionAnswer };

export const signIn = signal<SignIn>({ state: 'asking' });

const ROLES: readonly Role[] = ['view', 'operate', 'define', 'node'];

/**
 * Loads the user's name and role. Uses the token of this tab, or that of another open tab, or none, because the
 * application's own guards may be enough.
 */
export async function resumeSession(): Promise<void> {
  if (token.get() === undefined) await takeOverToken();
  const hadToken = token.get() !== undefined;
  try {
    signIn.value = { state: 'in', session: await call<SessionAnswer>('session', { token: token.get() ?? '' }) };
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 401;
    signIn.value = { state: 'out', ...((hadToken || !isRefused) && { message: messageOf(error) }) };
  }
}

async function takeOverToken(): Promise<void> {
  // A sign-out while the other tab answers ends this token, too.
  const since = signOuts();
  const given = await tokenOfOtherTab();
  if (given === undefined) token.forget();
  else token.keep(given, since);
}

/** Signs in with a token, and keeps it. @throws ApiError if the token is not valid, or no node answers */
export async function signInWith(value: string): Promise<void> {
  const session = await call<SessionAnswer>('session', { token: value });
  token.keep(value);
  signIn.value = { state: 'in', session };
}

/** Signs out all tabs of this console in this browser. */
export function signOut(): void {
  token.end();
  leave();
}

/** Forgets the token of this tab alone. @param message why; shown above the sign-in */
export function leave(message?: string): void {
  forgetSamples();
  token.forget();
  signIn.value = { state: 'out', ...(message !== undefined && { message }) };
}

/** Whether the user may claim tasks, and so sees their data. A read-only console shows them as well. */
export function mayClaim(): boolean {
  return signIn.value.state === 'in' && ROLES.indexOf(signIn.value.session.role) >= ROLES.indexOf('operate');
}

/** Says that this console is read-only for all users; undefined if it is not. */
export function readOnlySentence(): string | undefined {
  return signIn.value.state === 'in' && signIn.value.session.readOnly ? 'This console is read-only.' : undefined;
}

/** Returns why the user may not do something that needs this role; undefined if the user may. */
export function whyNot(needed: Role): string | undefined {
  if (signIn.value.state !== 'in') return 'You are not signed in.';
  const { role } = signIn.value.session;
  const readOnly = readOnlySentence();
  if (readOnly !== undefined) return readOnly;
  if (ROLES.indexOf(role) >= ROLES.indexOf(needed)) return undefined;
  return `This needs the role “${needed}”; yours is “${role}”.`;
}
