import { isIPv6 } from 'node:net';

/**
 * The network by which an address is counted. IPv6 counts by /64 networks, because one host may have all addresses of
 * one. IPv4 addresses (also those written as IPv6) and texts that are no address stay as they are.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::')) return address;
  const [front = [], back] = address.split('::').map((part) => part.split(':'));
  const zeros = back === undefined ? 0 : 8 - front.length - back.length;
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...(back ?? [])].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
