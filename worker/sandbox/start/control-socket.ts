import type { Logger } from 'pino';
import { failpoint } from '../../../core/failpoint.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { Denial } from '../../egress/connect-proxy.ts';
import type { RunEgress } from '../../egress/run-listener.ts';
import type { SupervisorDeps } from '../deps.ts';
import { promptLine } from '../input/agent-input.ts';
import { type AgentInputQueue, createInputQueue } from '../input/input-queue.ts';
import type { SandboxFolders } from '../sandbox-paths.ts';
import { sessionConfigEndpoint } from '../session/session-config.ts';
import { ensureEgressPolicyFile } from './egress-policy-file.ts';
import { projectModelSource } from './project-model.ts';
import { runConfigEndpoint } from './run-config-endpoint.ts';

export interface ControlSocket {
  input: AgentInputQueue;
  egress: RunEgress;
  /** Where the sandbox wanted to go and was not let, with how often. */
  refusals(): (Denial & { count: number })[];
}

/** Opens the run's socket: its configuration, its messages, its way out. */
export async function openControlSocket(
  deps: SupervisorDeps,
  sandbox: { ref: SandboxRef; plan: SandboxPlan; folders: SandboxFolders; logger: Logger },
  onExitHint: () => void,
): Promise<ControlSocket> {
  const { ref, plan, folders, logger } = sandbox;
  const input = createInputQueue(firstLine(ref, plan));
  const refusals = new Map<string, Denial & { count: number }>();
  const egress = await deps.egress.listen(folders.socketFile, {
    logger,
    policy: await ensureEgressPolicyFile(folders.root, plan),
    ...(plan.session === null
      ? runConfigEndpoint(deps, plan, logger)
      : sessionConfigEndpoint(deps, sandbox, logger)),
    projectModel: projectModelSource(deps, plan.run.projectId),
    nextMessage: logFirstDelivery(input, (index) => logger.debug({ index }, 'message_delivered')),
    exited: onExitHint,
    onDenied: (refusal) => void refusals.set(`${refusal.host}:${refusal.port}`, refusal),
  });
  return { input, egress, refusals: () => [...refusals.values()] };
}

/** The messages of a session come one by one, when their turns do. */
function firstLine(ref: SandboxRef, { run, session }: SandboxPlan): string | null {
  return session === null ? promptLine({ ...ref, prompt: run.prompt }) : null;
}

/** Told once of each message, however often something in there asks for it. */
function logFirstDelivery(
  input: AgentInputQueue,
  onFirst: (index: number) => void,
): AgentInputQueue['next'] {
  let delivered = 0;
  return async (after, signal) => {
    const next = await input.next(after, signal);
    if (next.kind === 'message' && next.index > delivered) {
      delivered = next.index;
      failpoint('prompt.delivered');
      onFirst(delivered);
    }
    return next;
  };
}
