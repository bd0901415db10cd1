import type { SandboxRef } from '../../workflows/shared/activities.ts';
import type { SupervisedSandbox } from './supervised-sandbox.ts';

/** The sandboxes that this process looks after, and those whose end it still knows; one for each run. */
export interface SandboxRegistry {
  /** The object of this very sandbox, unless it has been let go of. */
  find(ref: SandboxRef): SupervisedSandbox | null;
  /** Whatever the run has, of any generation. */
  findByRun(runId: string): SupervisedSandbox | null;
  add(sandbox: SupervisedSandbox): SupervisedSandbox;
  /** Forgets what the run has, and waits until it holds nothing more: two cannot share a socket. */
  detach(runId: string): Promise<void>;
  all(): SupervisedSandbox[];
}

export function createSandboxRegistry(): SandboxRegistry {
  const byRun = new Map<string, SupervisedSandbox>();
  const findByRun = (runId: string): SupervisedSandbox | null => byRun.get(runId) ?? null;
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
    all: () => [...byRun.values()],
  };
}
