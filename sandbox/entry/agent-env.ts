import { agentNetworkEnv } from '../../core/sandbox/agent-network.ts';
import type { Paths } from './constants.ts';

/**
 * The agent's environment: defaults, then the run's own variables, then the platform's overrides.
 */
export function agentEnv(own: Record<string, string>, paths: Paths): Record<string, string> {
  return { ...defaults(paths), ...own, ...overrides(paths) };
}

function defaults({ home }: Paths): Record<string, string> {
  return {
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    USER: 'agent',
    LOGNAME: 'agent',
    GIT_TERMINAL_PROMPT: '0',
    NPM_CONFIG_PREFIX: `${home}/.local`,
    NODE_USE_ENV_PROXY: '1',
  };
}

function overrides({ home, configDir, proxyPort }: Paths): Record<string, string> {
  return {
    HOME: home,
    PATH: `${home}/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    TMPDIR: '/tmp',
    ...agentNetworkEnv(proxyPort),
    CLAUDE_CONFIG_DIR: configDir,
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
}
