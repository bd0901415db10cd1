import type { Flow } from '../generated/types.ts';
import { NotFound, ValidationError } from '../http/errors.ts';
import type { Http } from '../http/http.ts';

/** The flows of the key, by name or ID. */
export interface FlowNames {
  /** Names are looked up again after a minute. */
  idOf(flow: string): Promise<string>;
  /**
   * Calls `work` with the ID of a flow. The flow of a remembered name may have been archived since,
   * and another one may have the name: then `work` is called again.
   */
  withFlow<T>(flow: string, work: (flowId: string) => Promise<T>): Promise<T>;
}

interface Finding {
  flowId: Promise<string>;
  atMs: number;
}

/** Another flow can get the name. */
const knownForMs = 60_000;

export function createFlowNames(http: Http): FlowNames {
  const findings = new Map<string, Finding>();

  function remembered(name: string): Finding | null {
    const known = findings.get(name);
    return known !== undefined && performance.now() - known.atMs < knownForMs ? known : null;
  }

  function lookUp(name: string): Finding {
    const finding = { flowId: findFlowId(http, name), atMs: performance.now() };
    findings.set(name, finding);
    finding.flowId.catch(() => {
      if (findings.get(name) === finding) findings.delete(name);
    });
    return finding;
  }

  return {
    idOf: async (flow) => (isUuid(flow) ? flow : (remembered(flow) ?? lookUp(flow)).flowId),
    async withFlow(flow, work) {
      if (isUuid(flow)) return work(flow);
      const known = remembered(flow);
      if (known === null) return work(await lookUp(flow).flowId);
      const flowId = await known.flowId;
      try {
        return await work(flowId);
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        const another = await lookUp(flow).flowId;
        if (another === flowId) throw error;
        return work(another);
      }
    },
  };
}

async function findFlowId(http: Http, name: string): Promise<string> {
  const found: string[] = [];
  for await (const flow of http.items<Flow>({ path: '/flows' })) {
    if (flow.name === name) found.push(flow.flowId);
  }
  const [flowId, another] = found;
  if (flowId === undefined) {
    throw new NotFound({ code: 'NOT_FOUND', message: `No flow has the name ${name}.` });
  }
  if (another !== undefined) {
    const message = `Several flows have the name ${name}. Use an ID: ${found.join(', ')}.`;
    throw new ValidationError({ code: 'VALIDATION_ERROR', message });
  }
  return flowId;
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
