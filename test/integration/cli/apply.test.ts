// Flows in a folder, with the served command line against one service.

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { treeOf, useTeams } from './flow-teams.ts';

const { newTeam, operator } = useTeams();

const reviewer = `---
name: Reviewer # comments are free
model: sonnet
limits: { maxTurns: 40 }
env: { TOKEN: REVIEWER_TOKEN }
mcpServers:
  docs: { type: http, url: "https://mcp.example.test/", headers: { A: "Bearer \${TOKEN}" } }
---

Review.
`;

test('a folder is applied once, and applying it again changes nothing', async () => {
  const { flowrun, put, flows } = await newTeam({ REVIEWER_TOKEN: 'canary' });
  put('README.md', '# Flows');
  put('reviewer/flow.md', reviewer);
  put('reviewer/files/run.sh', 'true\n', 0o755);
  put('writer.md', '---\nprompt: Write.\nschedule: { cron: 0 9 * * MON }\n---\n');

  const refused = await flowrun('apply', 'flows');
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('Pass --yes') });
  const check = await flowrun('apply', 'flows', '--check');
  expect(check.code, check.err).toBe(3);
  expect(check.out).toContain('create "Reviewer"\n');
  expect(check.out).toContain(
    '  env.TOKEN: added\n  mcpServers.docs: added\n  files/run.sh: added',
  );
  expect(await flows()).toEqual([]);

  const applied = await flowrun('apply', 'flows', '--yes');
  expect(applied.code, applied.err).toBe(0);
  expect(applied.err).toBe('created "Reviewer"\ncreated "writer"\n');
  const made = await flows();
  expect(made).toMatchObject([
    { name: 'Reviewer', instructions: 'Review.', envNames: ['TOKEN'] },
    { name: 'writer', schedule: { cron: '0 9 * * MON', timezone: 'UTC' } },
  ]);
  for (const options of [['--yes'], ['--check', '--prune']])
    expect(await flowrun('apply', 'flows', ...options)).toEqual({
      ...{ code: 0, out: 'No changes.\n', err: '' },
    });
  expect(await flows()).toEqual(made);
  expect(check.out + check.err + applied.out + applied.err).not.toContain('canary');
}, 120_000);

test('a change by hand is shown field by field, and undone', async () => {
  const { flowrun, projectId, put, flows } = await newTeam({ REVIEWER_TOKEN: 'canary' });
  put('reviewer.md', reviewer);
  await flowrun('apply', 'flows', '--yes');
  const [before] = await flows();
  const path = `/api/projects/${projectId}/flows/${before?.flowId}`;
  const body = {
    ...{ model: 'opus', description: 'by hand', instructions: 'Review.\nBe quick.' },
    ...{ limits: { maxBudgetUsd: 5 }, env: { TOKEN: 'other', MORE: 'x' } },
  };
  expect((await operator(path, { method: 'PATCH', body })).status).toBe(200);
  const files = { files: [{ path: 'a.txt', content: 'a', encoding: 'utf8' }] };
  await operator(`${path}/files`, { method: 'PUT', body: files });

  const check = await flowrun('apply', 'flows', '--check');
  expect(check).toEqual({
    code: 3,
    out: `update "Reviewer"
  description: "by hand" → (none)
  model: "opus" → "sonnet"
  limits.maxBudgetUsd: 5 → (none)
  instructions:
    - Be quick.
  env.MORE: deleted
  env.TOKEN: modified
  files/a.txt: deleted
`,
    err: 'The service differs from the folder.\n',
  });
  const { out } = await flowrun('apply', 'flows', '--check', '--json');
  expect(JSON.parse(out)).toMatchObject([
    { action: 'update', name: 'Reviewer', fields: [{}, {}, {}, {}, {}, {}] },
  ]);
  expect(out).not.toContain('canary');
  expect((await flowrun('apply', 'flows', '--yes')).code).toBe(0);
  const [after] = await flows();
  expect(after).toMatchObject({
    flowId: before?.flowId,
    description: null,
    envNames: ['TOKEN'],
  });

  const without = flowrun.with({ REVIEWER_TOKEN: '' });
  expect(await without('apply', 'flows', '--check')).toEqual({
    ...{ code: 0, out: 'No changes.\n' },
    err: 'Not in the environment, so the stored values stay: REVIEWER_TOKEN\n',
  });
}, 120_000);

