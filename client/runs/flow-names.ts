import type { Flow } from '../generated/types.ts';
import { NotFound } from '../http/errors.ts';
import type { Http } from '../http/http.ts';

/** Finds the ID of a flow by its name, and remembers it: names may change, IDs do not. */
export function createFlowNames(http: Http): (flow: string) => Promise<string> {
  const known = new Map<string, Promise<string>>();

  async function find(name: string): Promise<string> {
    for await (const flow of http.items<Flow>({ path: '/flows' })) {
      if (flow.name === name) return flow.flowId;
    }
    throw new NotFound({ code: 'NOT_FOUND', message: `No flow has the name ${name}.` });
  }

  return (flow) => {
    if (isUuid(flow)) return Promise.resolve(flow);
    const finding = known.get(flow) ?? find(flow);
    known.set(flow, finding);
    finding.catch(() => known.delete(flow));
    return finding;
  };
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
