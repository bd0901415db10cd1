import { isNode, mapMembers, mapNodes, type Node, nodeIn } from './json-tree.ts';
import { reachedRefs } from './prune-components.ts';

/** Responses may have unknown fields; requests may not. */
export function relaxResponses(document: Node): Node {
  const components = nodeIn(document, 'components');
  const operations = Object.values(nodeIn(document, 'paths')).filter(isNode).flatMap(Object.values);
  const answers = operations.filter(isNode).map(({ responses }) => responses);
  const inResponses = reachedRefs([answers, document['webhooks']], components);
  const schemas = mapMembers(nodeIn(components, 'schemas'), (name, schema) => [
    name,
    inResponses.has(`#/components/schemas/${name}`)
      ? mapNodes(schema as Node, allowUnknownMembers)
      : schema,
  ]);
  return { ...document, components: { ...components, schemas } };
}

export function allowUnknownMembers(node: Node): Node {
  if (node['additionalProperties'] !== false) return node;
  const { additionalProperties: _, ...rest } = node;
  return rest;
}
