import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { codeBlockOf, fillIn } from '../../support/code-blocks.ts';
import type { Acme } from '../../support/open-acme.ts';
import { runShell } from '../../support/run-shell.ts';

const page = 'docs/recipes/kubernetes-cronjob.md';

/** The fields of `batch/v1` that the recipe uses, with the types of the Kubernetes API. */
const variable = z.strictObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .strictObject({
      secretKeyRef: z.strictObject({ name: z.string(), key: z.string() }).optional(),
      fieldRef: z.strictObject({ fieldPath: z.string() }).optional(),
    })
    .optional(),
});
const container = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{1,63}$/),
  image: z.string(),
  env: z.array(variable),
  command: z.array(z.string()),
  args: z.array(z.string()),
});
const pod = z.strictObject({
  restartPolicy: z.enum(['Never', 'OnFailure']),
  containers: z.tuple([container]),
});
const job = z.strictObject({
  backoffLimit: z.int(),
  template: z.strictObject({ spec: pod }),
});
const cronJob = z.strictObject({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('CronJob'),
  metadata: z.strictObject({ name: z.string().regex(/^[a-z0-9-]{1,52}$/) }),
  spec: z.strictObject({
    schedule: z.string(),
    timeZone: z.string(),
    concurrencyPolicy: z.enum(['Allow', 'Forbid', 'Replace']),
    jobTemplate: z.strictObject({ spec: job }),
  }),
});

export function kubernetesCronjobTests(acme: () => Acme): void {
  it('starts one run for each job, however often its pod is repeated', async () => {
    const { service, flowId, operate } = acme();
    const setUp = fillIn(codeBlockOf(page, 'sh'), { '<flow-id>': flowId });
    const secrets = { flowrun: { key: (await operate(setUp)).trim() } };
    const { metadata, spec } = cronJob.parse(parse(codeBlockOf(page, 'yaml')));
    const [{ command, args, env }] = spec.jobTemplate.spec.template.spec.containers;

    async function runPod(jobName: string): Promise<string> {
      const given = env.map((each) => [each.name, valueOf(each, { secrets, jobName })]);
      const known = { FLOWRUN_URL: service.url, FLOW: flowId };
      const variables = { PATH: process.env['PATH'], ...Object.fromEntries(given), ...known };
      expect(command).toEqual(['sh', '-ec']);
      const { code, out, err } = await runShell(`sh -ec "$SCRIPT"`, {
        cwd: '/',
        env: { ...variables, SCRIPT: args[0] },
      });
      expect(code, `${out}${err}`).toBe(0);
      return (JSON.parse(out) as { data: { runId: string } }).data.runId;
    }

    const first = await runPod(`${metadata.name}-29843940`);
    const repeated = await runPod(`${metadata.name}-29843940`);
    const next = await runPod(`${metadata.name}-29845380`);
    expect(repeated).toBe(first);
    expect(next).not.toBe(first);
    expect(await acme().api.readRun(first)).toMatchObject({ name: 'daily report' });
    expect(await acme().api.untilEnded(next)).toMatchObject({ exitCode: 0 });
  });
}

interface Pod {
  secrets: Record<string, Record<string, string>>;
  jobName: string;
}

/** The value of a variable, as Kubernetes resolves it. */
function valueOf({ value, valueFrom = {} }: z.infer<typeof variable>, running: Pod): string {
  const { secretKeyRef, fieldRef } = valueFrom;
  const labels = { 'batch.kubernetes.io/job-name': running.jobName };
  const resolved =
    value ??
    (secretKeyRef && running.secrets[secretKeyRef.name]?.[secretKeyRef.key]) ??
    Object.entries(labels).find(
      ([label]) => fieldRef?.fieldPath === `metadata.labels['${label}']`,
    )?.[1];
  if (resolved === undefined) throw new Error('Kubernetes cannot resolve this variable');
  return resolved;
}
