import type { Logger } from 'pino';
import { agentCommand } from '../../../core/agent/agent-command.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { Flow } from '../../../core/flows/flow.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { RunConfig } from '../../../core/runs/run-config.ts';
import type { ControlHandlers } from '../../egress/control-api.ts';
import type { SandboxDeps } from '../deps.ts';

export type ConfigEndpoint = Pick<ControlHandlers, 'config' | 'acknowledge'>;

interface ConfiguredRun {
  run: Pick<Run, 'partialMessages' | 'model' | 'maxTurns' | 'maxBudgetUsd'>;
  flow: Pick<Flow, 'flowId' | 'instructions' | 'disallowedTools' | 'network'>;
  outputSchema: string | null;
}

interface ConfigSource {
  /** Null once it was acknowledged. */
  read(): Promise<RunConfig | null>;
  acknowledge(): Promise<void>;
  conversation(): Promise<{ id: string; resume: boolean }>;
  logger: Pick<Logger, 'debug'>;
}

/** A plain run's configuration is deleted when it is acknowledged. */
export function runConfigEndpoint(
  { configs, flows }: Pick<SandboxDeps, 'configs' | 'flows'>,
  { run: { runId, ...run }, ...plan }: ConfiguredRun & { run: Pick<Run, 'runId'> },
  logger: Pick<Logger, 'debug'>,
): ConfigEndpoint {
  return configEndpoint(
    { flows },
    { ...plan, run },
    {
      read: () => configs.read(runId),
      acknowledge: () => configs.acknowledge(runId),
      conversation: async () => ({ id: runId, resume: false }),
      logger,
    },
  );
}

/**
 * Reads the configuration for each request, so this process keeps no secrets. Once it is acknowledged, it is
 * not read again: any process in the sandbox can send requests, and they must not load the database.
 */
export function configEndpoint(
  { flows }: Pick<SandboxDeps, 'flows'>,
  { run, flow, outputSchema }: ConfiguredRun,
  { logger, ...source }: ConfigSource,
): ConfigEndpoint {
  let isConsumed = false;
  return {
    async config() {
      const config = isConsumed ? null : await source.read();
      isConsumed ||= config === null;
      if (config === null) return null;
      logger.debug('config_fetched');
      failpoint('config.read');
      const { env, mcpServers } = await flows.readSecrets(flow.flowId);
      const { instructions, disallowedTools, network } = flow;
      const { partialMessages, model, maxTurns, maxBudgetUsd } = run;
      return agentCommand({
        flow: { instructions, disallowedTools, networkPolicy: network.policy, env, mcpServers },
        config,
        run: { partialMessages, model, maxTurns, maxBudgetUsd, outputSchema },
        conversation: await source.conversation(),
      });
    },
    async acknowledge() {
      if (isConsumed) return;
      await source.acknowledge();
      isConsumed = true;
      failpoint('config.acknowledged');
      logger.debug('config_acknowledged');
    },
  };
}
