import { expect, test } from 'vitest';
import { allowedModels, isAllowedModel } from '../../../../core/metering/allowed-models.ts';

const mayCall = (run: { model: string | null; listed?: string[] }, model: string): boolean =>
  isAllowedModel(model, allowedModels({ listed: [], ...run }));

test.each([
  [null, 'claude-opus-5-5'],
  ['sonnet', 'claude-sonnet-5-5'],
  ['opus[1m]', 'claude-opus-5-5'],
  ['opusplan', 'claude-opus-5-5'],
  ['opusplan', 'claude-sonnet-5-5'],
  ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
  ['my-model', 'my-model'],
])('a run of model %s may call %s', (model, called) => {
  expect(mayCall({ model }, called)).toBe(true);
});

test('any run may call the agent’s small model, and the models that its flow lists', () => {
  expect(mayCall({ model: 'my-model' }, 'claude-haiku-5-5')).toBe(true);
  expect(mayCall({ model: null, listed: ['fable', 'other'] }, 'claude-fable-5-2')).toBe(true);
  expect(mayCall({ model: null, listed: ['fable', 'other'] }, 'other')).toBe(true);
});

test('a run of a retired model may call the model that replaces it', () => {
  expect(mayCall({ model: 'claude-opus-4-1' }, 'claude-opus-5-5')).toBe(true);
});

test.each([
  [null, 'claude-fable-5-2'],
  ['sonnet', 'claude-opus-5-5'],
  ['claude-opus-5-5', 'claude-opus-4-1'],
  ['my-model', 'my-model-2'],
  ['my-model', '__proto__'],
])('a run of model %s may not call %s', (model, called) => {
  expect(mayCall({ model }, called)).toBe(false);
});
