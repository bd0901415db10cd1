// Runs a workflow file like GitHub Actions: the parts of its syntax that the recipes use.

import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { runShell } from '../../support/run-shell.ts';
import { type Contexts, interpolate, isMet } from './github-expressions.ts';

const env = z.record(z.string(), z.string()).default({});

const stepSchema = z.strictObject({
  name: z.string().optional(),
  if: z.string().optional(),
  env,
  uses: z.literal('actions/checkout@v5').optional(),
  run: z.string().optional(),
});
type Step = z.infer<typeof stepSchema>;

const jobSchema = z.strictObject({
  if: z.string().optional(),
  'runs-on': z.literal('ubuntu-latest'),
  'timeout-minutes': z.number().optional(),
  defaults: z.strictObject({ run: z.strictObject({ shell: z.literal('bash') }) }),
  env,
  steps: z.array(stepSchema),
});
type Job = z.infer<typeof jobSchema>;

const filter = z.strictObject({
  types: z.array(z.string()).optional(),
  branches: z.array(z.string()).optional(),
});

const workflowSchema = z.strictObject({
  name: z.string(),
  on: z.strictObject({
    issues: filter.optional(),
    pull_request: filter.nullish(),
    push: filter.optional(),
    schedule: z.array(z.strictObject({ cron: z.string() })).optional(),
  }),
  permissions: z.record(z.string(), z.enum(['read', 'write'])).optional(),
  concurrency: z.string().optional(),
  jobs: z.record(z.string(), jobSchema),
});
type Workflow = z.infer<typeof workflowSchema>;

export interface Trigger {
  name: 'issues' | 'pull_request' | 'push' | 'schedule';
  event: { action?: string } & Record<string, unknown>;
  secrets: Record<string, string>;
  apiUrl?: string;
  /** What `actions/checkout` copies. */
  repository?: string;
}

interface JobEnd {
  conclusion: 'success' | 'failure' | 'skipped';
  /** Both outputs of all steps. */
  log: string;
}

/** The end of each job. Without jobs if the event is not one that starts the workflow. */
export async function runWorkflow(file: string, trigger: Trigger): Promise<Record<string, JobEnd>> {
  const workflow = workflowSchema.parse(parse(file));
  if (!starts(workflow, trigger)) return {};
  const ends = Object.entries(workflow.jobs).map(async ([name, job]) => [
    name,
    await runJob(job, trigger),
  ]);
  return Object.fromEntries(await Promise.all(ends)) as Record<string, JobEnd>;
}

function starts({ on }: Workflow, { name, event }: Trigger): boolean {
  const filters = on[name];
  if (filters === undefined) return false;
  if (filters === null || Array.isArray(filters) || filters.types === undefined) return true;
  return filters.types.includes(String(event.action));
}

async function runJob(job: Job, trigger: Trigger): Promise<JobEnd> {
  const contexts: Contexts = {
    github: { event: trigger.event, event_name: trigger.name, token: 'ghs_token' },
    secrets: trigger.secrets,
  };
  if (!isMet(job.if, contexts, 'success')) return { conclusion: 'skipped', log: '' };
  const home = mkdtempSync(join(tmpdir(), 'runner-'));
  try {
    return await runSteps(job, { contexts, trigger, home });
  } finally {
    rmSync(home, { recursive: true });
  }
}

interface Runner {
  contexts: Contexts;
  trigger: Trigger;
  home: string;
}

async function runSteps(job: Job, runner: Runner): Promise<JobEnd> {
  const end: JobEnd = { conclusion: 'success', log: '' };
  const workspace = join(runner.home, 'work');
  mkdirSync(workspace);
  for (const step of job.steps) {
    if (!isMet(step.if, runner.contexts, end.conclusion)) continue;
    if (step.uses !== undefined)
      cpSync(runner.trigger.repository ?? '', workspace, { recursive: true });
    if (step.run === undefined) continue;
    const script = interpolate(step.run, runner.contexts);
    const { code, out, err } = await runShell(script, {
      cwd: workspace,
      env: { ...environmentOf(runner), ...variablesOf(job, step, runner.contexts) },
    });
    end.log += `${out}${err}`;
    if (code === 0) continue;
    end.conclusion = 'failure';
    end.log += `Process completed with exit code ${code}.\n`;
  }
  return end;
}

const variablesOf = (job: Job, step: Step, contexts: Contexts): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...job.env, ...step.env }).map(([name, value]) => [
      name,
      interpolate(value, contexts),
    ]),
  );

/** The variables of a runner that has npm, and no registry. */
const environmentOf = ({ trigger, home }: Runner) => ({
  PATH: `${join(home, 'npm/bin')}:${process.env['PATH']}`,
  HOME: home,
  npm_config_prefix: join(home, 'npm'),
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_update_notifier: 'false',
  GITHUB_API_URL: trigger.apiUrl,
  GITHUB_EVENT_NAME: trigger.name,
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_RUN_ID: '1658821493',
  GITHUB_SERVER_URL: 'https://github.com',
});
