import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expandNames } from '../../../core/runs/expand-names.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import { type EgressPolicy, hostsOfUrls } from '../../egress/policy.ts';

/**
 * Stores the run's egress policy on disk. The run's MCP servers are part of a configuration that is
 * deleted once delivered, and a restarted host must still allow them. Contains host names, no paths
 * or headers.
 */
export async function ensureEgressPolicyFile(
  root: string,
  plan: SandboxPlan,
): Promise<EgressPolicy> {
  const stored = await readEgressPolicyFile(root);
  if (stored !== null) return stored;
  const policy = policyOf(plan);
  const path = join(root, fileName);
  await writeFile(`${path}.part`, JSON.stringify(policy), { mode: 0o600 });
  await rename(`${path}.part`, path);
  return policy;
}

/** Null if there is no file. */
async function readEgressPolicyFile(root: string): Promise<EgressPolicy | null> {
  try {
    // Written above, in a folder that only root can access.
    return JSON.parse(await readFile(join(root, fileName), 'utf8')) as EgressPolicy;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const fileName = 'network.json';

/** A URL may contain variables, which the agent expands from its environment. */
function policyOf({ flow, secrets, config }: SandboxPlan): EgressPolicy {
  const fromFlow = config?.mcpMode === 'replace' ? {} : secrets.mcpServers;
  const servers = Object.values({ ...fromFlow, ...config?.mcpServers });
  const env = { ...secrets.env, ...config?.env };
  const hosts = hostsOfUrls(servers.map(({ url }) => expandNames(url, env)));
  return { policy: flow.network.policy, hosts: [...flow.network.allowedHosts, ...hosts] };
}
