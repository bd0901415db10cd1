import type { SandboxDeps } from '../deps.ts';

/**
 * Whether the host's model may answer a run's agent. The operator's key always may. Before the
 * first answer of the offline model the run is marked, so that its record says that the text is
 * made up.
 */
export function hostModelAccess(
  { hostModel, hostId, runs }: Pick<SandboxDeps, 'hostModel' | 'hostId' | 'runs'>,
  runId: string,
): () => Promise<boolean> {
  let isAllowed = hostModel === 'key';
  return async () => {
    isAllowed ||= await runs.claimOfflineModel(runId, hostId);
    return isAllowed;
  };
}
