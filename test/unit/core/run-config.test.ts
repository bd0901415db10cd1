import { expect, test } from 'vitest';
import { emptyRunConfig, nonEmptyFields, type RunConfig } from '../../../core/runs/run-config.ts';

test.each<[string, Partial<RunConfig>, string[]]>([
  ['nothing', {}, []],
  ['empty values', { env: {}, mcpServers: {}, disallowedTools: [], context: {} }, []],
  ['a variable', { env: { A: '' } }, ['env']],
  ['a tool', { disallowedTools: ['Bash'] }, ['disallowedTools']],
  ['the other mode', { mcpMode: 'replace' }, ['mcpMode']],
  ['a prompt', { appendSystemPrompt: 'Be brief.' }, ['appendSystemPrompt']],
  ['a prompt equal to the name of a mode', { appendSystemPrompt: 'merge' }, ['appendSystemPrompt']],
])('a configuration counts %s as set', (_what, config, fields) => {
  expect(nonEmptyFields({ ...emptyRunConfig, ...config })).toEqual(fields);
});
