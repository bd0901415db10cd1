import type { FlowRecord } from '../flows/flow-schema.ts';

const prefix = 'flow_';
/** Clients put the name of the server before it, and models accept 64 characters. */
const slugMaxChars = 32;

export const isFlowToolName = (name: unknown): boolean =>
  typeof name === 'string' && name.startsWith(prefix);

/** Names for the tools of flows. If two names would be the same, both contain the flow's ID. */
export function flowToolNames(flows: readonly Pick<FlowRecord, 'flowId' | 'name'>[]) {
  const slugs = flows.map(({ name }) => slugOf(name));
  return flows.map(({ flowId }, index) => {
    const slug = slugs[index] ?? '';
    const isUnique = slug !== '' && slugs.filter((other) => other === slug).length === 1;
    return isUnique ? `${prefix}${slug}` : `${prefix}${[slug, flowId.slice(0, 8)].join('_')}`;
  });
}

const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
    .slice(0, slugMaxChars);
