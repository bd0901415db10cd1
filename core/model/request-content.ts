import { isObject, type JsonObject } from '../json.ts';

/** A field for which the gateway refuses a request. `message` begins with the path of the field. */
export interface Refusal {
  field: string;
  message: string;
}

/**
 * The first field of a request that makes the model API act outside the sandbox (call a server,
 * fetch a URL, read a stored file, run code), or that is unknown. Null if there is none. The input
 * of a tool call and the schema of a tool's input may contain anything, because they are only data
 * for the agent.
 */
export function findForbiddenContent(body: JsonObject): Refusal | null {
  return (
    unknownKey(body, requestFields, '') ??
    firstOf(body['tools'], 'tools', forbiddenTool) ??
    forbiddenContent(body['system'], 'system') ??
    firstOf(body['messages'], 'messages', forbiddenMessage)
  );
}

/** The fields that the pinned agent sends, and the other parameters of sampling. */
const requestFields = new Set(
  (
    'model messages system tools tool_choice metadata max_tokens stream thinking temperature top_p ' +
    'top_k stop_sequences context_management output_config cache_control fallback_credit_token'
  ).split(' '),
);

const messageFields = new Set(['role', 'content', 'output_config']);

/** Tools that the agent runs itself. All others run on servers of the model API. */
const clientTool = /^(?:custom|(?:bash|text_editor|computer|memory)_\d{8})$/;

const blockTypes = new Set(
  (
    'text image document search_result thinking redacted_thinking tool_use tool_result ' +
    'tool_reference tool_addition tool_removal'
  ).split(' '),
);

const inlineSources = new Set(['base64', 'text', 'content']);

/** Fields that refer to something stored at the model API. */
const storedReferences = new Set(
  'file_id file_ids files container container_id mcp_servers'.split(' '),
);

function forbiddenMessage(message: unknown, path: string): Refusal | null {
  if (!isObject(message)) return wrongShape(path, 'an object');
  return (
    unknownKey(message, messageFields, `${path}.`) ??
    forbiddenContent(message['content'], `${path}.content`)
  );
}

function forbiddenContent(content: unknown, path: string): Refusal | null {
  if (isAbsent(content) || typeof content === 'string') return null;
  return firstOf(content, path, forbiddenBlock);
}

function forbiddenBlock(block: unknown, path: string): Refusal | null {
  if (!isObject(block)) return wrongShape(path, 'an object');
  const { type, source, tool, tools, content, tool_changes, tool_references, ...rest } = block;
  if (typeof type !== 'string' || !blockTypes.has(type)) return unknownType(`${path}.type`, type);
  const { input: _input, ...others } = rest;
  return (
    forbiddenSource(source, { path: `${path}.source`, mayBeText: type === 'search_result' }) ??
    forbiddenContent(content, `${path}.content`) ??
    forbiddenContent(tool_changes, `${path}.tool_changes`) ??
    forbiddenContent(tool_references, `${path}.tool_references`) ??
    forbiddenToolChange(tool, `${path}.tool`) ??
    firstOf(tools, `${path}.tools`, forbiddenTool) ??
    findStoredReference(type === 'tool_use' ? others : rest, path)
  );
}

function forbiddenSource(
  source: unknown,
  { path, mayBeText }: { path: string; mayBeText: boolean },
): Refusal | null {
  if (isAbsent(source) || (mayBeText && typeof source === 'string')) return null;
  if (!isObject(source)) return wrongShape(path, 'an object');
  const { type, content, ...rest } = source;
  if (typeof type !== 'string' || !inlineSources.has(type)) {
    return forbidden(`${path}.type`, `${quoted(type)} is not an inline source`);
  }
  return forbiddenContent(content, `${path}.content`) ?? findStoredReference(rest, path);
}

function forbiddenTool(tool: unknown, path: string): Refusal | null {
  if (!isObject(tool)) return wrongShape(path, 'an object');
  const { type, input_schema: _schema, input_examples: _examples, ...rest } = tool;
  if (!isAbsent(type) && !(typeof type === 'string' && clientTool.test(type))) {
    return forbidden(`${path}.type`, `${quoted(type)} is not a tool that the agent runs itself`);
  }
  return findStoredReference(rest, path);
}

/** A tool that becomes available or unavailable within the conversation. */
function forbiddenToolChange(change: unknown, path: string): Refusal | null {
  if (isAbsent(change)) return null;
  if (!isObject(change)) return wrongShape(path, 'an object');
  const { type, definition, ...rest } = change;
  if (type === 'tool_definition') {
    return forbiddenTool(definition, `${path}.definition`) ?? findStoredReference(rest, path);
  }
  return type === 'tool_reference'
    ? findStoredReference(change, path)
    : unknownType(`${path}.type`, type);
}

/** The first reference in the value or any of its members. */
function findStoredReference(value: unknown, path: string): Refusal | null {
  if (Array.isArray(value)) return firstOf(value, path, findStoredReference);
  if (!isObject(value)) return null;
  for (const [name, member] of Object.entries(value)) {
    const field = `${path}.${name}`;
    if (storedReferences.has(name) && !isAbsent(member)) {
      return forbidden(field, 'it refers to something that is not part of the request');
    }
    const found = findStoredReference(member, field);
    if (found !== null) return found;
  }
  return null;
}

function firstOf(
  list: unknown,
  path: string,
  find: (item: unknown, path: string) => Refusal | null,
): Refusal | null {
  if (isAbsent(list)) return null;
  if (!Array.isArray(list)) return wrongShape(path, 'a list');
  for (const [index, item] of list.entries()) {
    const found = find(item, `${path}.${index}`);
    if (found !== null) return found;
  }
  return null;
}

function unknownKey(value: JsonObject, known: Set<string>, prefix: string): Refusal | null {
  const key = Object.keys(value).find((name) => !known.has(name));
  if (key === undefined) return null;
  // The wording of the model API: the agent recognizes it, and repeats the request without the
  // field.
  return forbidden(shorten(prefix + key), 'Extra inputs are not permitted');
}

const unknownType = (field: string, type: unknown): Refusal =>
  forbidden(field, `${quoted(type)} is not a known type of content`);

const forbidden = (field: string, reason: string): Refusal => ({
  field,
  message: `${field}: ${reason}. It requires a flow whose network policy is "open".`,
});

const wrongShape = (field: string, shape: string): Refusal => ({
  field,
  message: `${field}: must be ${shape}`,
});

const isAbsent = (value: unknown): value is null | undefined =>
  value === null || value === undefined;

/** Text from the request is shortened: the message is logged. */
const shorten = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

const quoted = (value: unknown): string =>
  typeof value === 'string' ? `"${shorten(value)}"` : `a ${typeof value}`;
