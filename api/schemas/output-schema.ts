import { z } from 'zod';
import { jsonText } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { jsonSchemaError } from './validate-json-schema.ts';

/**
 * A JSON Schema, judged as the agent judges it: what the agent cannot use would end the run before
 * its first word. Which draft it names is left out, since the agent knows only one by name; comes
 * out as JSON text.
 */
export const outputSchema = z
  .record(z.string(), z.unknown())
  .transform(({ $schema: _draft, ...schema }, context) => {
    const json = jsonText(schema);
    const fault = json === null ? 'is nested too deeply' : schemaError(schema, json);
    if (fault !== null) context.addIssue(fault);
    return json ?? '';
  })
  .meta({
    description: `JSON Schema of an object, at most ${limits.outputSchemaMaxBytes} bytes; what the agent answers is \`structuredOutput\`.`,
    type: 'object',
  });

function schemaError(schema: Record<string, unknown>, json: string): string | null {
  if (Buffer.byteLength(json) > limits.outputSchemaMaxBytes) {
    return `must be at most ${limits.outputSchemaMaxBytes} bytes of JSON`;
  }
  if (schema['type'] !== 'object') return 'must be of type object';
  return jsonSchemaError(schema);
}
