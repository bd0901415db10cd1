import type { SandboxRef } from '../../workflows/shared/activities.ts';
import type { LiveSandbox } from './supervised-sandbox.ts';

/** The sandboxes that this process looks after, and those whose end it still knows; one for each run. */
export interface HeldSandboxes {
  /** The object of this very sandbox, unless it has been let go of. */
  find(ref: SandboxRef): LiveSandbox | null;
  /** Whatever the run has, of any generation. */
  ofRun(runId: string): LiveSandbox | null;
  hold(sandbox: LiveSandbox): LiveSandbox;
  /** Forgets what the run has, and waits until it holds nothing more: two cannot share a socket. */
  release(runId: string): Promise<void>;
  all(): LiveSandbox[];
}

export function createHeldSandboxes(): HeldSandboxes {
  const held = new Map<string, LiveSandbox>();
  const ofRun = (runId: string): LiveSandbox | null => held.get(runId) ?? null;
  return {
    ofRun,
    find({ runId, generation }) {
      const sandbox = ofRun(runId);
      if (sandbox === null || sandbox.isReleased()) return null;
      return sandbox.ref.generation === generation ? sandbox : null;
    },
    hold(sandbox) {
      held.set(sandbox.ref.runId, sandbox);
      return sandbox;
    },
    async release(runId) {
      await ofRun(runId)?.close();
      held.delete(runId);
    },
    all: () => [...held.values()],
  };
}
