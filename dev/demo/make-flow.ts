import { join } from 'node:path';
import { repository } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { runCommand } from '../lib/run-command.ts';
import { commandHint } from '../stack/command-hint.ts';
import type { ServiceEnv } from '../stack/service-env.ts';

export interface DemoFlow {
  flowId: string;
  key: string;
}

const projectId = 'demo';
const ofProject = ['--project', projectId];
const flowName = 'Writer';

/**
 * Runs the commands that an operator would type, and shows them. Reuses the project and flow of an
 * earlier demo, but creates a new key, because existing keys cannot be displayed.
 */
export async function makeFlow(env: ServiceEnv): Promise<DemoFlow> {
  const flowId = (await findFlow(env)) ?? (await newFlow(env));
  const { key } = await flowrun<{ key: string }>(env, [
    ...['key', 'create', ...ofProject, '--name', 'demo'],
  ]);
  return { flowId, key };
}

/** Finds the flow of an earlier demo, unless it was changed since. */
async function findFlow(env: ServiceEnv): Promise<string | undefined> {
  const flows = await flowrun<{ flowId: string; name: string; version: number }[]>(env, [
    ...['flow', 'list', ...ofProject],
  ]);
  const flow = flows.find(({ name, version }) => name === flowName && version === 1);
  if (flow !== undefined) print('  (the project and flow of an earlier demo are reused)');
  return flow?.flowId;
}

async function newFlow(env: ServiceEnv): Promise<string> {
  const projects = await flowrun<{ projectId: string }[]>(env, ['project', 'list']);
  if (!projects.some((project) => project.projectId === projectId))
    await flowrun(env, ['project', 'create', projectId, '--name', 'Demonstration']);
  const args = ['flow', 'create', ...ofProject, '--name', flowName];
  return (await flowrun<{ flowId: string }>(env, args)).flowId;
}

/** The secret that signs the webhooks of the project. */
export async function webhookSecretOf(env: ServiceEnv): Promise<string> {
  const args = ['project', 'webhook-secret', projectId];
  return (await flowrun<{ webhookSecret: string }>(env, args)).webhookSecret;
}

async function flowrun<T>(env: ServiceEnv, args: string[]): Promise<T> {
  print(`  ${commandHint(`npx flowrun ${args.join(' ')}`)}`);
  const program = join(repository, 'deploy/command-line.ts');
  const output = await runCommand(process.execPath, [program, ...args, '--json'], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(output) as T; // documented by --json
}
