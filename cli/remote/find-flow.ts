import type { Flow, Flowrun } from '../../client/index.ts';
import { CliError } from '../format-error.ts';

/** Finds the ID of a flow by its name, or by a unique prefix of its name or ID. */
export async function findFlowId(flowrun: Flowrun, reference: string): Promise<string> {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(reference)) return reference;
  const flows: Flow[] = [];
  for await (const flow of flowrun.flows()) flows.push(flow);
  const named = flows.filter(({ name }) => name === reference);
  const matches =
    named.length > 0
      ? named
      : flows.filter(({ name, flowId }) => [name, flowId].some((id) => id.startsWith(reference)));
  const [match, another] = matches;
  if (match !== undefined && another === undefined) return match.flowId;
  const names = (match === undefined ? flows : matches).map(
    ({ name, flowId }) => `${name} (${flowId})`,
  );
  const problem = match === undefined ? 'No flow is called' : 'Several flows match';
  throw new CliError(`${problem} ${reference}. Flows: ${names.join(', ') || 'none'}.`);
}

/** The names of the flows by ID. */
export async function flowNames(flowrun: Flowrun): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for await (const { flowId, name } of flowrun.flows()) names.set(flowId, name);
  return names;
}
