import { signal } from '@preact/signals';
import type { Role, SessionAnswer } from '../api/answers.js';
import { ApiError, messageOf } from '../api/api-error.js';
import { apiBase } from '../api/base.js';
import { call } from '../api/call.js';
import { forgetSamples } from './type-history.js';

export type SignIn =
  | { readonly state: 'asking' }
  /** Signed out; `message` says why, if there is a reason. `mayResume`: another try may find the session. */
  | { readonly state: 'out'; readonly message?: string; readonly mayResume: boolean }
  | { readonly state: 'in'; readonly session: SessionAnswer };

export const signIn = signal<SignIn>({ state: 'asking' });

const ROLES: readonly Role[] = ['view', 'operate', 'define', 'node'];

/** Key of the number of sign-ins and sign-outs in this browser. With the path, because one host may have several consoles. */
const CHANGES = `gatekeeper-sign-ins ${apiBase.pathname}`;

/**
 * Loads the user's name and role. The browser has the session of a sign-in in a cookie, which all its tabs share and no script
 * can read. There may be none, because the application's own guards may be enough.
 *
 * @param ended said to a user who was signed in until now
 */
export async function resumeSession(ended?: string): Promise<void> {
  const wasIn = signIn.value.state === 'in';
  try {
    signIn.value = { state: 'in', session: await call<SessionAnswer>('session', { isSignIn: true }) };
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 401;
    if (isRefused) leave(wasIn ? ended : undefined);
    // A signed-in page shows by itself that no node answers.
    else if (!wasIn) signIn.value = { state: 'out', message: messageOf(error), mayResume: true };
  }
}

/** Signs in all tabs of this console in this browser. @throws ApiError if the token is not valid, or no node answers */
export async function signInWith(token: string): Promise<void> {
  const options = { method: 'POST', body: {}, token, isSignIn: true } as const;
  signIn.value = { state: 'in', session: await call<SessionAnswer>('session', options) };
  tellOtherTabs();
}

/** Signs out all tabs of this console in this browser. @throws ApiError if no node answers: then the session is still there */
export async function signOut(): Promise<void> {
  try {
    await call('session', { method: 'DELETE', body: {}, isSignIn: true });
  } catch (error) {
    const isOver = error instanceof ApiError && error.status === 401;
    if (!isOver) throw error;
  }
  leave();
  tellOtherTabs();
}

/** Calls the listener after a sign-in or sign-out in another tab, also if this page was not active at that time. */
export function whenSignedElsewhere(listener: () => void): void {
  addEventListener('storage', ({ key }) => key === CHANGES && listener());
  addEventListener('pageshow', ({ persisted }) => persisted && listener());
}

/** The browser tells other tabs of a change in the storage that they share. */
function tellOtherTabs(): void {
  localStorage.setItem(CHANGES, String(Number(localStorage.getItem(CHANGES)) + 1));
}

/** Shows the sign-in. @param message why; shown above it */
export function leave(message?: string, mayResume = false): void {
  forgetSamples();
  signIn.value = { state: 'out', mayResume, ...(message !== undefined && { message }) };
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
