import { isNode, type Node } from '../../../../api/openapi/json-tree.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Node;
}

/** One operation of the description. */
export interface Operation {
  operationId: string;
  method: string;
  path: string;
  parameters: Parameter[];
  body: Node | null;
  responses: Record<string, Node>;
}

export function operationsOf(document: Node): Operation[] {
  return Object.entries(document['paths'] as Record<string, Record<string, Node>>).flatMap(
    ([path, item]) =>
      Object.entries(item).map(([method, operation]) => readOperation(path, method, operation)),
  );
}

function readOperation(path: string, method: string, operation: Node): Operation {
  const { operationId, parameters = [], requestBody, responses } = operation;
  return {
    operationId: String(operationId),
    method: method.toUpperCase(),
    path,
    parameters: parameters as Parameter[],
    body: bodySchema(requestBody),
    responses: responses as Record<string, Node>,
  };
}

function bodySchema(requestBody: unknown): Node | null {
  if (!isNode(requestBody)) return null;
  const { content } = requestBody as { content: Record<string, { schema: Node }> };
  return content['application/json']?.schema ?? {};
}
