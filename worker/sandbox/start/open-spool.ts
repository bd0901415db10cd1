import type { PreparedSandbox } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import { createInteractionAnswers } from '../input/interaction-answers.ts';
import { createTurnTracker } from '../input/turn-tracker.ts';
import { openSpoolFile } from '../output/spool-file.ts';
import { createSessionContext } from '../session/session-context.ts';
import type { Attachment } from './attach.ts';

/**
 * Opens the output before the agent writes its first line, and restores what is known of the agent
 * from the log. Requires the lease.
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
  const { agentState, byteOffset } = lease.position;
  const turns = createTurnTracker({ agentState, hasSpoken: byteOffset > 0 });
  const { interactions } = deps;
  const answers = createInteractionAnswers({ ...ref, input: socket.input, interactions });
  const { run, flow } = plan;
  const opened = { ref, run, flow, folders, containerId, socket, lease, lost, spool };
  return { ...opened, turns, session, answers, logger };
}
