import type { Logger } from 'pino';
import { agentCommand } from '../../../core/agent/agent-command.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { ControlHandlers } from '../../egress/control-api.ts';
import type { SandboxDeps } from '../deps.ts';
import type { SandboxFolders } from '../sandbox-paths.ts';
import { transcriptsOf } from './save-session.ts';
import { hasConversation, transcriptName } from './transcript.ts';

/**
 * A session keeps its configuration. Each sandbox can request it until it acknowledges it. The acknowledged
 * version is recorded. A restarted process does not know it and records version 0, so that a change of the
 * configuration is never missed.
 */
export function sessionConfigEndpoint(
  deps: Pick<SandboxDeps, 'sessions' | 'flows'>,
  { ref, plan, folders }: { ref: SandboxRef; plan: SandboxPlan; folders: SandboxFolders },
  logger: Pick<Logger, 'debug'>,
): Pick<ControlHandlers, 'config' | 'acknowledge'> {
  const { runId, generation } = ref;
  const { run, flow, outputSchema } = plan;
  const unknownVersion = 0;
  let deliveredVersion = unknownVersion;
  let isConsumed = false;
  return {
    async config() {
      const stored = isConsumed ? null : await deps.sessions.readConfig(runId, generation);
      isConsumed ||= stored === null;
      if (stored === null) return null;
      deliveredVersion = stored.version;
      logger.debug('config_fetched');
      const { env, mcpServers } = await deps.flows.readSecrets(flow.flowId);
      const { instructions, disallowedTools } = flow;
      const { partialMessages, model, maxTurns, maxBudgetUsd } = run;
      const resume = await hasConversation(transcriptsOf(folders), transcriptName(runId));
      return agentCommand({
        flow: { instructions, disallowedTools, env, mcpServers },
        config: stored.config,
        run: { partialMessages, model, maxTurns, maxBudgetUsd, outputSchema },
        conversation: { id: runId, resume },
      });
    },
    async acknowledge() {
      if (isConsumed) return;
      await deps.sessions.acknowledgeConfig(runId, generation, deliveredVersion);
      isConsumed = true;
      logger.debug('config_acknowledged');
    },
  };
}
