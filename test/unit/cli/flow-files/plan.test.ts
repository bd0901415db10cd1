import { expect, test } from 'vitest';
import { withDefaults } from '../../../../cli/flow-files/flow-fields.ts';
import { formatPlan } from '../../../../cli/flow-files/format-plan.ts';
import { parseFlowFile } from '../../../../cli/flow-files/parse-flow-file.ts';
import {
  type ActualFlow,
  type DesiredFlow,
  planArchive,
  planFlow,
} from '../../../../cli/flow-files/plan.ts';
import type { Flow } from '../../../../client/generated/types.ts';

function desired(text: string, more: Partial<Omit<DesiredFlow, 'flow'>> = {}): DesiredFlow {
  const parsed = parseFlowFile({ file: 'a.md', text: `---\n${text}`, defaultName: 'writer' });
  if (parsed === null || 'problems' in parsed) throw new Error(JSON.stringify(parsed));
  return { flow: parsed.flow, files: [], secrets: { env: {}, mcpServers: {} }, ...more };
}

const flowId = '00000000-0000-4000-8000-000000000001';

function actual(fields: Partial<Flow> = {}, more: Partial<ActualFlow> = {}): ActualFlow {
  const record = {
    ...(withDefaults({ name: 'writer' }) as unknown as Flow),
    flowId,
    envNames: [],
    mcpServerNames: [],
    archivedAt: null,
    ...fields,
  };
  return { record, files: [], changedSecrets: { env: [], mcpServers: [] }, ...more };
}

const content = (path: string, sha256: string, mode: '0644' | '0755' = '0644') => {
  return { path, sha256, mode };
};

test('a flow that is as its file has it does not change', () => {
  const text = 'model: opus\nlimits: {maxTurns: 3}\nenv: [A]\n---\nWrite.\n';
  const limits = { maxBudgetUsd: null, maxTurns: 3 };
  const service = actual({ model: 'opus', limits, instructions: 'Write.', envNames: ['A'] });
  expect(planFlow(desired(text), service)).toBeNull();
});

test('a new flow has its fields, secrets and files', () => {
  const plan = planFlow(
    desired('model: opus\nenv: {A: MY_A}\n---\n', {
      secrets: { env: { A: 's3cret' }, mcpServers: {} },
      files: [content('a.txt', '1')],
    }),
    null,
  );
  expect(plan).toMatchObject({ action: 'create', flowId: null });
  expect(plan?.body).toEqual({ name: 'writer', model: 'opus', env: { A: 's3cret' } });
  expect(formatPlan(plan === null ? [] : [plan])).toBe(`create "writer"
  name: (none) → "writer"
  model: (none) → "opus"
  env.A: added
  files/a.txt: added`);
});

test('each field that differs is shown, and only they are sent', () => {
  const service = actual({
    description: 'by hand',
    limits: { maxTurns: 5, maxBudgetUsd: 1 },
    schedule: { cron: '0 9 * * *', timezone: 'UTC' },
    instructions: 'One\ntwo\nthree',
  });
  const text = 'limits: {maxTurns: 3, maxBudgetUsd: 1}\nprompt: Go\n---\nOne\n2\n2.5\nthree\n';
  const plan = planFlow(desired(text), service);
  expect(plan).toMatchObject({ action: 'update', flowId });
  expect(plan?.body).toEqual({
    description: null,
    limits: { maxTurns: 3, maxBudgetUsd: 1 },
    schedule: null,
    prompt: 'Go',
    instructions: 'One\n2\n2.5\nthree',
  });
  expect(formatPlan(plan === null ? [] : [plan])).toBe(`update "writer"
  description: "by hand" → (none)
  limits.maxTurns: 5 → 3
  schedule: {"cron":"0 9 * * *","timezone":"UTC"} → (none)
  prompt: (none) → "Go"
  instructions:
    - two
    + 2
    + 2.5`);
});

test('secrets are added, changed, kept and removed by name', () => {
  const plan = planFlow(
    desired(
      'env: [KEPT, NEW, ROTATED, UNSET]\nmcpServers: {docs: {type: http, url: "https://a"}}\n---\n',
      {
        secrets: {
          env: { KEPT: '1', NEW: '2', ROTATED: '3' },
          mcpServers: { docs: { type: 'http', url: 'https://a' } },
        },
      },
    ),
    actual(
      { envNames: ['GONE', 'KEPT', 'ROTATED', 'UNSET'], mcpServerNames: ['old'] },
      { changedSecrets: { env: ['ROTATED'], mcpServers: [] } },
    ),
  );
  expect(plan?.body).toEqual({
    env: { NEW: '2', ROTATED: '3', GONE: null },
    mcpServers: { docs: { type: 'http', url: 'https://a' }, old: null },
  });
  expect(plan?.fields).toEqual([
    { field: 'env.GONE', secret: 'deleted' },
    { field: 'env.NEW', secret: 'added' },
    { field: 'env.ROTATED', secret: 'modified' },
    { field: 'mcpServers.docs', secret: 'added' },
    { field: 'mcpServers.old', secret: 'deleted' },
  ]);
});

test('files are compared by their contents and modes', () => {
  const files = [
    content('new', '1'),
    content('same', '2'),
    content('changed', '3'),
    content('script', '6', '0755'),
  ];
  const before = [
    content('same', '2'),
    content('changed', '4'),
    content('old', '5'),
    content('script', '6'),
  ];
  expect(planFlow(desired('---\n', { files }), actual({}, { files: before }))).toMatchObject({
    fields: [],
    body: {},
    files: [
      { path: 'changed', status: 'modified' },
      { path: 'new', status: 'added' },
      { path: 'old', status: 'deleted' },
      { path: 'script', status: 'modified' },
    ],
  });
});

test('an archived flow is restored, and one without a file is archived', () => {
  const archived = actual({ archivedAt: '2026-01-01T00:00:00.000Z' });
  expect(planFlow(desired('---\n'), archived)).toMatchObject({
    action: 'restore',
    flowId,
    body: {},
  });
  expect(formatPlan([planArchive(archived.record)])).toBe('archive "writer"');
});

test('terminal codes of a stored text are not printed', () => {
  const plan = planFlow(desired('---\n'), actual({ prompt: 'a\n\x1b]0;title\x07b' }));
  expect(formatPlan(plan === null ? [] : [plan])).toBe(`update "writer"
  prompt:
    - a
    - b`);
});
