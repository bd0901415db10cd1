/** Counts by kind: node type and constructor. */
export type ObjectCounts = Map<string, number>;

interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[], ...unknown[]] } };
  nodes: number[];
  strings: string[];
}

/**
 * Objects of the JavaScript engine, which compiles and caches for hundreds of runs in any program.
 */
const engines = new Set(['code', 'hidden', 'object shape', 'synthetic']);

/** Adds the objects of a heap. */
export function countObjects(json: string, counts: ObjectCounts): void {
  const { snapshot, nodes, strings } = JSON.parse(json) as Snapshot; // the engine's own format
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt] = [fields.indexOf('type'), fields.indexOf('name')];
  for (let node = 0; node < nodes.length; node += fields.length) {
    const type = types[0][nodes[node + typeAt] ?? -1] ?? '';
    if (engines.has(type)) continue;
    // The name of a string node is its text.
    const name = type.includes('string') ? '' : strings[nodes[node + nameAt] ?? -1];
    const kind = `${type} ${name}`.trim();
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
}

/** The kinds that grew by at least that many objects, and their growth. */
export function grownBy(least: number, before: ObjectCounts, after: ObjectCounts) {
  return [...after]
    .map(([kind, count]) => ({ kind, grown: count - (before.get(kind) ?? 0) }))
    .filter(({ grown }) => grown >= least);
}
