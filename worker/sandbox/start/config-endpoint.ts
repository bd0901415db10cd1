import type { Logger } from 'pino';
import { agentCommand } from '../../../core/agent/agent-command.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { Flow } from '../../../core/flows/flow.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { RunConfig } from '../../../core/runs/run-config.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { ControlHandlers } from '../../egress/control-api.ts';
import type { SandboxDeps } from '../deps.ts';
import type { SandboxFolders } from '../sandbox-paths.ts';
import { transcriptsOf } from '../session/save-session.ts';
import { hasConversation, transcriptName } from '../session/transcript.ts';

type ConfigEndpoint = Pick<ControlHandlers, 'config' | 'acknowledge'>;

interface ConfiguredRun {
  run: Pick<Run, 'partialMessages' | 'model' | 'maxTurns'>;
  flow: Pick<Flow, 'flowId' | 'instructions' | 'disallowedTools' | 'network' | 'childRuns'>;
  outputSchema: string | null;
  /** Maximum length of one answer; null: the agent's default. */
  answerTokensMax: number | null;
}

interface ConfigSource {
  /** Null once it was acknowledged. */
  read(): Promise<RunConfig | null>;
  /** False if a later sandbox has superseded this one. */
  acknowledge(): Promise<boolean>;
  conversation(): Promise<{ id: string; resume: boolean }>;
  logger: Pick<Logger, 'debug'>;
}

/** A plain run's configuration is deleted when it is acknowledged. */
export function runConfigEndpoint(
  { configs, flows }: Pick<SandboxDeps, 'configs' | 'flows'>,
  { ref, plan }: { ref: SandboxRef; plan: ConfiguredRun },
  logger: Pick<Logger, 'debug'>,
): ConfigEndpoint {
  return configEndpoint({ flows }, plan, {
    read: () => configs.read(ref),
    acknowledge: () => configs.acknowledge(ref),
    conversation: async () => ({ id: ref.runId, resume: false }),
    logger,
  });
}

/**
 * A session keeps its configuration. Each sandbox can request it until it acknowledges it. The
 * acknowledged version is recorded. A restarted process does not know it and records version 0, so
 * that a change of the configuration is never missed.
 */
export function sessionConfigEndpoint(
  { sessions, flows }: Pick<SandboxDeps, 'sessions' | 'flows'>,
  { ref, plan, folders }: { ref: SandboxRef; plan: ConfiguredRun; folders: SandboxFolders },
  logger: Pick<Logger, 'debug'>,
): ConfigEndpoint {
  const { runId, generation } = ref;
  const unknownVersion = 0;
  let deliveredVersion = unknownVersion;
  return configEndpoint({ flows }, plan, {
    async read() {
      const stored = await sessions.readConfig(runId, generation);
      if (stored === null) return null;
      deliveredVersion = stored.version;
      return stored.config;
    },
    acknowledge: () => sessions.acknowledgeConfig(runId, generation, deliveredVersion),
    async conversation() {
      const resume = await hasConversation(transcriptsOf(folders), transcriptName(runId));
      return { id: runId, resume };
    },
    logger,
  });
}

/**
 * Reads the configuration for each request, so this process keeps no secrets. Once it is
 * acknowledged, it is not read again: every process in the sandbox can send requests, and they must
 * not load the database. The first acknowledgement decides whether this sandbox's agent starts;
 * later ones return the same.
 */
function configEndpoint(
  { flows }: Pick<SandboxDeps, 'flows'>,
  { run, flow, outputSchema, answerTokensMax }: ConfiguredRun,
  { logger, ...source }: ConfigSource,
): ConfigEndpoint {
  let isConsumed = false;
  let isAccepted: boolean | null = null;
  return {
    async config() {
      const config = isConsumed ? null : await source.read();
      isConsumed ||= config === null;
      if (config === null) return null;
      logger.debug('config_fetched');
      failpoint('config.read');
      const { env, mcpServers } = await flows.readSecrets(flow.flowId);
      const { instructions, disallowedTools, network, childRuns } = flow;
      const { partialMessages, model, maxTurns } = run;
      return agentCommand({
        flow: {
          ...{ instructions, disallowedTools, networkPolicy: network.policy, env, mcpServers },
          startsRuns: childRuns !== null,
        },
        config,
        run: { partialMessages, model, maxTurns, outputSchema, answerTokensMax },
        conversation: await source.conversation(),
      });
    },
    async acknowledge() {
      if (isAccepted !== null) return isAccepted;
      isAccepted = await source.acknowledge();
      isConsumed = true;
      failpoint('config.acknowledged');
      logger.debug({ isAccepted }, 'config_acknowledged');
      return isAccepted;
    },
  };
}
