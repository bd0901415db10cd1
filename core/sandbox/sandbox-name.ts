interface SandboxIdentity {
  instance: string;
  runId: string;
  generation: number;
}

/**
 * The container's name: the same for all attempts at a generation, so that creating it is
 * idempotent.
 */
export const sandboxName = ({ instance, runId, generation }: SandboxIdentity): string =>
  `frs-${instance}-${runId}-${generation}`;
