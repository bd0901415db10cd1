import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { repository } from '../folders.ts';
import { say } from '../progress.ts';
import { run } from '../run.ts';
import type { ServiceEnv } from '../service-env.ts';

export interface NewFlow {
  projectId: string;
  flowId: string;
  key: string;
}

/** What an operator types, shown and done. */
export async function makeFlow(env: ServiceEnv): Promise<NewFlow> {
  const projectId = `demo-${randomBytes(3).toString('hex')}`;
  const ofProject = ['--project', projectId];
  await flowrun(env, ['project', 'create', projectId, '--name', 'Demonstration']);
  const flow = await flowrun(env, ['flow', 'create', ...ofProject, '--name', 'Writer']);
  const made = await flowrun(env, ['key', 'create', ...ofProject, '--name', 'demo']);
  return { projectId, flowId: textIn(flow, 'flowId'), key: textIn(made, 'key') };
}

/** The secret that signs the webhooks of a project. */
export async function webhookSecretOf(env: ServiceEnv, projectId: string): Promise<string> {
  return textIn(await flowrun(env, ['project', 'webhook-secret', projectId]), 'webhookSecret');
}

async function flowrun(env: ServiceEnv, args: string[]): Promise<Record<string, unknown>> {
  say(`  npx flowrun ${args.join(' ')}`);
  const program = join(repository, 'cli/flowrun.mjs');
  const output = await run(process.execPath, [program, ...args, '--json'], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(output) as Record<string, unknown>; // one record, as --json promises
}

function textIn(record: Record<string, unknown>, field: string): string {
  const value = record[field];
  if (typeof value === 'string') return value;
  throw new Error(`flowrun named no ${field}`);
}
