import { statSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import type { StoreTarget, Target } from '../options/target.js';

/** Mode bits for reading and writing by users who are neither the owner nor in the file's group. */
const OTHERS = 0o006;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Lists the ways in which other users could read the token or a password, one sentence each, as warnings. */
export function exposures(target: Target): string[] {
  if (target.kind !== 'rest') return hasPassword(target.address) ? passwordExposures(target) : [];
  const { url, tokenFile } = target;
  const found: string[] = [];
  if (tokenFile !== undefined && isOpenToOthers(tokenFile)) found.push(OPEN_FILE(tokenFile));
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) found.push(PLAIN_HTTP(url.host));
  return found;
}

function passwordExposures({ isOnCommandLine, file }: StoreTarget): string[] {
  if (isOnCommandLine) return [SEEN_PASSWORD];
  return file !== undefined && isOpenToOthers(file) ? [OPEN_CONTEXTS(file)] : [];
}

/** Whether the address of a store seems to have a password. An address with several hosts is no URL, so it is not parsed. */
function hasPassword(address: string): boolean {
  return /:\/\/[^/]*:[^/]*@/.test(address) || /[?&]password=/i.test(address);
}

/** Windows has no such mode bits. A pipe, such as <(pass show token), belongs only to this process. */
function isOpenToOthers(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  return process.platform !== 'win32' && file !== undefined && file.isFile() && (file.mode & OTHERS) !== 0;
}

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

const OPEN_FILE = (path: string) =>
  `other users of this machine may read or change the token file ${path}: allow only its owner, with chmod 600`;

const OPEN_CONTEXTS = (path: string) =>
  `other users of this machine may read or change ${path}, which has a password: allow only its owner, with chmod 600`;

const SEEN_PASSWORD =
  'all users of this machine can see the password of --store in the list of processes: give the address in GATEKEEPER_STORE';

const PLAIN_HTTP = (host: string) => `the token and all answers are sent to ${host} without encryption: use https://`;
