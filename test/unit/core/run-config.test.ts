import { expect, test } from 'vitest';
import { emptyRunConfig, nonEmptyFields, type RunConfig } from '../../../core/runs/run-config.ts';

test.each<[string, Partial<RunConfig>, string[]]>([
  ['nothing', {}, []],
  ['what is empty', { env: {}, mcpServers: {}, disallowedTools: [], context: {} }, []],
  ['a variable', { env: { A: '' } }, ['env']],
  ['a tool', { disallowedTools: ['Bash'] }, ['disallowedTools']],
  ['the other mode', { mcpMode: 'replace' }, ['mcpMode']],
  ['a prompt', { appendSystemPrompt: 'Be brief.' }, ['appendSystemPrompt']],
  ['a prompt that is the word for a mode', { appendSystemPrompt: 'merge' }, ['appendSystemPrompt']],
])('knows that a configuration gives %s', (_what, given, fields) => {
  expect(nonEmptyFields({ ...emptyRunConfig, ...given })).toEqual(fields);
});
