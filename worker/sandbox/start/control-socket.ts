import type { Logger } from 'pino';
import { dayOf } from '../../../core/agent/usage.ts';
import { failpoint } from '../../../core/failpoint.ts';
import { mayAnswerOffline } from '../../../core/hosts/host-model.ts';
import { answerTokensMax } from '../../../core/metering/budget-plan.ts';
import { serviceServerName } from '../../../core/runs/child-runs.ts';
import { settlesWithin } from '../../../lib/async/timeout.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { Denial } from '../../egress/connect-proxy.ts';
import { openRunMeter, type RunMeter } from '../../metering/run-meter.ts';
import type { SandboxDeps } from '../deps.ts';
import { type AgentInputQueue, createInputQueue, promptMessage } from '../input/input-queue.ts';
import type { SandboxFolders } from '../sandbox-paths.ts';
import { runConfigEndpoint, sessionConfigEndpoint } from './config-endpoint.ts';
import { ensureEgressPolicyFile } from './egress-policy-file.ts';
import { hostModelAccess } from './host-model-access.ts';
import { projectModelSource } from './project-model.ts';

export interface ControlSocket {
  input: AgentInputQueue;
  meter: SandboxMeter;
  /** Denied connections, with their number per target. */
  denials(): (Denial & { count: number })[];
  /** The listener is called when the entry program reports its exit. */
  onExitHint(listener: () => void): void;
  /**
   * Closes all connections. After a short wait, calls that are not in the ledger are left in the
   * journal.
   */
  close(): Promise<void>;
}

/** The meter of the agent's model calls. */
interface SandboxMeter extends Pick<RunMeter, 'beginTurn' | 'written' | 'exceeded'> {
  /** Closes all connections. Resolves when the ledger has every call. */
  finish(): Promise<void>;
}

const settlesWithinMs = 5_000;

/** Serves the run's configuration, messages and egress on its socket. */
export async function openControlSocket(
  deps: SandboxDeps,
  sandbox: { ref: SandboxRef; plan: SandboxPlan; folders: SandboxFolders; logger: Logger },
): Promise<ControlSocket> {
  const { ref, plan, folders, logger } = sandbox;
  const input = createInputQueue(firstMessage(ref, plan), (index) => {
    failpoint('prompt.delivered');
    logger.debug({ index }, 'message_delivered');
  });
  const denials = new Map<string, Denial & { count: number }>();
  let onExitHint = (): void => undefined;
  const policy = await ensureEgressPolicyFile(folders.root, plan);
  const configured = { ...plan, answerTokensMax: answerBound(deps, plan) };
  const meter = await openRunMeter(deps, { ...meteredRunOf(plan), root: folders.root, logger });
  const listening = deps.egress.listen(folders.socketFile, {
    logger,
    policy,
    agentToken: mayUseService(plan) ? deps.createAgentToken(ref) : null,
    ...(plan.session === null
      ? runConfigEndpoint(deps, { ref, plan: configured }, logger)
      : sessionConfigEndpoint(deps, { ref, folders, plan: configured }, logger)),
    projectModel: projectModelSource(deps, plan.run.projectId),
    meter,
    mayUseHostModel: hostModelAccess(deps, ref.runId),
    onModelCallRefused: deps.onModelCallRefused,
    nextMessage: input.next,
    exited: () => onExitHint(),
    onDenied: (denial) => void denials.set(`${denial.host}:${denial.port}`, denial),
  });
  const egress = await listening.catch((error: unknown) => {
    meter.close();
    throw error;
  });
  const finish = async (): Promise<void> => {
    await egress.close();
    await meter.settled();
  };
  return {
    input,
    meter: { ...meter, finish },
    denials: () => [...denials.values()],
    onExitHint(listener) {
      onExitHint = listener;
    },
    async close() {
      await settlesWithin(settlesWithinMs, finish());
      meter.close();
    },
  };
}

/**
 * Every process of the sandbox can reach the host, so a request with `mcpMode: replace` also
 * withholds the credential. The configuration of a plain run is deleted once it was delivered, but
 * the names of its servers are kept.
 */
function mayUseService({ run, flow, config, session }: SandboxPlan): boolean {
  if (flow.childRuns === null) return false;
  if (config === null && session === null) return run.mcpServerNames.includes(serviceServerName);
  return config?.mcpMode !== 'replace';
}

function answerBound(
  { modelPrices: prices, hostModel, now }: Pick<SandboxDeps, 'modelPrices' | 'hostModel' | 'now'>,
  { run: { model, maxBudgetUsd } }: SandboxPlan,
): number | null {
  return answerTokensMax({
    model,
    maxBudgetUsd,
    prices,
    day: dayOf(now()),
    mayAnswerOffline: mayAnswerOffline(hostModel),
  });
}

function meteredRunOf({ run, flow, session, reachedBudget, hasTreeBudget }: SandboxPlan) {
  const { runId, spending, model, maxTurns, maxBudgetUsd } = run;
  const limited = { model, maxTurns, maxBudgetUsd, allowedModels: flow.allowedModels };
  const budgets = { reachedBudget, hasTreeBudget };
  return { ...limited, runId, spending, ...budgets, isSession: session !== null };
}

/** A session's messages are sent one by one, each with its turn. */
const firstMessage = (ref: SandboxRef, { run, session }: SandboxPlan) =>
  session === null ? promptMessage({ ...ref, prompt: run.prompt }) : null;
