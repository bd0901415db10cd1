// What is wrong with a JSON Schema that somebody has sent. It is never compiled here: that takes
// seconds for some that are short. It is data, held against the schema of schemas.

import { Ajv } from 'ajv';
import { isObject } from '../../core/json.ts';

type Schema = Record<string, unknown>;

/** Null where the agent can use it, as far as can be told. */
export function jsonSchemaError(schema: Schema): string | null {
  try {
    if (!isSchema(schema)) return describeError(isSchema.errors?.[0]);
    const lost = refsIn(schema).find((ref) => ref.startsWith('#/') && !leadsTo(schema, ref));
    return lost === undefined ? null : `leads nowhere by $ref ${lost.slice(0, 100)}`;
  } catch (error) {
    if (error instanceof RangeError) return 'is nested too deeply';
    throw error;
  }
}

const isSchema = new Ajv({ logger: false, strict: false, formats: formats() }).compile(
  schemaOfSchemas(),
);

/** Draft 7 with what the agent takes besides, and nothing else: an unknown word ends it. */
function schemaOfSchemas(): Schema {
  const draft = new Ajv().getSchema('http://json-schema.org/draft-07/schema')?.schema;
  if (!isObject(draft) || !isObject(draft['properties'])) throw new Error('Ajv has lost draft 7');
  const flag = { type: 'boolean' };
  const besides = {
    $defs: draft['properties']['definitions'],
    nullable: flag,
    deprecated: flag,
    writeOnly: flag,
    contentSchema: { $ref: '#' },
    // Each compared with each of the others would take seconds.
    enum: { type: 'array', minItems: 1 },
  };
  return {
    ...draft,
    $id: 'output-schema',
    $schema: undefined,
    properties: { ...draft['properties'], ...besides },
    additionalProperties: false,
  };
}

function formats() {
  return { regex: isPattern, uri: true, 'uri-reference': true } as const;
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').unicode;
  } catch {
    return false;
  }
}

function describeError(error: NonNullable<typeof isSchema.errors>[number] | undefined): string {
  const { instancePath = '', message = 'is no JSON Schema', params = {} } = error ?? {};
  const unknown: unknown = params['additionalProperty'];
  const which = typeof unknown === 'string' ? ` (${unknown.slice(0, 100)})` : '';
  return `is no JSON Schema that the agent can use: ${instancePath.slice(0, 200)} ${message}${which}`;
}

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    name === '$ref' && typeof member === 'string' ? [member] : refsIn(member),
  );
}

function leadsTo(schema: Schema, ref: string): boolean {
  const steps = ref.slice(2).split('/').map(unescaped);
  let at: unknown = schema;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false;
    at = (at as Schema)[step]; // an array has its members by name, too
  }
  return true;
}

/** A pointer as it stands behind the `#` of an address. */
function unescaped(step: string): string {
  return decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
