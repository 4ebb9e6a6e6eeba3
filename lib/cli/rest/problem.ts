import { z } from 'zod';
import { CommandFailure, EXIT } from '../options/exit-code.js';

const problemSchema = z.looseObject({ code: z.string(), detail: z.string().optional(), title: z.string().optional() });

/** A refusal of the console, from an answer of application/problem+json. */
export class RemoteProblem extends Error {
  constructor(
    /** HTTP status. */
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'RemoteProblem';
  }
}

/** Maps an answer other than 2xx to an error. @param target address of the console, for people */
export async function failureOf(response: Response, target: string): Promise<Error> {
  const { status } = response;
  const problem = problemSchema.safeParse(await response.json().catch(() => undefined));
  if (status === 401) return new RemoteProblem(status, 'unauthorized', NO_TOKEN(target));
  if (problem.success) {
    const { code, detail, title } = problem.data;
    return new RemoteProblem(status, code, detail ?? title ?? code);
  }
  if (status >= 300 && status < 400) return new CommandFailure(EXIT.failed, REDIRECTED(target, response));
  if (status === 404) return new CommandFailure(EXIT.unreachable, NO_CONSOLE(target));
  return new RemoteProblem(status, `status-${status}`, UNEXPECTED(target, status));
}

const NO_TOKEN = (target: string) =>
  `${target} needs a valid token: give one of its console with --token-file, GATEKEEPER_TOKEN or --token`;

const REDIRECTED = (target: string, { headers }: Response) =>
  `${target} redirects to ${headers.get('location') ?? 'another address'}: give the final address with --url`;

const NO_CONSOLE = (target: string) =>
  `there is no console at ${target}: give its address with its path, such as https://host/gatekeeper`;

const UNEXPECTED = (target: string, status: number) =>
  `${target} answered with status ${status} and no reason: look into its log, or into the log of the proxy in front of it`;
