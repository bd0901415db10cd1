import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import type { SandboxSpec } from './container/sandbox-spec.ts';

/** These labels alone identify Flowrun's containers. */
export const labelNames = {
  instance: 'frs.instance',
  run: 'frs.run',
  project: 'frs.project',
  generation: 'frs.gen',
  host: 'frs.host',
  deadline: 'frs.deadline',
  /** On runtime probes, instead of the other labels. */
  probe: 'frs.trial',
} as const;

export function containerName(instance: string, spec: SandboxSpec): string {
  return sandboxName({ instance, ...spec });
}

/** Must all match before an existing container is adopted. */
export function identityLabels(instance: string, spec: SandboxSpec): Record<string, string> {
  return {
    [labelNames.instance]: instance,
    [labelNames.run]: spec.runId,
    [labelNames.project]: spec.projectId,
    [labelNames.generation]: String(spec.generation),
    [labelNames.host]: spec.hostId,
  };
}

/** The names of the labels that differ. */
export function foreignLabels(
  expected: Record<string, string>,
  actual: Record<string, string>,
): string[] {
  return Object.keys(expected).filter((name) => actual[name] !== expected[name]);
}
