// Validates a client's JSON Schema against the meta-schema. The schema is never compiled: for some
// short schemas that takes seconds.

import { Ajv, type ValidateFunction } from 'ajv';
import draft from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };

type Schema = Record<string, unknown>;

/** Null if the agent can probably use the schema. */
export function jsonSchemaError(schema: Schema): string | null {
  try {
    const isSchema = (validator ??= compileValidator());
    if (!isSchema(schema)) return describeError(isSchema.errors?.[0]);
    const dangling = refsIn(schema).find((ref) => ref.startsWith('#/') && !resolves(schema, ref));
    return dangling === undefined ? null : `has an unresolvable $ref ${dangling.slice(0, 100)}`;
  } catch (error) {
    if (error instanceof RangeError) return 'is nested too deeply';
    throw error;
  }
}

const supported = schemaOfSchemas();

/** The keywords that a schema may have, as a regular expression. */
export const keywordPattern = `^(?:${keywordsOf(supported).join('|').replaceAll('$', '\\$')})$`;

/** Compiled when a client first sends a schema, because it would delay each start of the API. */
let validator: ValidateFunction | null = null;

const compileValidator = (): ValidateFunction =>
  new Ajv({ logger: false, strict: false, formats: formats() }).compile(supported);

/** Draft 7 with the agent's extensions. The agent rejects any other keyword. */
function schemaOfSchemas(): Schema {
  const flag = { type: 'boolean' };
  const extensions = {
    $defs: draft.properties.definitions,
    nullable: flag,
    deprecated: flag,
    writeOnly: flag,
    contentSchema: { $ref: '#' },
    // `uniqueItems` compares all pairs, which can take seconds.
    enum: { type: 'array', minItems: 1 },
  };
  return {
    ...draft,
    $id: 'output-schema',
    $schema: undefined,
    properties: { ...draft.properties, ...extensions },
    additionalProperties: false,
  };
}

function keywordsOf({ properties }: Schema): string[] {
  return Object.keys(properties as Schema); // of a meta-schema
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

function describeError(error: NonNullable<ValidateFunction['errors']>[number] | undefined): string {
  const { instancePath = '', message = 'is not a JSON Schema', params = {} } = error ?? {};
  const unknown: unknown = params['additionalProperty'];
  const which = typeof unknown === 'string' ? ` (${unknown.slice(0, 100)})` : '';
  return `is not a JSON Schema that the agent supports: ${instancePath.slice(0, 200)} ${message}${which}`;
}

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    name === '$ref' && typeof member === 'string' ? [member] : refsIn(member),
  );
}

function resolves(schema: Schema, ref: string): boolean {
  const steps = ref.slice(2).split('/').map(unescaped);
  let at: unknown = schema;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false;
    at = (at as Schema)[step]; // array members also have names
  }
  return true;
}

/** One step of a JSON pointer in a URL fragment. */
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
