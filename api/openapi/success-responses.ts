import { STATUS_CODES } from 'node:http';
import { type HeaderName, headerRefs } from './error-responses.ts';
import { isNode, mapNodes, type Node, nodeIn } from './json-tree.ts';
import { allowUnknownMembers } from './relax-responses.ts';

interface SuccessInput {
  status: string;
  response: Node;
  /** The names of the operation's parameters. */
  parameters: string[];
  operationId: unknown;
}

export function successResponse({ status, response, ...operation }: SuccessInput): Node {
  const { content, ...rest } = mapNodes(response, allowUnknownMembers);
  const hasBody = status !== '204' && status !== '304';
  return {
    ...rest,
    description: STATUS_CODES[Number(status)],
    headers: headerRefs(...extraHeaders(status, operation)),
    ...(hasBody ? { content: withMediaType(content) } : {}),
  };
}

function extraHeaders(
  status: string,
  { parameters, operationId }: Pick<SuccessInput, 'parameters' | 'operationId'>,
): HeaderName[] {
  if (status === '201') {
    return operationId === 'openSession' ? ['Location', 'Session-Resumed'] : ['Location'];
  }
  if (status === '206') return ['ETag', 'Content-Disposition', 'Content-Range'];
  if (status === '304') return ['ETag'];
  if (String(operationId).startsWith('download')) return ['ETag', 'Content-Disposition'];
  const tag: HeaderName[] = /Flow(Files?|(Compressed)?Archive)$/.test(String(operationId))
    ? ['ETag']
    : [];
  if (parameters.includes('cursor')) return [...tag, 'Link'];
  if (tag.length > 0) return tag;
  return parameters.includes('Idempotency-Key') ? ['Idempotency-Replayed'] : [];
}

/** The schema states the media type of content that is not JSON. */
function withMediaType(content: unknown): unknown {
  if (!isNode(content)) return content;
  const { schema } = nodeIn(content, 'application/json');
  if (!isNode(schema)) return content;
  const { contentMediaType, format } = schema;
  if (typeof contentMediaType === 'string') return { [contentMediaType]: { schema } };
  return format === 'binary' ? { 'application/octet-stream': { schema } } : content;
}
