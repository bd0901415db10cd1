import type { Ajv2020 } from 'ajv/dist/2020.js';
import { isNode, type Node } from '../../../../api/openapi/json-tree.ts';
import type { Parameter } from './operations.ts';
import type { FuzzRequest } from './requests.ts';

type Ajv = InstanceType<typeof Ajv2020>;

/**
 * Whether the part of a request that an error names is as described: a field of the body, or a
 * parameter of the query. False if the error names neither.
 */
export function createFitCheck(ajv: Ajv, document: Node) {
  const compiled = new Map<Node, (value: unknown) => boolean>();

  function isDescribed(schema: Node, value: unknown): boolean {
    const { components } = document;
    const fits = compiled.get(schema) ?? ajv.compile({ ...schema, components });
    compiled.set(schema, fits);
    return fits(value);
  }

  function fitsQuery(query: URLSearchParams, parameters: Parameter[]): boolean {
    const known = parameters.filter((each) => each.in === 'query');
    const names = new Set(query.keys());
    return (
      [...names].every((name) => known.some((each) => each.name === name)) &&
      known.every(({ name, schema }) => {
        const values = query.getAll(name);
        return values.length === 0 || isDescribed(schema, valueOf(schema, values));
      })
    );
  }

  return ({ operation, path, body }: FuzzRequest, message: string): boolean => {
    if (message.startsWith('body')) return fitsBody(operation.body, body);
    if (!message.startsWith('query')) return false;
    const query = path.includes('?') ? path.slice(path.indexOf('?') + 1) : '';
    return fitsQuery(queryOf(query), operation.parameters);
  };

  function fitsBody(schema: Node | null, text: string | undefined): boolean {
    if (schema === null || text === undefined) return false;
    const value = parsed(text);
    return isNode(value) && isDescribed(schema, value);
  }
}

/** `URLSearchParams` would ignore a leading question mark, which the service does not. */
const queryOf = (text: string): URLSearchParams => new URLSearchParams(`?${text}`);

/** A parameter that is no list must not be repeated. */
function valueOf({ type }: Node, values: string[]): unknown {
  if (type === 'array') return values;
  if (values.length > 1) return values;
  const [text = ''] = values;
  return type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
