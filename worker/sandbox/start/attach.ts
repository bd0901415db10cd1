// How a sandbox comes into this process's ownership, be it new or left by an earlier life of this host.
// The socket first, so that the agent's retries find somebody; then the lease; then the spool,
// through one descriptor. What was opened is closed again when a later step fails.

import type { Logger } from 'pino';
import { initialAgentState } from '../../../core/agent/agent-state.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps, SupervisorDeps } from '../deps.ts';
import { createInteractionAnswers } from '../input/interaction-answers.ts';
import { createTurnTracker } from '../input/turn-tracker.ts';
import { type HeldLease, takeLease } from '../output/lease.ts';
import { openSpool, type SpoolFile } from '../output/spool-file.ts';
import { foldersOf, makeFolders } from '../sandbox-paths.ts';
import { createSessionContext } from '../session/session-part.ts';
import { type ExitWatch, missingExit, watchExit } from '../stop/exit-watch.ts';
import { type SupervisedSandbox, superviseSandbox } from '../supervised-sandbox.ts';
import { type ControlSocket, openControlSocket } from './control-socket.ts';

export interface OpenedSandbox {
  lease: HeldLease;
  /** What it says leads to the run, and to the request that asked for that. */
  logger: Logger;
  /** Opens the spool; what it returns looks after the sandbox from then on. Null: no container. */
  prepare(containerId: string | null): Promise<() => SupervisedSandbox>;
  close(): Promise<void>;
}

/** True when a run is not to be started, or has no use for a sandbox any more. */
export const hasEnded = (run: Run | null): boolean => run === null || run.endCause !== null;

/** What was started once is never started again. */
export function wasStarted({ run, session }: SandboxPlan, { generation }: SandboxRef): boolean {
  return session === null ? run.startedAt !== null : session.startedGeneration >= generation;
}

/** Null: the run is another's to look after. */
export async function openSandbox(
  deps: SandboxDeps,
  ref: SandboxRef,
  plan: SandboxPlan,
): Promise<OpenedSandbox | null> {
  const folders = foldersOf(deps.dataDir, ref);
  const { projectId, requestId } = plan.run;
  const logger = deps.logger.child({ runId: ref.runId, projectId, requestId });
  const lost = new AbortController();
  let live: SupervisedSandbox | null = null;
  let spool: SpoolFile | null = null;

  await makeFolders(folders);
  const sandbox = { ref, plan, folders, logger };
  const served = await openControlSocket(deps, sandbox, () => live?.hintExit());
  failpoint('start.listening');
  const lease = await takeRunLease({ ...deps, logger }, ref, () => lost.abort()).catch(
    closingFor(served),
  );
  if (lease === null) {
    await served.egress.close();
    return null;
  }

  failpoint('start.leased');

  async function prepare(containerId: string | null): Promise<() => SupervisedSandbox> {
    const opened = await openSpool(folders.spoolFile);
    spool = opened;
    const session = await createSessionContext(deps, ref, plan.session);
    const { agentState, byteOffset } = held.position;
    const turns = createTurnTracker({ agentState, hasSpoken: byteOffset > 0 });
    const { input } = served;
    const answers = createInteractionAnswers({ ...ref, input, interactions: deps.interactions });
    const { run, flow } = plan;
    const given = { ref, run, flow, folders, containerId, served };
    const context = { ...given, lease: held, turns, session, answers, logger };
    return () => {
      const exit = watchContainer(deps, containerId, logger);
      live = superviseSandbox(deps, { ...context, spool: opened, exit, lost: lost.signal });
      return live;
    };
  }

  const held = lease;
  return {
    lease,
    logger,
    prepare,
    async close() {
      held.release();
      await served.egress.close();
      await spool?.close();
    },
  };
}

function watchContainer(
  { sandboxes }: SupervisorDeps,
  containerId: string | null,
  logger: Logger,
): ExitWatch {
  return containerId === null ? missingExit : watchExit({ sandboxes, logger }, containerId);
}

function closingFor({ egress }: ControlSocket) {
  return async (error: unknown): Promise<never> => {
    await egress.close();
    throw error;
  };
}

/** A sandbox of a later generation has a spool of its own, an earlier one is nobody's any more. */
async function takeRunLease(
  { frames, hostId, times, logger }: SupervisorDeps,
  { runId, generation }: SandboxRef,
  onLost: () => void,
): Promise<HeldLease | null> {
  const { leaseMs } = times;
  const lease = await takeLease({ frames, owner: hostId, leaseMs, logger }, runId, onLost);
  if (lease === null || lease.position.generation === generation) return lease;
  if (!(await beginsGeneration(frames, lease, { runId, generation }))) {
    lease.release();
    return null;
  }
  const position = { ...lease.position, generation, byteOffset: 0, agentState: initialAgentState };
  return { ...lease, position };
}

/** Where nobody can say, the lease is not kept: somebody will ask for it again. */
async function beginsGeneration(
  frames: SupervisorDeps['frames'],
  { token, position, release }: HeldLease,
  { runId, generation }: SandboxRef,
): Promise<boolean> {
  if (position.generation > generation) return false;
  try {
    return await frames.beginGeneration(runId, token, generation);
  } catch (error) {
    release();
    throw error;
  }
}
