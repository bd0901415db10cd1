import type { SandboxConfig } from '../../core/sandbox/sandbox.ts';
import type { Host } from './host-client.ts';

/**
 * Fetches the run's configuration and acknowledges it before anything of the agent runs, so that the
 * host has deleted it by then. Null: somebody has taken it before.
 */
export async function fetchConfig(host: Host, signal: AbortSignal): Promise<SandboxConfig | null> {
  const answer = await host.requestWithRetry({ method: 'GET', path: '/control/config' }, signal);
  if (answer.status === 410) return null;
  const config = JSON.parse(answer.body) as SandboxConfig; // the host writes it from the same type
  await host.requestWithRetry({ method: 'POST', path: '/control/config/ack' }, signal);
  return config;
}
