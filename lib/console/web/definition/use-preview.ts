import { useEffect, useState } from 'preact/hooks';
import type { Preview } from '../api/answers.js';
import { messageOf } from '../api/api-error.js';
import { call } from '../api/call.js';
import { faultsAt, faultsIn } from '../forms/faults.js';
import { type DefinitionInput, inputToDefinition } from './definition-input.js';

/** ms after the last keystroke until the node is asked. */
const QUIET = 250;

interface PreviewOptions {
  readonly name: string;
  readonly input: DefinitionInput;
  /** The error of a request that the node refused, if there was one. */
  readonly refusal: unknown;
  /** Whether the input is to be checked. Default true. */
  readonly isOn?: boolean;
}

export interface LivePreview {
  readonly nodes: Preview['nodes'] | undefined;
  /** Faults of one field, without its name. */
  readonly faultsOf: (field: string) => readonly string[];
  readonly hasFaults: boolean;
  /** Why there is no preview; undefined if there is one. */
  readonly problem: string | undefined;
}

/** Lets a node check a definition while the user writes it. Returns its faults, and the nodes that it would match. */
export function usePreview({ name, input, refusal, isOn = true }: PreviewOptions): LivePreview {
  const [preview, setPreview] = useState<Preview>();
  const [problem, setProblem] = useState<string>();
  const body = JSON.stringify({ name, ...inputToDefinition(input) });
  useEffect(() => {
    if (!isOn) return undefined;
    const controller = new AbortController();
    const ask = () => call('preview', { body: JSON.parse(body) }, { signal: controller.signal });
    const settle = (next: Preview | undefined, fault?: string) => {
      if (controller.signal.aborted) return;
      setPreview(next);
      setProblem(fault);
    };
    const timer = setTimeout(
      () => void ask().then(settle, (error: unknown) => settle(undefined, messageOf(error))),
      QUIET,
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [body, isOn]);
  const faults = (isOn && preview?.faults) || [];
  return {
    nodes: preview?.nodes,
    // The faults of a refusal are needed only until the preview has found the same faults.
    faultsOf: (field) => faultsAt(field, faults.length > 0 ? faults : faultsIn(refusal)),
    hasFaults: faults.length > 0,
    problem,
  };
}