test('an export, applied to an empty project, is exported again byte by byte', async () => {
  const definition = JSON.stringify({ type: 'http', url: 'https://mcp.example.test/' });
  const env = { TOKEN: 'canary', MCP_DOCS: definition };
  const { flowrun, projectId, put } = await newTeam({ REVIEWER_TOKEN: 'canary' });
  put('reviewer/flow.md', reviewer);
  put('reviewer/files/run.sh', 'true\n', 0o755);
  put('reviewer/files/.claude/notes.md', '');
  await flowrun('apply', 'flows', '--yes');
  const path = `/api/projects/${projectId}/flows`;
  const odd = {
    name: 'Reviewer!',
    prompt: '\n  Go: "now"\r\n\u2028---\n',
    instructions: '\n---\n# x\n ',
    limits: { maxBudgetUsd: 0.1 },
    resources: { cpus: 1.5 },
    network: { policy: 'open' },
    schedule: { cron: '0 9 * * *', timezone: 'Europe/Berlin' },
  };
  expect((await operator(path, { body: odd })).status).toBe(201);
  const first = await flowrun('export', 'first');
  expect(first.code, first.err).toBe(0);

  const other = await newTeam(env);
  cpSync(join(flowrun.home, 'first'), join(other.flowrun.home, 'flows'), { recursive: true });
  const applied = await other.flowrun('apply', 'flows', '--yes');
  expect(applied.code, applied.err).toBe(0);
  expect((await other.flowrun('export', 'second')).code).toBe(0);
  const tree = treeOf(join(flowrun.home, 'first'));
  expect(Object.keys(tree)).toEqual([
    'reviewer-2.md',
    'reviewer/files/.claude/notes.md',
    'reviewer/files/run.sh',
    'reviewer/flow.md',
  ]);
  expect(tree['reviewer/files/run.sh']).toBe('755 true\n');
  expect(treeOf(join(other.flowrun.home, 'second'))).toEqual(tree);
  expect(JSON.stringify(tree)).not.toContain('canary');
}, 120_000);

test('an export deletes only the flows of a folder, and only with --replace', async () => {
  const { flowrun, put } = await newTeam();
  put('a/flow.md', '---\nprompt: Go\n---\n');
  put('a/files/x.txt', 'x');
  put('notes.txt', 'mine');
  await flowrun('apply', 'flows', '--yes');
  put('old.md', '---\nprompt: Go\n---\n');
  const refused = await flowrun('export', 'flows');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('--replace') });
  expect((await flowrun('export', 'flows', '--replace')).code).toBe(0);
  expect(treeOf(join(flowrun.home, 'flows'))).toEqual({
    'a/files/x.txt': '644 x',
    'a/flow.md': '644 ---\nname: a\nprompt: Go\n---\n',
    'notes.txt': '644 mine',
  });
}, 120_000);

test('a flow without a file is archived only with --prune, and returns with its file', async () => {
  const { flowrun, projectId, put, flows } = await newTeam();
  put('a.md', '---\nprompt: Go\n---\n');
  put('b.md', '---\nprompt: Go\n---\n');
  await flowrun('apply', 'flows', '--yes');
  const [, b] = await flows();
  const run = await operator(`/api/projects/${projectId}/flows/${b?.flowId}/runs`, {
    body: {},
  });
  expect(run.status, run.text).toBe(201);
  rmSync(join(flowrun.home, 'flows/b.md'));
  expect(await flowrun('apply', 'flows', '--check')).toMatchObject({
    ...{ code: 0, err: 'Not in the folder, and archived with --prune: "b"\n' },
  });
  const pruned = await flowrun('apply', 'flows', '--yes', '--prune');
  expect(pruned).toEqual({ code: 0, out: 'archive "b"\n', err: 'archived "b"\n' });
  expect(await flows('?archived=true')).toContainEqual(expect.objectContaining({ name: 'b' }));
  const { runId } = run.json.data;
  expect((await operator(`/api/projects/${projectId}/runs/${runId}`)).status).toBe(200);
  put('b.md', '---\nprompt: Continue\n---\n');
  const restored = await flowrun('apply', 'flows', '--yes');
  expect(restored.out).toBe('restore "b"\n  prompt: "Go" → "Continue"\n');
  expect((await flows()).at(-1)).toMatchObject({ flowId: b?.flowId, prompt: 'Continue' });
}, 120_000);

test('an error has the file, the line and the field, and nothing is changed', async () => {
  const { flowrun, put, flows } = await newTeam();
  put('good.md', '---\nprompt: Go\n---\n');
  put('bad.md', '---\nmodel: opus\nlimits:\n  maxTurns: 0\nschedule: { cron: 0 9 * * * }\n---\n');
  put('secret.md', '---\nenv:\n  - MISSING\n---\n');
  const service = await flowrun('apply', 'flows', '--yes');
  expect(service.code).toBe(1);
  expect(service.err).toMatch(/^flows\/bad\.md:4: limits\.maxTurns: \S.*\n/m);
  expect(service.err).toContain(
    'flows/secret.md:3: env.MISSING: the environment variable MISSING is not set',
  );
  put('bad.md', '---\nmodle: opus\nname: good\n---\n');
  put('same.md', '---\nname: good\n---\n');
  const local = await flowrun('apply', 'flows', '--yes');
  expect(local.err).toBe(
    'flows/bad.md:2: modle: unknown field\nflows/same.md:2: name: flows/good.md has this name too\n',
  );
  expect(await flows()).toEqual([]);
  put('bad.md', '---\nprompt: Go\n---\n');
  put('same.md', '---\nprompt: Go\n---\n');
  for (const token of ['', 'fro_wrong']) {
    const refused = await flowrun.with({ FLOWRUN_TOKEN: token })('apply', 'flows', '--check');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('FLOWRUN_TOKEN') });
  }
}, 120_000);
