import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import type { SandboxSpec } from './container/sandbox-spec.ts';

/** Everything of ours in the engine is found, and told from everything else, by these alone. */
export const labelNames = {
  instance: 'frs.instance',
  run: 'frs.run',
  project: 'frs.project',
  generation: 'frs.gen',
  host: 'frs.host',
  deadline: 'frs.deadline',
  /** In the place of the others, of what tries a runtime. */
  probe: 'frs.trial',
} as const;

export function containerName(instance: string, spec: SandboxSpec): string {
  return sandboxName({ instance, ...spec });
}

/** Whose container it is: what must be equal before an existing one is taken over. */
export function identityLabels(instance: string, spec: SandboxSpec): Record<string, string> {
  return {
    [labelNames.instance]: instance,
    [labelNames.run]: spec.runId,
    [labelNames.project]: spec.projectId,
    [labelNames.generation]: String(spec.generation),
    [labelNames.host]: spec.hostId,
  };
}

/** The names of the labels that are not as wanted. */
export function foreignLabels(
  wanted: Record<string, string>,
  found: Record<string, string>,
): string[] {
  return Object.keys(wanted).filter((name) => found[name] !== wanted[name]);
}
