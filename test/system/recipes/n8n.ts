// Interprets a workflow of n8n: the nodes and parameters that the recipe uses, under the names that
// n8n publishes for these versions of the nodes.

import { runInNewContext } from 'node:vm';
import { z } from 'zod';

const common = {
  id: z.uuid(),
  name: z.string(),
  position: z.tuple([z.number(), z.number()]),
  retryOnFail: z.boolean().optional(),
  maxTries: z.int().max(5).optional(),
  waitBetweenTries: z.int().max(5_000).optional(),
};

const webhookNode = z.strictObject({
  ...common,
  type: z.literal('n8n-nodes-base.webhook'),
  typeVersion: z.literal(2),
  webhookId: z.uuid(),
  parameters: z.strictObject({
    httpMethod: z.literal('POST'),
    path: z.string(),
    responseMode: z.enum(['onReceived', 'lastNode', 'responseNode']),
  }),
});

const httpNode = z.strictObject({
  ...common,
  type: z.literal('n8n-nodes-base.httpRequest'),
  typeVersion: z.literal(4.2),
  parameters: z.strictObject({
    method: z.enum(['GET', 'POST']).default('GET'),
    url: z.string(),
    authentication: z.literal('genericCredentialType'),
    genericAuthType: z.literal('httpBearerAuth'),
    sendBody: z.boolean().default(false),
    specifyBody: z.literal('json').optional(),
    jsonBody: z.string().optional(),
  }),
});

const waitNode = z.strictObject({
  ...common,
  type: z.literal('n8n-nodes-base.wait'),
  typeVersion: z.literal(1.1),
  webhookId: z.uuid(),
  parameters: z.strictObject({
    resume: z.literal('webhook'),
    httpMethod: z.literal('POST'),
    limitWaitTime: z.boolean(),
    resumeAmount: z.number(),
    resumeUnit: z.enum(['minutes', 'hours', 'days']),
  }),
});

const link = z.strictObject({ node: z.string(), type: z.literal('main'), index: z.literal(0) });

const workflowSchema = z.strictObject({
  name: z.string(),
  nodes: z.array(z.discriminatedUnion('type', [webhookNode, httpNode, waitNode])),
  connections: z.record(z.string(), z.strictObject({ main: z.array(z.array(link)) })),
});
type Workflow = z.infer<typeof workflowSchema>;

interface Execution {
  /** The body of the request that starts the workflow. */
  request: unknown;
  bearer: string;
  executionId: string;
  resumeUrl: string;
  /** Called by the wait node. Resolves when the resume URL was called. */
  untilResumed(): Promise<unknown>;
}

type Item = { json: unknown };

/** The output of each node that has run, by its name. A node that may repeat its request does. */
export async function executeWorkflow(
  file: string,
  execution: Execution,
): Promise<Record<string, unknown>> {
  const workflow = workflowSchema.parse(JSON.parse(file));
  const outputs: Record<string, Item> = {};
  let [node] = workflow.nodes;
  let input: Item = { json: null };
  while (node !== undefined) {
    input = { json: await runNode(node, { execution, outputs, input }) };
    outputs[node.name] = input;
    node = nodeAfter(workflow, node.name);
  }
  return Object.fromEntries(Object.entries(outputs).map(([name, { json }]) => [name, json]));
}

function nodeAfter({ nodes, connections }: Workflow, name: string) {
  const next = connections[name]?.main[0]?.[0];
  return nodes.find((node) => node.name === next?.node);
}

interface Scope {
  execution: Execution;
  outputs: Record<string, Item>;
  input: Item;
}

async function runNode(node: Workflow['nodes'][number], scope: Scope): Promise<unknown> {
  const { execution } = scope;
  if (node.type === 'n8n-nodes-base.webhook')
    return { headers: {}, params: {}, query: {}, body: execution.request };
  if (node.type === 'n8n-nodes-base.wait') return { body: await execution.untilResumed() };
  if (node.retryOnFail === true) await request(node.parameters, scope);
  return request(node.parameters, scope);
}

async function request(
  { method, url, sendBody, jsonBody = '' }: z.infer<typeof httpNode>['parameters'],
  scope: Scope,
): Promise<unknown> {
  const body = JSON.stringify(JSON.parse(resolve(jsonBody || '{}', scope)));
  const response = await fetch(resolve(url, scope), {
    method,
    headers: {
      authorization: `Bearer ${scope.execution.bearer}`,
      ...(sendBody && { 'content-type': 'application/json' }),
    },
    ...(sendBody && { body }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.json();
}

/** A parameter that begins with `=` has expressions between `{{` and `}}`. */
function resolve(parameter: string, { execution, outputs, input }: Scope): string {
  if (!parameter.startsWith('=')) return parameter;
  const variables = {
    $json: input.json,
    $execution: { id: execution.executionId, resumeUrl: execution.resumeUrl },
    $: (name: string) => ({ item: outputs[name] }),
  };
  return parameter
    .slice(1)
    .replaceAll(/\{\{(.*?)\}\}(?!\})/gs, (_, expression: string) =>
      String(runInNewContext(expression, variables)),
    );
}
