/** An object of a JSON document. */
export type Node = Record<string, unknown>;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function nodeIn(node: Node, name: string): Node {
  const member = node[name];
  return isNode(member) ? member : {};
}

/** A copy with changed names and values of its members. */
export function mapMembers(
  node: Node,
  change: (name: string, value: unknown) => readonly [string, unknown],
): Node {
  return Object.fromEntries(Object.entries(node).map(([name, value]) => change(name, value)));
}

/** A copy with `change` applied to every object, inner ones first. */
export function mapNodes(node: Node, change: (node: Node) => Node): Node {
  const within = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(within);
    return isNode(value) ? mapNodes(value, change) : value;
  };
  return change(mapMembers(node, (name, value) => [name, within(value)]));
}

/** Every `$ref` below a value. */
export function refsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(refsIn);
  if (!isNode(value)) return [];
  const own = typeof value['$ref'] === 'string' ? [value['$ref']] : [];
  return [...own, ...Object.values(value).flatMap(refsIn)];
}
