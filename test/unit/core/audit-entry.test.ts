import { expect, test } from 'vitest';
import { changedFields } from '../../../core/audit/audit-entry.ts';

test('names the changed fields that are set before and after, without values', () => {
  const before = { name: 'a', prompt: 'Go', model: null, env: { TOKEN: 'x' }, tools: [], same: 1 };
  const after = { name: 'b', prompt: null, model: 'opus', env: {}, tools: ['Bash'], same: 1 };
  expect(changedFields(before, after)).toEqual({
    fieldsBefore: ['env', 'name', 'prompt'],
    fieldsAfter: ['model', 'name', 'tools'],
  });
});

test('leaves out fields that the change does not name', () => {
  const at = new Date(0);
  expect(changedFields({ name: 'a' }, {})).toEqual({ fieldsBefore: [], fieldsAfter: [] });
  expect(changedFields({}, { at })).toEqual({ fieldsBefore: [], fieldsAfter: ['at'] });
});
