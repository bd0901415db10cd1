import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expandNames } from '../../../core/runs/expand-names.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import { type EgressPolicy, hostsOfUrls } from '../../egress/policy.ts';

/**
 * What a run may reach, kept beside its folders: the run's own servers are part of a configuration
 * that is forgotten once the sandbox has it, and a restarted host must go on letting them through.
 * Names of hosts only, no path, no header.
 */
export async function ensureEgressPolicyFile(
  root: string,
  plan: SandboxPlan,
): Promise<EgressPolicy> {
  const earlier = await readEgressPolicyFile(root);
  if (earlier !== null) return earlier;
  const policy = policyOf(plan);
  const path = join(root, fileName);
  await writeFile(`${path}.part`, JSON.stringify(policy), { mode: 0o600 });
  await rename(`${path}.part`, path);
  return policy;
}

/** Null where none was written. */
async function readEgressPolicyFile(root: string): Promise<EgressPolicy | null> {
  try {
    // Written above, in a folder that is root's alone.
    return JSON.parse(await readFile(join(root, fileName), 'utf8')) as EgressPolicy;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const fileName = 'network.json';

/** An address may hold names of variables, which the agent puts in by what it was given. */
function policyOf({ flow, secrets, config }: SandboxPlan): EgressPolicy {
  const fromFlow = config?.mcpMode === 'replace' ? {} : secrets.mcpServers;
  const servers = Object.values({ ...fromFlow, ...config?.mcpServers });
  const env = { ...secrets.env, ...config?.env };
  const hosts = hostsOfUrls(servers.map(({ url }) => expandNames(url, env)));
  return { policy: flow.network.policy, hosts: [...flow.network.allowedHosts, ...hosts] };
}
