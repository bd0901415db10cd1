import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSame, withDefaults } from '../../../../cli/flow-files/flow-fields.ts';
import { type FlowFile, parseFlowFile } from '../../../../cli/flow-files/parse-flow-file.ts';
import { fileNames, writeFlowFile } from '../../../../cli/flow-files/write-flow-file.ts';
import type { Flow } from '../../../../client/generated/types.ts';

function parsed(text: string): FlowFile {
  const result = parseFlowFile({ file: 'flows/writer.md', text, defaultName: 'writer' });
  if (result === null || 'problems' in result) throw new Error(JSON.stringify(result));
  return result.flow;
}

/** `file:line: field: message` of each problem. */
function problemsOf(...lines: string[]): string[] {
  const text = lines.join('\n');
  const result = parseFlowFile({ file: 'flows/writer.md', text, defaultName: 'writer' });
  if (result === null || 'flow' in result) return [];
  return result.problems.map(({ file, line, field, message }) =>
    [`${file}:${line}`, ...(field === null ? [] : [field]), message].join(': '),
  );
}

const empty: Flow = {
  ...(withDefaults({ name: 'writer' }) as unknown as Flow),
  flowId: '00000000-0000-4000-8000-000000000001',
  projectId: 'acme',
  mcpServerNames: [],
  envNames: [],
  schedulePausedAt: null,
  storage: { usedBytes: 0, limitBytes: 1 },
  version: 1,
  archivedAt: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

test('the front matter is the fields, and the body is the instructions', () => {
  const flow = parsed(`---
name: Writer # as people know it
limits:
  maxTurns: 20
schedule: { cron: 30 9 * * MON-FRI }
childRuns: { maxRuns: 3 }
env: [TOKEN]
mcpServers:
  docs: DOCS_SERVER
---

# Rules

Write plainly.
`);
  expect(flow).toMatchObject({
    name: 'Writer',
    fields: {
      name: 'Writer',
      limits: { maxTurns: 20 },
      schedule: { cron: '30 9 * * MON-FRI' },
      instructions: '# Rules\n\nWrite plainly.',
    },
    env: { TOKEN: 'TOKEN' },
    mcpServers: { docs: 'DOCS_SERVER' },
  });
  expect(withDefaults(flow.fields)).toMatchObject({
    model: null,
    limits: { maxTurns: 20, maxBudgetUsd: null },
    schedule: { cron: '30 9 * * MON-FRI', timezone: 'UTC' },
    childRuns: { maxRuns: 3, maxConcurrent: 5, maxBudgetUsd: null },
  });
});

test('a file without a name has the name of its file, and may have Windows line ends', () => {
  const flow = parsed('\uFEFF---\r\nprompt: Go\r\n---\r\n\r\nOne\r\ntwo\r\n');
  expect(flow.fields).toEqual({ name: 'writer', prompt: 'Go', instructions: 'One\ntwo' });
  expect(parsed('---\n---').fields).toEqual({ name: 'writer' });
  expect(parsed('---\n---\n\n').fields).toEqual({ name: 'writer' });
});

test.each([
  ['an unclosed front matter', ['---', 'name: a'], ['1: the front matter is not closed by ---']],
  ['a list', ['---', '- a', '---'], ['2: the front matter must have fields']],
  ['a repeated field', ['---', 'name: a', 'name: b', '---'], ['3: Map keys must be unique']],
  ['an unknown field', ['---', 'name: a', 'modle: b', '---'], ['3: modle: unknown field']],
  [
    'a number that JSON does not have',
    ['---', 'limits:', '  maxBudgetUsd: .inf', '---'],
    ['3: limits.maxBudgetUsd: must be a finite number'],
  ],
  [
    'instructions twice',
    ['---', 'instructions: a', '---', 'b'],
    ['2: instructions: the file has instructions in its body too'],
  ],
  [
    'values of secrets',
    ['---', 'env:', '  A: s3cr3t!', 'mcpServers:', '  docs: https://x', '---'],
    [
      '3: env.A: must be the name of an environment variable; values are never in the file',
      '5: mcpServers.docs: must be a definition, or the environment variable that has it as JSON',
    ],
  ],
  ['an unknown tag', ['---', 'a: !x b', '---'], ['2: Unresolved tag: !x']],
])('%s is reported with its line', (_case, lines, expected) => {
  expect(problemsOf(...lines)).toEqual(expected.map((text) => `flows/writer.md:${text}`));
});

test('a text without front matter is not a flow', () => {
  expect(parseFlowFile({ file: 'a.md', text: '# Flows', defaultName: 'a' })).toBeNull();
});

test('errors of the service have the line of the nearest field', () => {
  const { lineOf } = parsed('---\nname: a\nallowedModels:\n  - x\n  - y\nlimits: {}\n---\n');
  expect(lineOf(['allowedModels', '1'])).toBe(5);
  expect(lineOf(['limits', 'maxTurns'])).toBe(6);
  expect(lineOf(['prompt'])).toBe(1);
});

test('an export has the fields that are set, and secrets by name', () => {
  const flow = {
    ...empty,
    instructions: 'Write.\n\n- plainly',
    limits: { maxTurns: 3, maxBudgetUsd: null },
    envNames: ['A', 'B'],
    mcpServerNames: ['my-docs', 'my_docs'],
  };
  expect(writeFlowFile(flow)).toBe(`---
name: writer
limits:
  maxTurns: 3
env:
  - A
  - B
mcpServers:
  my-docs: MCP_MY_DOCS
  my_docs: MCP_MY_DOCS_2
---

Write.

- plainly
`);
});

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom('a', '\n', '\r', ' ', '---', '#', ':', '"', '\t', '- ', '\u2028', '|'))
    .map((parts) => parts.join('')),
);

test('any flow has the same fields after an export', () => {
  const flows = fc.record({
    name: anyText,
    description: fc.option(anyText),
    prompt: fc.option(anyText),
    instructions: fc.option(anyText),
    disallowedTools: fc.array(anyText, { maxLength: 3 }),
    timeoutSeconds: fc.option(fc.nat()),
    limits: fc.record({
      maxTurns: fc.option(fc.nat()),
      maxBudgetUsd: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
    }),
    schedule: fc.option(
      fc.record({ cron: anyText, timezone: fc.constantFrom('UTC', 'Europe/Berlin') }),
    ),
  });
  fc.assert(
    fc.property(flows, (fields) => {
      const flow: Flow = { ...empty, ...fields };
      const text = writeFlowFile(flow);
      const again = withDefaults(parsed(text).fields);
      for (const [name, value] of Object.entries(fields))
        expect(isSame(again[name], value), `${name} in ${text}`).toBe(true);
      expect(writeFlowFile({ ...flow, ...again })).toBe(text);
    }),
    { numRuns: 200 },
  );
});

test('files have short names that differ', () => {
  const names = ['Émile’s  writer', 'émile/s writer', '???', 'files', '..', 'a'.repeat(100)];
  expect(fileNames(names.map((name) => ({ name })))).toEqual([
    'émile-s-writer',
    'émile-s-writer-2',
    'flow',
    'files-2',
    'flow-2',
    'a'.repeat(60),
  ]);
});
