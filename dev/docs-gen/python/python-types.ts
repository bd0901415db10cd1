// Types of Python for the schemas of the OpenAPI document.

import { clientName, nameIn, type Schema } from '../client-schemas.ts';

/** Renders the objects within other objects: a class, or a mapping. */
export type ObjectType = (name: string, schema: Schema) => string;

interface TypeContext {
  /** For an object without a better name. */
  name: string;
  objectType: ObjectType;
  /** Of a request: callers may pass any mapping and any sequence. */
  isInput: boolean;
}

export function pythonType(schema: Schema, context: TypeContext): string {
  const at = (part: Schema): string => pythonType(part, context);
  const { $ref, anyOf, type } = schema;
  if ($ref !== undefined) return clientName(nameIn($ref));
  if (anyOf !== undefined) return union(anyOf.map(at));
  if (Array.isArray(type)) return union(type.map((each) => at({ ...schema, type: each })));
  const values = schema.const === undefined ? schema.enum : [schema.const];
  if (values !== undefined && type === 'string') return openLiteral(values, context);
  switch (type) {
    case 'string':
      return schema.format === 'date-time' && !context.isInput ? 'datetime' : 'str';
    case 'boolean':
      return 'bool';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'null':
      return 'None';
    case 'array':
      return `${context.isInput ? 'Sequence' : 'list'}[${at(schema.items ?? {})}]`;
    case 'object':
      return schema.properties === undefined || schema.propertyNames !== undefined
        ? `${context.isInput ? 'Mapping' : 'dict'}[str, ${valueType(schema, at)}]`
        : context.objectType(context.name, schema);
    default:
      return 'Any';
  }
}

/** The service may add values, and a client must accept them. */
function openLiteral(values: unknown[], { isInput }: TypeContext): string {
  const literal = `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
  return isInput ? literal : `Union[${literal}, str]`;
}

function valueType({ additionalProperties }: Schema, at: (part: Schema) => string): string {
  return typeof additionalProperties === 'object' ? at(additionalProperties) : 'Any';
}

function union(types: string[]): string {
  const present = [...new Set(types)].filter((type) => type !== 'None');
  const [only = 'None'] = present;
  const joined = present.length > 1 ? `Union[${present.join(', ')}]` : only;
  return types.includes('None') && only !== 'Any' ? `Optional[${joined}]` : joined;
}

const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|[_.])([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A field can have no name that a class of pydantic uses. */
const reserved = new Set(['copy', 'dict', 'json', 'schema', 'construct', 'validate', 'from', 'in']);

export function fieldName(name: string): string {
  const own = snakeCase(name);
  if (!/^[a-z]\w*$/.test(own) || reserved.has(own) || own.startsWith('model_'))
    throw new Error(`The field ${name} needs another name in Python.`);
  return own;
}

export const docOf = ({ description }: Schema, indent: string): string =>
  description === undefined
    ? ''
    : `${indent}"""${description.replaceAll('\\', '\\\\').replace(/"$/, '" ')}"""\n`;
