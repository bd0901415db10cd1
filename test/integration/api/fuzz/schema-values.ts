// Values generated from JSON schemas: valid, almost valid and unrelated ones.

import fc from 'fast-check';
import { isNode, type Node } from '../../../../api/openapi/json-tree.ts';

export type Values = fc.Arbitrary<unknown>;

/** For the schemas of a document, whose references are resolved. */
export function schemaValues(document: Node) {
  function fitting(schema: Node, depth = 0): Values {
    const { $ref, anyOf, enum: values, const: only } = schema;
    if (typeof $ref === 'string') return fitting(referred(document, $ref), depth);
    if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((each: Node) => fitting(each, depth)));
    if (Array.isArray(values)) return fc.constantFrom(...values);
    if (only !== undefined) return fc.constant(only);
    return ofType(schema, depth);
  }

  function ofType(schema: Node, depth: number): Values {
    switch (schema['type']) {
      case 'string':
        return strings(schema);
      case 'integer':
        return fc.integer(bounds(schema));
      case 'number':
        return fc.double({ ...bounds(schema), noNaN: true });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array':
        return fc.array(fitting(nodeOr(schema['items']), depth + 1), {
          minLength: numberIn(schema, 'minItems') ?? 0,
          maxLength: Math.min(numberIn(schema, 'maxItems') ?? 3, 3),
        });
      case 'object':
        return objects(schema, depth);
      default:
        return fc.jsonValue();
    }
  }

  function objects(schema: Node, depth: number): Values {
    const properties = Object.entries(nodeOr(schema['properties']));
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    const optional = properties.map(([name]) => name).filter((name) => !required.includes(name));
    // Only a few optional members at a time, because with all of them one is always invalid.
    const known = fc
      .subarray(optional, { maxLength: Math.min(3, optional.length) })
      .chain((some) => {
        const kept = properties.filter(([name]) => required.includes(name) || some.includes(name));
        return fc.record(
          Object.fromEntries(kept.map(([name, each]) => [name, fitting(each as Node, depth + 1)])),
        );
      });
    const { additionalProperties } = schema;
    if (!isNode(additionalProperties)) return known;
    const names = strings({ type: 'string', ...nodeOr(schema['propertyNames']) });
    const others = fc.dictionary(names as fc.Arbitrary<string>, fitting(additionalProperties), {
      maxKeys: 3,
    });
    return fc.tuple(known, others).map(([one, other]) => ({ ...one, ...other }));
  }

  /** A valid value in which one node, or the whole, is replaced. */
  const hostile = (schema: Node): Values =>
    fc.oneof(
      { weight: 3, arbitrary: fc.tuple(fitting(schema), junk, fc.nat()).map(spoil) },
      { weight: 1, arbitrary: junk },
    );

  return { fitting: (schema: Node) => fitting(schema), hostile };
}

function strings(schema: Node): Values {
  const { pattern, format } = schema;
  const length = {
    minLength: numberIn(schema, 'minLength') ?? 0,
    maxLength: Math.min(numberIn(schema, 'maxLength') ?? 40, 300),
  };
  if (format === 'uuid') return fc.uuid();
  if (format === 'uri') return fc.webUrl({ validSchemes: ['https'] });
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((at) => at.toISOString());
  if (typeof pattern === 'string') return matching(pattern);
  return fc.oneof(fc.string(length), fc.string({ ...length, unit: 'grapheme' }));
}

/** Not every pattern can be used to generate values. */
function matching(pattern: string): Values {
  try {
    return fc.stringMatching(new RegExp(pattern), { size: 'small' });
  } catch {
    return fc.string();
  }
}

export const junk: Values = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('x'.repeat(3_000), '😀'.repeat(600), '\n'.repeat(500), 'é'.repeat(257)),
  fc.constantFrom('', '\0', '\ud800', '../../etc/passwd', '${HOME}', '__proto__', "';--", '%00'),
  fc.constantFrom(-1, 0, 1e308, -0, 2 ** 53, 2 ** 31, 0.1),
  fc.constantFrom(null, true, [], {}, [[]], { __proto__: null }, { constructor: { prototype: 1 } }),
  fc.jsonValue({ maxDepth: 4 }),
  fc.constant(nested(2_000)),
);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Replaces the node that a number selects, or adds a member. */
function spoil([value, other, choice]: [unknown, unknown, number]): unknown {
  if (!isNode(value)) return Array.isArray(value) && choice % 2 === 0 ? [...value, other] : other;
  const names = [...Object.keys(value), 'unheardOf'];
  const name = names[choice % names.length] ?? '';
  const inner = value[name];
  const deeper = isNode(inner) || Array.isArray(inner);
  const next = Math.floor(choice / names.length);
  return { ...value, [name]: deeper && next % 3 > 0 ? spoil([inner, other, next]) : other };
}

export function referred(document: Node, ref: string): Node {
  let at: unknown = document;
  for (const step of ref.slice('#/'.length).split('/')) at = nodeOr(at)[step];
  return nodeOr(at);
}

const nodeOr = (value: unknown): Node => (isNode(value) ? value : {});

function bounds(schema: Node) {
  const { minimum, maximum } = schema;
  return {
    ...(typeof minimum === 'number' ? { min: minimum } : {}),
    ...(typeof maximum === 'number' ? { max: maximum } : {}),
  };
}

function numberIn(schema: Node, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
}
