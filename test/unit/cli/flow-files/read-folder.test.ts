import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readFlowFolder } from '../../../../cli/flow-files/read-folder.ts';
import { findSecrets } from '../../../../cli/flow-files/secrets.ts';
import { formatProblems, serviceProblems } from '../../../../cli/flow-files/service-problems.ts';
import { limits } from '../../../../core/limits.ts';

function folderWith(files: Record<string, string | Buffer>): string {
  const folder = mkdtempSync(join(tmpdir(), 'flowrun-flows-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** The names of the flows with the paths of their files, and the problems. */
function read(folder: string) {
  const { flows, problems } = readFlowFolder(folder);
  return {
    flows: flows.map(({ flow, files }) => [flow.name, ...files.map(({ path }) => path)]),
    problems: formatProblems(problems).replaceAll(`${folder}/`, '').split('\n').filter(Boolean),
  };
}

test('flows are found below the folder, with the files beside them', () => {
  const folder = folderWith({
    'README.md': '# Flows',
    '.github/x.md': 'no flow',
    'b.md': '---\n---\n',
    'a/flow.md': '---\n---\n',
    'a/files/in/x.txt': 'x',
    'a/files/.claude/skill.md': 'no flow',
    'team/c.md': '---\nname: C\n---\n',
    'files/d.md': '---\n---\n',
  });
  rmSync(join(folder, 'files'), { recursive: true });
  expect(read(folder)).toEqual({
    flows: [['a', '.claude/skill.md', 'in/x.txt'], ['b'], ['C']],
    problems: [],
  });
});

test('what cannot be a flow or its file is reported', () => {
  const folder = folderWith({
    'notes.md': '# Notes',
    'latin.md': Buffer.from('---\nname: \xe9\n---\n', 'latin1'),
    'two/a.md': '---\n---\n',
    'two/b.md': '---\n---\n',
    'two/files/x': '',
    'one/flow.md': '---\n---\n',
    'one/files/a\\b': '',
    'same/x.md': '---\nname: a\n---\n',
  });
  symlinkSync('/etc/passwd', join(folder, 'one/files/link'));
  expect(read(folder).problems).toEqual([
    'latin.md:1: is not UTF-8',
    'notes.md:1: has no front matter',
    'one/files/a\\b:1: contains a backslash',
    'one/files/link:1: is neither file nor folder',
    'two/files:1: is beside several flows: give the flow that it belongs to its own folder',
    'two/a.md:1: name: same/x.md has this name too',
  ]);
});

test('a flow has at most the files of one request', () => {
  const { perRequestMax } = limits.file;
  const names = Array.from({ length: perRequestMax }, (_, index) => [`files/${index}`, '']);
  const folder = folderWith({ 'flow.md': '---\n---\n', ...Object.fromEntries(names) });
  expect(read(folder).problems).toEqual([]);
  writeFileSync(join(folder, 'files/more'), '');
  expect(read(folder).problems).toEqual([
    `files:1: has ${perRequestMax + 1} files; the maximum is ${perRequestMax}`,
  ]);
});

test('secrets come from the environment, or stay as the service has them', () => {
  const folder = folderWith({
    'a.md':
      '---\nenv:\n  - A\n  - KEPT\n  - NONE\nmcpServers:\n  docs: DOCS\n  bad: BAD\n  plain: { type: http }\n---\n',
  });
  const [local] = readFlowFolder(folder).flows;
  if (local === undefined) throw new Error('no flow');
  const stored = { envNames: ['A', 'KEPT'], mcpServerNames: [] };
  const environment = { A: '1', NONE: '', DOCS: '{"type":"sse"}', BAD: '[]' };
  const { secrets, kept, problems } = findSecrets(local.flow, stored, environment);
  expect(secrets).toEqual({
    env: { A: '1' },
    mcpServers: { docs: { type: 'sse' }, plain: { type: 'http' } },
  });
  expect(kept).toEqual(['KEPT']);
  expect(formatProblems(problems).replaceAll(`${folder}/`, '')).toBe(
    `a.md:5: env.NONE: the environment variable NONE is not set
a.md:8: mcpServers.bad: the environment variable BAD is not a JSON object`,
  );
});

test('errors of the service have their places in the file', () => {
  const folder = folderWith({ 'a.md': '---\nlimits:\n  maxTurns: 0\nmodel: "?"\n---\n' });
  const [local] = readFlowFolder(folder).flows;
  if (local === undefined) throw new Error('no flow');
  const message = 'body.limits.maxTurns: must be at least 1; body.model: must be a; b; body: other';
  expect(
    formatProblems(serviceProblems(local.flow, message)).replaceAll(`${folder}/`, ''),
  ).toBe(`a.md:3: limits.maxTurns: must be at least 1
a.md:4: model: must be a; b
a.md:1: body: other`);
});
