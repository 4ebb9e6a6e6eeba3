import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a request comes from the console's own page, from no page at all, or from an allowed one. A browser tells by
 * headers that no page can forge; without this check a page elsewhere could use what the browser sends by itself
 * (cookies that a host's guard reads, or an insecure console in the reach of the browser).
 *
 * A proxy may have changed Host; what it was then stands in X-Forwarded-Host, which a foreign page can't set without
 * being asked for leave first (CORS).
 */
export function isFromHere(headers: IncomingHttpHeaders, allowedOrigins: readonly string[]): boolean {
  const { origin } = headers;
  if (origin !== undefined && allowedOrigins.includes(origin)) return true;
  if (headers['sec-fetch-site'] === 'cross-site') return false;
  if (origin === undefined) return true;
  const host = URL.canParse(origin) ? new URL(origin).host : undefined;
  return host !== undefined && host !== '' && hostsOf(headers).includes(host);
}

function hostsOf(headers: IncomingHttpHeaders): string[] {
  const forwarded = String(headers['x-forwarded-host'] ?? '').split(',');
  return [headers.host ?? '', ...forwarded].map((host) => host.trim().toLowerCase()).map(withoutUsualPort);
}

/** An Origin never has it; a Host header may. */
function withoutUsualPort(host: string): string {
  return host.replace(/:(80|443)$/, '');
}
