// Converts the description into a Postman collection whose requests work once the variables are
// set. The same description yields the same bytes.

import { convertV2 } from 'openapi-to-postmanv2';
import { isNode, mapNodes, type Node, nodeIn } from '../../api/openapi/json-tree.ts';

const options = {
  folderStrategy: 'Tags',
  enableOptionalParameters: false,
  alwaysInheritAuthentication: true,
} as const;

/** Examples of bodies without required fields. */
const exampleBodies: Record<string, unknown> = {
  triggerRun: { prompt: 'Write hello.md' },
  changeLabels: { labels: { stage: 'review' } },
};

export async function makeCollection(description: object): Promise<Node> {
  const keyed = withoutOperators(JSON.parse(JSON.stringify(description)) as Node);
  const plain = mapNodes(keyed, forCollection);
  const collection = mapNodes(await convert(plain), withoutChance);
  return { ...collection, variable: [...listOf(collection['variable']), ...ownVariables(plain)] };
}

/** The requests of a collection carry a key, which operations for operators do not accept. */
function withoutOperators(description: Node): Node {
  const paths = Object.entries(nodeIn(description, 'paths'));
  const kept = paths.filter(([path]) => path.startsWith('/api/v1/'));
  const tags = listOf(description['tags']).filter(
    (tag) => !isNode(tag) || tag['name'] !== 'Operators',
  );
  return { ...description, tags, paths: Object.fromEntries(kept) };
}

function convert(data: object): Promise<Node> {
  return new Promise((resolve, reject) => {
    convertV2({ type: 'json', data }, options, (error, result) => {
      const collection: unknown = result?.output?.[0]?.data;
      if (isNode(collection)) resolve(collection);
      else reject(new Error(`no collection was made: ${JSON.stringify(error ?? result)}`));
    });
  });
}

/** Drops optional fields and responses, which the converter would fill with invented values. */
function forCollection(node: Node): Node {
  if (typeof node['operationId'] === 'string') return operationAlone(node);
  const { pattern: _, enum: values, properties, required, ...rest } = node;
  if (Array.isArray(values)) return { ...rest, enum: values.slice(0, 1) };
  if (!isNode(properties)) return rest;
  const needed = Array.isArray(required) ? required : [];
  const kept = Object.entries(properties).filter(([name]) => needed.includes(name));
  return { ...rest, properties: Object.fromEntries(kept), required: needed };
}

function operationAlone(node: Node): Node {
  const { responses: _, requestBody, ...operation } = node;
  const example = exampleBodies[String(operation['operationId'])];
  const content = { 'application/json': { schema: schemaOf(example) } };
  const needed = isNode(requestBody) && requestBody['required'] === true ? requestBody : undefined;
  const body = example === undefined ? needed : { content };
  return {
    ...operation,
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { default: { description: 'See the description of the interface.' } },
  };
}

/** A schema that accepts only this value. */
function schemaOf(value: unknown): Node {
  if (!isNode(value)) return { type: typeof value, enum: [value] };
  const properties = Object.entries(value).map(([name, member]) => [name, schemaOf(member)]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: Object.keys(value),
  };
}

/** Removes the ids, which are random and not required, and turns path parameters into variables. */
function withoutChance(node: Node): Node {
  const { id: _, _postman_id: __, ...rest } = node;
  if (!Array.isArray(rest['variable']) || !('host' in rest)) return rest;
  const variable = rest['variable'].filter(isNode).map((each) => ({
    ...each,
    value: `{{${String(each['key'])}}}`,
  }));
  return { ...rest, variable };
}

/** Declares the key and every path parameter. */
function ownVariables(description: Node): Node[] {
  const paths = Object.keys(description['paths'] as Node).join('');
  const names = new Set([...paths.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  return ['bearerToken', ...names].map((key) => ({ key, value: '' }));
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
