export interface SandboxIdentity {
  instance: string;
  runId: string;
  generation: number;
}

/** The container's name: the same for every attempt at one generation, so that spawning is safe to repeat. */
export const sandboxName = ({ instance, runId, generation }: SandboxIdentity): string =>
  `frs-${instance}-${runId}-${generation}`;
