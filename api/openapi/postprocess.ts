import { filePathPattern } from '../../core/files/file-path.ts';
import { limits } from '../../core/limits.ts';
import { tagOf } from './document.ts';
import { errorName, errorResponses, headers } from './error-responses.ts';
import { isNode, mapMembers, mapNodes, type Node, nodeIn } from './json-tree.ts';
import { pruneComponents } from './prune-components.ts';
import { relaxResponses } from './relax-responses.ts';
import { successResponse } from './success-responses.ts';

/** An OpenAPI document as plain JSON. */
export type Document = Node & { paths: Node; components: Node };

/**
 * Prepares the generated document for client generators: portable parameter names, one description
 * of each error, and no unused components.
 */
export function postprocess(document: Document): Document {
  const paths = mapMembers(document.paths, (path, item) => [
    withFilePath(path),
    postprocessPath(withFilePath(path), item as Node),
  ]);
  const components = { ...document.components, headers, responses: errorResponses() };
  const used = pruneComponents(mapNodes({ ...document, paths, components }, withoutNoise));
  return relaxResponses(used) as Document; // its top-level members are unchanged
}

/** The star in a route is the path of a file. */
const withFilePath = (text: string) => text.replace('{*}', '{filePath}');

function postprocessPath(path: string, item: Node): Node {
  return mapMembers(item, (method, operation) => [
    method,
    postprocessOperation({ path, method }, operation as Node),
  ]);
}

function postprocessOperation(
  { path, method }: { path: string; method: string },
  operation: Node,
): Node {
  const { parameters, requestBody } = operation;
  const named = Array.isArray(parameters) ? parameters.map(postprocessParameter) : [];
  const names = named.map(({ name }) => String(name));
  return {
    tags: [tagOf(path)],
    ...operation,
    ...(named.length === 0 ? {} : { parameters: named }),
    ...(isNode(requestBody) ? { requestBody: postprocessBody(requestBody) } : {}),
    responses: postprocessResponses(withCommonErrors(method, operation), {
      parameters: names,
      operationId: operation.operationId,
    }),
  };
}

function postprocessParameter(parameter: Node): Node {
  if (parameter.in === 'path' && parameter.name === '*') return filePath(parameter);
  if (parameter.in !== 'header') return parameter;
  const name = String(parameter.name).replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());
  return { ...parameter, name };
}

/** The route has no schema for it, because its rules reject a path with their own reasons. */
function filePath(parameter: Node): Node {
  const schema = {
    type: 'string',
    minLength: 1,
    maxLength: limits.file.pathMaxBytes,
    pattern: filePathPattern,
  };
  return { ...parameter, name: 'filePath', schema };
}

/** A JSON body without required fields may be omitted. */
function postprocessBody(body: Node): Node {
  const json = nodeIn(nodeIn(body, 'content'), 'application/json');
  const { required } = nodeIn(json, 'schema');
  const isJson = Object.keys(json).length > 0;
  return { ...body, required: !isJson || (Array.isArray(required) && required.length > 0) };
}

/**
 * Every request may be malformed or too slow, and have too long a path or too large headers. A body
 * may also be too large or of the wrong type, even if the operation does not need one.
 */
function withCommonErrors(method: string, { responses }: Node): Node {
  return {
    ...{ 400: {}, 408: {}, 414: {}, 431: {}, 500: {}, 503: {} },
    ...(method === 'get' ? {} : { 413: {}, 415: {} }),
    ...(responses as Node),
  };
}

/** OpenAPI requires a success or a default response, also for routes that never succeed. */
function postprocessResponses(
  responses: Node,
  operation: { parameters: string[]; operationId: unknown },
): Node {
  const processed = mapMembers(responses, (status, response) => [
    status,
    Number(status) >= 400
      ? { $ref: `#/components/responses/${errorName(status)}` }
      : successResponse({ status, response: response as Node, ...operation }),
  ]);
  const succeeds = Object.keys(responses).some((status) => Number(status) < 400);
  return succeeds ? processed : { ...processed, default: { $ref: '#/components/responses/Error' } };
}

/** Removes the bounds of JavaScript's safe integers, and digit patterns of integers. */
function withoutNoise(node: Node): Node {
  const kept = Object.entries(node).filter(([name, value]) => !isNoise(node, name, value));
  return Object.fromEntries(kept);
}

function isNoise(node: Node, name: string, value: unknown): boolean {
  if (name === 'minimum') return value === Number.MIN_SAFE_INTEGER;
  if (name === 'maximum') return value === Number.MAX_SAFE_INTEGER;
  return name === 'pattern' && node['type'] === 'integer';
}
