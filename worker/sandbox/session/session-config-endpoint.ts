import type { Logger } from 'pino';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps } from '../deps.ts';
import type { SandboxFolders } from '../sandbox-paths.ts';
import {
  type ConfigEndpoint,
  type ConfiguredRun,
  configEndpoint,
} from '../start/config-endpoint.ts';
import { transcriptsOf } from './save-session.ts';
import { hasConversation, transcriptName } from './transcript.ts';

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
