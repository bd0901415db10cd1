/** Makes a value that matches a JSON Schema, with `words` as free text. */
export function exampleOfSchema(schema: unknown, words: string): unknown {
  return example(schema, { root: schema, words, depth: 0 });
}

interface Context {
  root: unknown;
  words: string;
  depth: number;
}

const maxDepth = 12;

function example(schema: unknown, context: Context): unknown {
  if (!isObject(schema) || context.depth > maxDepth) return context.words;
  const inner = { ...context, depth: context.depth + 1 };
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  const listed = firstOf(schema['enum']) ?? firstOf(schema['examples']);
  if (listed !== undefined) return listed;
  if (typeof schema['$ref'] === 'string') return example(resolve(schema['$ref'], context), inner);
  const branch = firstOf(schema['anyOf']) ?? firstOf(schema['oneOf']) ?? firstOf(schema['allOf']);
  if (branch !== undefined) return example(branch, inner);
  return exampleOfType(schema, inner);
}

function exampleOfType(schema: Fields, context: Context): unknown {
  switch (typeOf(schema)) {
    case 'object':
      return exampleObject(schema, context);
    case 'array':
      return Array.from({ length: Math.max(1, numberOr(schema['minItems'], 1)) }, () =>
        example(schema['items'], context),
      );
    case 'integer':
    case 'number':
      return exampleNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleString(schema, context.words);
  }
}

function typeOf(schema: Fields): unknown {
  const type = firstOf(schema['type']) ?? schema['type'];
  return type ?? ('properties' in schema ? 'object' : 'items' in schema ? 'array' : 'string');
}

function exampleObject(schema: Fields, context: Context): Fields {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, example(property, context)]),
  );
}

function exampleNumber(schema: Fields): number {
  const atLeast = numberOr(schema['minimum'], numberOr(schema['exclusiveMinimum'], 0) + 1);
  const atMost = numberOr(schema['maximum'], numberOr(schema['exclusiveMaximum'], Infinity) - 1);
  return Math.min(Math.max(1, atLeast), atMost);
}

const formatted: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function exampleString(schema: Fields, words: string): string {
  const fixed = formatted[String(schema['format'])];
  if (fixed !== undefined) return fixed;
  const shortest = numberOr(schema['minLength'], 0);
  return words
    .padEnd(shortest, '.')
    .slice(0, numberOr(schema['maxLength'], words.length + shortest));
}

function resolve(reference: string, { root }: Context): unknown {
  return reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '')
    .reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), root);
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
