import { z } from 'zod';
import { jsonText } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { jsonSchemaError, keywordPattern } from './validate-json-schema.ts';

/**
 * A JSON Schema, validated with the agent's rules: an unusable one would end the run before its
 * first output. `$schema` is removed, because the agent supports only one draft by name. Returns
 * JSON text.
 */
export const outputSchema = z
  .record(z.string(), z.unknown())
  .transform(({ $schema: _draft, ...schema }, context) => {
    const json = jsonText(schema);
    const error = json === null ? 'is nested too deeply' : schemaError(schema, json);
    if (error !== null) context.addIssue(error);
    return json ?? '';
  })
  .meta({
    description: `JSON Schema of an object, at most ${limits.run.outputSchemaMaxBytes} bytes. The agent's answer is returned as \`structuredOutput\`.`,
    type: 'object',
    properties: { type: { const: 'object' } },
    required: ['type'],
    propertyNames: { type: 'string', pattern: keywordPattern },
  });

function schemaError(schema: Record<string, unknown>, json: string): string | null {
  if (Buffer.byteLength(json) > limits.run.outputSchemaMaxBytes) {
    return `must be at most ${limits.run.outputSchemaMaxBytes} bytes of JSON`;
  }
  if (schema['type'] !== 'object') return 'must be of type object';
  return jsonSchemaError(schema);
}
