// How a process takes ownership of a sandbox, for a start and for an adoption alike. The socket is
// opened first, so that the agent's retries are answered. Then the lease is taken. The spool is
// opened last. If a later step fails, release() closes what was opened.

import type { Logger } from 'pino';
import { failpoint } from '../../../core/failpoint.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { PreparedSandbox } from '../context.ts';
import { boundsOf, type SandboxDeps } from '../deps.ts';
import { createInteractionAnswers } from '../input/interaction-answers.ts';
import { createTurnTracker } from '../input/turn-tracker.ts';
import { type RenewedLease, takeSandboxLease } from '../output/lease.ts';
import { openSpoolFile, type SpoolFile } from '../output/spool-file.ts';
import { foldersOf, makeFolders, type SandboxFolders } from '../sandbox-paths.ts';
import { createSessionContext } from '../session/session-context.ts';
import { type ControlSocket, openControlSocket } from './control-socket.ts';

export interface Attachment {
  ref: SandboxRef;
  plan: SandboxPlan;
  folders: SandboxFolders;
  socket: ControlSocket;
  lease: RenewedLease;
  /** Aborted when the lease is lost. */
  lost: AbortSignal;
  /** Null until openSpool. */
  spool: SpoolFile | null;
  /** Each line names the run and the request that created it. */
  logger: Logger;
}

/** Null if another host owns the run or a later sandbox of it. */
export async function attach(
  deps: SandboxDeps,
  ref: SandboxRef,
  plan: SandboxPlan,
): Promise<Attachment | null> {
  const folders = foldersOf(deps.dataDir, ref);
  const { projectId, requestId } = plan.run;
  const logger = deps.logger.child({ runId: ref.runId, projectId, requestId });
  const lost = new AbortController();
  await makeFolders(folders, () => deps.projectQuotas.assign(folders, boundsOf(deps)));
  const socket = await openControlSocket(deps, { ref, plan, folders, logger });
  failpoint('start.listening');
  let lease: RenewedLease | null = null;
  try {
    lease = await takeSandboxLease(deps, { ref, logger }, () => lost.abort());
  } finally {
    if (lease === null) await socket.close();
  }
  if (lease === null) return null;
  failpoint('start.leased');
  return { ref, plan, folders, socket, lease, lost: lost.signal, spool: null, logger };
}

/**
 * Opens the output before the agent writes its first line, and restores the agent's state from the
 * log. Requires the lease.
 */
export async function openSpool(
  deps: SandboxDeps,
  attachment: Attachment,
  containerId: string | null,
): Promise<PreparedSandbox> {
  const { ref, plan, folders, socket, lease, lost, logger } = attachment;
  const spool = await openSpoolFile(folders.spoolFile);
  attachment.spool = spool;
  const session = await createSessionContext(deps, ref, plan.session);
  const current = session?.turns.current();
  if (current) socket.meter.beginTurn(current.messageId);
  const { agentState, byteOffset } = lease.position;
  const turns = createTurnTracker({ agentState, hasSpoken: byteOffset > 0 });
  const { interactions } = deps;
  const answers = createInteractionAnswers({ ...ref, input: socket.input, interactions });
  const { run, flow } = plan;
  const opened = { ref, run, flow, folders, containerId, socket, lease, lost, spool };
  return { ...opened, turns, session, answers, logger };
}

export async function release({ lease, socket, spool }: Attachment): Promise<void> {
  lease.release();
  await socket.close();
  await spool?.close();
}
