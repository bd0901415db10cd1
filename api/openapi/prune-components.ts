import { mapNodes, type Node, nodeIn, refsIn } from './json-tree.ts';

const at = '#/components/';
const kinds = ['schemas', 'responses', 'headers'] as const;

/**
 * Every named schema is generated twice, for requests (`RunInput`) and responses (`Run`). Merges
 * equal pairs and removes components without references.
 */
export function pruneComponents(document: Node): Node {
  const schemas = nodeIn(nodeIn(document, 'components'), 'schemas');
  const merged = mapNodes(document, (node) => mergedRef(node, schemas));
  const components = nodeIn(merged, 'components');
  const used = usedRefs(merged);
  const kept = kinds.map((kind) => [kind, keptOf(kind, nodeIn(components, kind), used)] as const);
  return { ...merged, components: { ...components, ...Object.fromEntries(kept) } };
}

function mergedRef(node: Node, schemas: Node): Node {
  const { $ref } = node;
  if (typeof $ref !== 'string' || !$ref.endsWith('Input')) return node;
  const twin = $ref.slice(0, -'Input'.length);
  const [one, other] = [$ref, twin].map((ref) => schemas[ref.slice(`${at}schemas/`.length)]);
  return JSON.stringify(one) === JSON.stringify(other) ? { ...node, $ref: twin } : node;
}

/** Everything that the paths refer to. */
function usedRefs(document: Node): Set<string> {
  const { components, ...rest } = document;
  return reachedRefs(rest, components as Node); // always present
}

/** All direct and indirect references. */
export function reachedRefs(from: unknown, components: Node): Set<string> {
  const reached = new Set<string>();
  const waiting = refsIn(from);
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    if (reached.has(ref)) continue;
    reached.add(ref);
    const [kind = '', name = ''] = ref.slice(at.length).split('/');
    waiting.push(...refsIn(nodeIn(components, kind)[name]));
  }
  return reached;
}

function keptOf(kind: string, parts: Node, used: Set<string>): Node {
  const kept = Object.entries(parts).filter(([name]) => used.has(`${at}${kind}/${name}`));
  return Object.fromEntries(kept.sort(([one], [other]) => (one < other ? -1 : 1)));
}
