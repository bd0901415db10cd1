import type { SandboxConfig } from '../../core/sandbox/sandbox-config.ts';
import type { HostClient } from './host-client.ts';

/**
 * Fetches the run's configuration and acknowledges it, so that the host deletes it before the agent
 * starts. Null if the configuration was fetched before, or if a sandbox on another host runs the
 * agent.
 */
export async function fetchConfig(
  host: HostClient,
  signal: AbortSignal,
): Promise<SandboxConfig | null> {
  const response = await host.requestWithRetry({ method: 'GET', path: '/control/config' }, signal);
  if (response.status === 410) return null;
  const config = JSON.parse(response.body) as SandboxConfig; // the host writes it from the same type
  const call = { method: 'POST', path: '/control/config/ack' } as const;
  const acknowledged = await host.requestWithRetry(call, signal);
  return acknowledged.status === 410 ? null : config;
}
