import { limits } from '../core/limits.ts';
import type { Stores } from './deps.ts';

type Flows = Stores['flows'];
type Flow = Awaited<ReturnType<Flows['create']>>;

/** Reads all pages. */
export async function listFlows(
  flows: Flows,
  project: string,
  isArchived = false,
): Promise<Flow[]> {
  const all: Flow[] = [];
  const { maxItems: limit, flowsMaxBytes: maxBytes } = limits.page;
  for (let after: string | null = ''; after !== null; ) {
    const from = after === '' ? {} : { after };
    const page = await flows.listByProject(project, { limit, maxBytes, isArchived, ...from });
    all.push(...page.flows);
    after = page.next;
  }
  return all;
}
