import type { SandboxRef } from '../../workflows/shared/activities.ts';
import type { SupervisedSandbox } from './supervised-sandbox.ts';

/**
 * The sandboxes that this process supervises, and ended ones until they are removed. One per run.
 */
export interface SandboxRegistry {
  /** The sandbox of this generation. Null after a release. */
  find(ref: SandboxRef): SupervisedSandbox | null;
  /** The run's sandbox of any generation. */
  findByRun(runId: string): SupervisedSandbox | null;
  add(sandbox: SupervisedSandbox): SupervisedSandbox;
  /** Forgets the run's sandbox once it is closed: two sandboxes cannot share a socket. */
  detach(runId: string): Promise<void>;
  all(): SupervisedSandbox[];
  /** The sandboxes that have neither ended nor been released. */
  live(): SandboxRef[];
}

export function createSandboxRegistry(): SandboxRegistry {
  const byRun = new Map<string, SupervisedSandbox>();
  const findByRun = (runId: string): SupervisedSandbox | null => byRun.get(runId) ?? null;
  const all = (): SupervisedSandbox[] => [...byRun.values()];
  return {
    findByRun,
    find({ runId, generation }) {
      const sandbox = findByRun(runId);
      if (sandbox === null || sandbox.isReleased()) return null;
      return sandbox.ref.generation === generation ? sandbox : null;
    },
    add(sandbox) {
      byRun.set(sandbox.ref.runId, sandbox);
      return sandbox;
    },
    async detach(runId) {
      await findByRun(runId)?.close();
      byRun.delete(runId);
    },
    all,
    live: () => all().flatMap((sandbox) => (sandbox.isLive() ? [sandbox.ref] : [])),
  };
}
