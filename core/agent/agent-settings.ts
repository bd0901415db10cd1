import { agentNetworkEnv } from '../sandbox/agent-network.ts';
import { sandboxPaths } from '../sandbox/sandbox-config.ts';

/**
 * Settings that take precedence over the agent's own settings file, which the agent can write while
 * it runs. They are merged by key, so every variable that can select another model address must be
 * listed.
 */
export function agentSettings(): string {
  return JSON.stringify({
    env: { ...agentNetworkEnv(sandboxPaths.proxyPort), ...otherProviders },
    apiKeyHelper: '',
    disableAllHooks: true,
    disableSkillShellExecution: true,
    // The preflight would query a host that the network policy does not allow.
    skipWebFetchPreflight: true,
  });
}

/**
 * Empty values: the agent cannot bypass the gateway by calling the model through another provider.
 */
const otherProviders = {
  CLAUDE_CODE_USE_BEDROCK: '',
  CLAUDE_CODE_USE_VERTEX: '',
  CLAUDE_CODE_USE_FOUNDRY: '',
  CLAUDE_CODE_USE_MANTLE: '',
  CLAUDE_CODE_USE_ANTHROPIC_AWS: '',
  CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD: '',
};
