import { expect, test } from 'vitest';
import { z } from 'zod';
import { jsonSchemaOf, validateOutput } from '../../../client/runs/output-schema.ts';

const severity = z.object({ severity: z.enum(['low', 'high']) });

test('makes a JSON Schema of a schema of zod, and validates by it', async () => {
  expect(jsonSchemaOf(severity)).toMatchObject({
    type: 'object',
    properties: { severity: { enum: ['low', 'high'] } },
    required: ['severity'],
  });
  const { severity: level } = await validateOutput(severity, { severity: 'low' });
  expect(level satisfies 'low' | 'high').toBe('low');
  await expect(validateOutput(severity, { severity: 'odd' })).rejects.toThrow('is not valid');
});

test('needs a JSON Schema of the validator', () => {
  const validator = { '~standard': { validate: (value: unknown) => ({ value }) } };
  expect(() => jsonSchemaOf(validator)).toThrow('Pass one as outputSchema');
});
