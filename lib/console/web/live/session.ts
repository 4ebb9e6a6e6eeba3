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

/** Key of the last sign-in or sign-out in this browser. With the path, because one host may have several consoles. */
const LAST_CHANGE = `gatekeeper-sign-in ${apiBase.pathname}`;
/** Number of this page's changes of the sign-in: an answer that another one has overtaken counts for nothing. */
let changes = 0;
/** The value of {@link LAST_CHANGE} that this page knows. */
let known = lastChange();

/**
 * Loads the user's name and role. The browser has the session of a sign-in in a cookie, which all its tabs share and no script
 * can read. There may be none, because the application's own guards may be enough.
 */
export async function resumeSession(): Promise<void> {
  const change = ++changes;
  try {
    const session = await ownSession();
    if (change === changes) enter(session);
  } catch (error) {
    if (change !== changes) return;
    const isRefused = error instanceof ApiError && error.status === 401;
    if (isRefused) leave();
    // A signed-in page shows by itself that no node answers.
    else if (signIn.value.state !== 'in') leave(messageOf(error), true);
  }
}

/**
 * Signs in all tabs of this console in this browser.
 *
 * @throws ApiError if the token is not valid, or no node answers; Error if the browser keeps no session
 */
export async function signInWith(token: string): Promise<void> {
  const change = ++changes;
  await call('signIn', { body: {} }, { token, isSignIn: true });
  const session = await ownSession().catch(explained);
  tellOtherTabs('in');
  if (change === changes) enter(session);
}

/** Signs out all tabs of this console in this browser. @throws ApiError if no node answers: then the session is still there */
export async function signOut(): Promise<void> {
  await call('signOut', {}, { isSignIn: true });
  tellOtherTabs('out');
  leave();
}

/** Follows sign-ins and sign-outs in other tabs, also those that happened while the browser had put this page aside. */
export function followOtherTabs(): void {
  addEventListener('storage', ({ key }) => key === LAST_CHANGE && follow());
  addEventListener('pageshow', ({ persisted }) => persisted && follow(true));
}

function follow(wasAway = false): void {
  if (lastChange() === known) return;
  known = lastChange();
  const wasIn = signIn.value.state === 'in';
  if (known.endsWith(' out')) return leave(wasIn ? 'You signed out in another tab.' : undefined);
  // This page may still show the data of another user.
  if (wasAway && wasIn) signIn.value = { state: 'asking' };
  void resumeSession();
}

/** Shows the sign-in. @param message why; shown above it. @param mayResume whether another try may find the session */
export function leave(message?: string, mayResume = false): void {
  changes++;
  forgetSamples();
  signIn.value = { state: 'out', mayResume, ...(message !== undefined && { message }) };
}

/** Shows the console, from the beginning if it was shown to another user. */
function enter(session: SessionAnswer): void {
  if (signIn.value.state === 'in' && userOf(session) !== userOf(signIn.value.session)) forgetSamples();
  signIn.value = { state: 'in', session };
}

/** What a user may see and do, as a text. */
export function userOf({ user, role, names = '', permitsOnly = false }: SessionAnswer): string {
  return JSON.stringify([user, role, names, permitsOnly]);
}

function ownSession(): Promise<SessionAnswer> {
  return call('session', {}, { isSignIn: true });
}

/** Says why a session that a node gave a moment ago does not count. */
function explained(error: unknown): never {
  if (!(error instanceof ApiError) || error.status !== 401) throw error;
  throw new Error(
    'This browser keeps no session. Allow cookies for this host, or delete its cookies “gatekeeper-session”.',
  );
}

function lastChange(): string {
  return localStorage.getItem(LAST_CHANGE) ?? '';
}

/** The browser tells other tabs of a change in the storage that they share. */
function tellOtherTabs(kind: 'in' | 'out'): void {
  known = `${Number.parseInt(lastChange() || '0', 10) + 1} ${kind}`;
  localStorage.setItem(LAST_CHANGE, known);
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
