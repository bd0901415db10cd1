import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../../systems/postgres/schema/functions/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.sql'),
);

/**
 * Postgres plans such a function again at each call, because it can neither inline a scalar
 * function with a subquery nor keep the plan of one in SQL.
 */
function isPlannedAtEachCall(definition: string): boolean {
  const code = definition.replace(/^--.*$/gm, '');
  return /\blanguage sql\b/.test(code) && /\bfrom\b|;\s*\n/.test(bodyOf(code)) && !isSet(code);
}

const bodyOf = (code: string): string => code.split('$$')[1] ?? '';
const isSet = (code: string): boolean => /\breturns (table|setof)\b/.test(code);

test('functions that read rows are in PL/pgSQL, which keeps their plans', () => {
  const found = files.filter((name) =>
    isPlannedAtEachCall(readFileSync(new URL(name, folder), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(30);
  expect(found).toEqual([]);
});

test.each([
  [
    'reads a table',
    'returns boolean language sql as $$\n  select exists (select from t)\n$$',
    true,
  ],
  ['has two statements', 'returns void language sql as $$\n  select a();\n  select b()\n$$', true],
  ['is an expression', 'returns boolean language sql as $$\n  select a.b > c\n$$', false],
  ['is in PL/pgSQL', 'language plpgsql as $$\nbegin\n  return (select 1 from t);\nend\n$$', false],
  ['returns rows', 'returns table (a text) language sql as $$\n  select a from t\n$$', false],
])('a function that %s', (_is, definition, expected) => {
  expect(isPlannedAtEachCall(definition)).toBe(expected);
});
