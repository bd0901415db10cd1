import type { Logger } from 'pino';
import { agentCommand } from '../../../core/agent/agent-command.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { Flow } from '../../../core/flows/flow.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { ControlHandlers } from '../../egress/control-api.ts';
import type { SandboxDeps } from '../deps.ts';

interface ConfiguredRun {
  run: Pick<Run, 'runId' | 'partialMessages' | 'model' | 'maxTurns' | 'maxBudgetUsd'>;
  flow: Pick<Flow, 'flowId' | 'instructions' | 'disallowedTools'>;
  outputSchema: string | null;
}

/**
 * Reads the configuration for each request, so this process keeps no secrets. Once it is deleted, it is not
 * read again: any process in the sandbox can send requests, and they must not load the database.
 */
export function runConfigEndpoint(
  { configs, flows }: Pick<SandboxDeps, 'configs' | 'flows'>,
  { run, flow, outputSchema }: ConfiguredRun,
  logger: Pick<Logger, 'debug'>,
): Pick<ControlHandlers, 'config' | 'acknowledge'> {
  let isConsumed = false;
  return {
    async config() {
      const config = isConsumed ? null : await configs.read(run.runId);
      isConsumed ||= config === null;
      if (config === null) return null;
      logger.debug('config_fetched');
      failpoint('config.read');
      const { env, mcpServers } = await flows.readSecrets(flow.flowId);
      const { instructions, disallowedTools } = flow;
      const { partialMessages, model, maxTurns, maxBudgetUsd } = run;
      return agentCommand({
        flow: { instructions, disallowedTools, env, mcpServers },
        config,
        run: { partialMessages, model, maxTurns, maxBudgetUsd, outputSchema },
        conversation: { id: run.runId, resume: false },
      });
    },
    async acknowledge() {
      if (isConsumed) return;
      await configs.acknowledge(run.runId);
      isConsumed = true;
      failpoint('config.acknowledged');
      logger.debug('config_acknowledged');
    },
  };
}
