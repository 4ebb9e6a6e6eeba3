import { BadRequestException, type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { PermitToken } from '../permit-token.js';

/** The header that carries it: "nightly-export/0/1792506480640"; the name is escaped, since it may have slashes. */
export const PERMIT_HEADER = 'x-permit';

export function permitHeader({ semaphore, slot, token }: PermitToken): Record<string, string> {
  return { [PERMIT_HEADER]: `${encodeURIComponent(semaphore)}/${slot}/${token}` };
}

/** The token that a request brings along. Answers 400 to one that brings none: unfenced writes don't get by. */
export const FromPermit = createParamDecorator((_data: unknown, context: ExecutionContext): PermitToken => {
  const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
  const header = headers[PERMIT_HEADER];
  const [, name, slot, token] = /^([^/]+)\/(\d+)\/(\d+)$/.exec(header ?? '') ?? [];
  if (!name) throw new BadRequestException(`${PERMIT_HEADER}: ${header ?? 'missing'}: send semaphore/slot/token`);
  return { semaphore: decodeURIComponent(name), slot: Number(slot), token: Number(token) };
});
