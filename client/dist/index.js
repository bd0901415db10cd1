/*! @flowrun/client, Apache-2.0. Contains eventsource-parser:
MIT License

Copyright (c) 2026 Espen Hovlandsdal <espen@hovlandsdal.com>

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/

// client/http/errors.ts
var FlowrunError = class extends Error {
  code;
  status;
  /** The service logs the request under this ID. */
  requestId;
  retryAfterSeconds;
  /** The limit that was reached, and the current value. */
  limit;
  current;
  constructor(facts) {
    super(facts.message, facts.cause === void 0 ? {} : { cause: facts.cause });
    this.name = new.target.name;
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.limit = facts.limit;
    this.current = facts.current;
  }
};
var ValidationError = class extends FlowrunError {
};
var Unauthorized = class extends FlowrunError {
};
var NotFound = class extends FlowrunError {
};
var MethodNotAllowed = class extends FlowrunError {
};
var RunnerOffline = class extends FlowrunError {
};
var MessageNotQueued = class extends FlowrunError {
};
var EndpointRetired = class extends FlowrunError {
};
var PreconditionFailed = class extends FlowrunError {
};
var PayloadTooLarge = class extends FlowrunError {
};
var RangeNotSatisfiable = class extends FlowrunError {
};
var RateLimited = class extends FlowrunError {
};
var ConcurrentLimit = class extends FlowrunError {
};
var MonthlyQuota = class extends FlowrunError {
};
var BudgetReached = class extends FlowrunError {
};
var SessionLimit = class extends FlowrunError {
};
var StreamLimit = class extends FlowrunError {
};
var WaitLimit = class extends FlowrunError {
};
var QueueFull = class extends FlowrunError {
};
var InternalError = class extends FlowrunError {
};
var UpstreamUnavailable = class extends FlowrunError {
};
var ConnectionFailed = class extends FlowrunError {
  constructor(message, cause) {
    super({ code: "CONNECTION_FAILED", message, cause });
  }
};
var errorClasses = {
  VALIDATION_ERROR: ValidationError,
  UNAUTHORIZED: Unauthorized,
  NOT_FOUND: NotFound,
  METHOD_NOT_ALLOWED: MethodNotAllowed,
  RUNNER_OFFLINE: RunnerOffline,
  MESSAGE_NOT_QUEUED: MessageNotQueued,
  ENDPOINT_RETIRED: EndpointRetired,
  PRECONDITION_FAILED: PreconditionFailed,
  PAYLOAD_TOO_LARGE: PayloadTooLarge,
  RANGE_NOT_SATISFIABLE: RangeNotSatisfiable,
  RATE_LIMITED: RateLimited,
  CONCURRENT_LIMIT: ConcurrentLimit,
  MONTHLY_QUOTA: MonthlyQuota,
  BUDGET_REACHED: BudgetReached,
  SESSION_LIMIT: SessionLimit,
  STREAM_LIMIT: StreamLimit,
  WAIT_LIMIT: WaitLimit,
  QUEUE_FULL: QueueFull,
  INTERNAL_ERROR: InternalError,
  UPSTREAM_UNAVAILABLE: UpstreamUnavailable
};
function isFlowrunError(error, code) {
  if (!(error instanceof Error) || !("requestId" in error) || !("code" in error)) return false;
  return code === void 0 || error.code === code;
}

// core/json.ts
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function parseObject(line) {
  try {
    const value = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
function objectIn(value, name) {
  const member = value[name];
  return isObject(member) ? member : {};
}
function listIn(value, name) {
  const member = value[name];
  return Array.isArray(member) ? member : [];
}
function textIn(value, name) {
  const member = value[name];
  return typeof member === "string" ? member : null;
}

// client/http/response-error.ts
async function responseError(response) {
  const { status, headers } = response;
  const body = parseObject(await response.text().catch(() => ""))?.["error"];
  const envelope = isObject(body) ? body : {};
  const code = textOr(envelope["code"], `HTTP_${status}`);
  const Class = Object.hasOwn(errorClasses, code) && errorClasses[code] || FlowrunError;
  return new Class({
    code,
    message: textOr(envelope["message"], `The response has the status ${status}.`),
    status,
    requestId: headers.get("x-request-id"),
    retryAfterSeconds: secondsIn(headers.get("retry-after")),
    ...numberAs("limit", envelope["limit"]),
    ...numberAs("current", envelope["current"])
  });
}
var textOr = (value, fallback) => typeof value === "string" ? value : fallback;
function numberAs(name, value) {
  const fields = {};
  if (typeof value === "number") fields[name] = value;
  return fields;
}
function secondsIn(header) {
  if (header === null) return null;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1e3));
}

// client/http/retry-delay.ts
var waitsMs = [1e3, 2e3, 4e3];
var refusedForNow = /* @__PURE__ */ new Set([
  "RATE_LIMITED",
  "CONCURRENT_LIMIT",
  "STREAM_LIMIT",
  "WAIT_LIMIT",
  "QUEUE_FULL"
]);
function retryDelayMs({ attempt, error, isRepeatable }) {
  const waitMs = waitsMs[attempt - 1];
  if (waitMs === void 0) return null;
  const retryAfterMs = error.retryAfterSeconds === null ? null : error.retryAfterSeconds * 1e3;
  if (refusedForNow.has(error.code)) return retryAfterMs ?? waitMs;
  if (!isRepeatable) return neverSent(error) ? waitMs : null;
  if (error instanceof ConnectionFailed) return waitMs;
  const { status } = error;
  if (status === 503) return retryAfterMs ?? 0;
  return status !== null && status >= 500 ? retryAfterMs ?? waitMs : null;
}
var connectErrors = /* @__PURE__ */ new Set([
  "ECONNREFUSED",
  "EAI_AGAIN",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT"
]);
function neverSent({ cause }) {
  const reason = cause instanceof Error ? cause.cause ?? cause : void 0;
  const code = reason instanceof Error && "code" in reason ? reason.code : void 0;
  return typeof code === "string" && connectErrors.has(code);
}

// client/http/wait.ts
function wait(ms, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    function stop() {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

// client/http/http.ts
function createHttp(options) {
  const base = `${options.url.replace(/\/+$/, "").replace(/\/api\/v1$/, "")}/api/v1`;
  async function call(request, read) {
    const { method = "GET", path, attempts = 4, isRepeatable = method !== "POST" } = request;
    const signal = anyOf(options.signal, request.signal);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await callOnce({ ...request, method, signal }, read);
      } catch (error) {
        if (!isFlowrunError(error) || attempt >= attempts) throw error;
        const delayMs2 = retryDelayMs({ attempt, error, isRepeatable });
        if (delayMs2 === null) throw error;
        options.onRetry?.({ method, path, attempt, delayMs: delayMs2, error });
        await wait(delayMs2, signal);
      }
    }
  }
  async function callOnce(request, read) {
    const { method = "GET", path, query, signal, json } = request;
    const body = json === void 0 ? request.body : JSON.stringify(json);
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(), request.timeoutMs ?? timeoutFor(body));
    try {
      const response = await options.fetch(`${base}${path}${queryOf(query)}`, {
        method,
        headers: headersOf(request, options.key),
        signal: anyOf(signal, timer.signal) ?? null,
        ...body === void 0 ? {} : { body }
      });
      if (!response.ok) throw await responseError(response);
      return await read(response);
    } catch (error) {
      if (isFlowrunError(error)) throw error;
      if (signal?.aborted === true) throw signal.reason;
      throw new ConnectionFailed(`${method} ${base}${path} failed.`, error);
    } finally {
      clearTimeout(timeout);
    }
  }
  async function* items(request) {
    let { query } = request;
    for (; ; ) {
      const page = await call({ ...request, query }, readPage);
      yield* page.items;
      if (page.cursor === null) return;
      query = { ...query, cursor: page.cursor };
    }
  }
  return {
    send: (request) => call(request, async (response) => response),
    read: call,
    data: (request) => call(request, readData),
    items
  };
}
function timeoutFor(body) {
  const bytes = body instanceof Blob ? body.size : body?.length ?? 0;
  return 6e4 + bytes / 65536 * 1e3;
}
async function readData(response) {
  const { data } = await response.json();
  return data;
}
async function readPage(response) {
  const items = await readData(response);
  return { items, cursor: nextCursor(response.headers.get("link")) };
}
function headersOf(request, key) {
  return {
    ...key === void 0 ? {} : { authorization: `Bearer ${key}` },
    ...request.json === void 0 ? {} : { "content-type": "application/json" },
    ...request.headers
  };
}
function queryOf(query = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === void 0) continue;
    for (const each of [value].flat()) parameters.append(name, String(each));
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}
function nextCursor(link) {
  const [, address] = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? "") ?? [];
  return address === void 0 ? null : new URL(address, "http://service").searchParams.get("cursor");
}
function anyOf(...signals) {
  const given = signals.filter((signal) => signal !== void 0);
  return given.length < 2 ? given[0] : AbortSignal.any(given);
}

// client/runs/flow-names.ts
function createFlowNames(http) {
  const known = /* @__PURE__ */ new Map();
  async function find(name) {
    for await (const flow of http.items({ path: "/flows" })) {
      if (flow.name === name) return flow.flowId;
    }
    throw new NotFound({ code: "NOT_FOUND", message: `No flow has the name ${name}.` });
  }
  return (flow) => {
    if (isUuid(flow)) return Promise.resolve(flow);
    const finding = known.get(flow) ?? find(flow);
    known.set(flow, finding);
    finding.catch(() => known.delete(flow));
    return finding;
  };
}
var isUuid = (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

// client/files/changes.ts
function runChanges(http, runId) {
  const path = `/runs/${runId}/changes`;
  return {
    list: (query = {}) => http.items({ path, query }),
    patch: (query = {}) => http.read({ path, query: { ...query, format: "patch" } }, (response) => response.text())
  };
}

// client/files/input-files.ts
function toInputFile({ content, ...file }) {
  return typeof content === "string" ? { ...file, content, encoding: "utf8" } : { ...file, content: toBase64(content), encoding: "base64" };
}
function toBase64(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += partBytes) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + partBytes)));
  }
  return btoa(parts.join(""));
}
var partBytes = 8192;

// client/files/read-tar.ts
var blockBytes = 512;
async function* readTarEntries(archive) {
  const bytes = byteReader(archive);
  let longPath = null;
  try {
    for (; ; ) {
      const header = await bytes.take(blockBytes);
      if (header[0] === 0) return;
      const content = await takeContent(bytes, octalIn(header, 124, 136));
      const type = String.fromCharCode(header[156] ?? 0);
      if (type === "x") {
        longPath = pathOfRecords(content);
        continue;
      }
      if (type !== "0") throw new TypeError(`The archive has an entry of the type ${type}.`);
      yield { path: longPath ?? textIn2(header, 0, 100), mode: octalIn(header, 100, 108), content };
      longPath = null;
    }
  } finally {
    await bytes.close();
  }
}
async function takeContent({ take }, size) {
  const content = await take(size);
  await take((blockBytes - size % blockBytes) % blockBytes);
  return content;
}
function byteReader(archive) {
  const reader = archive.getReader();
  let rest = new Uint8Array();
  async function take(size) {
    const taken = new Uint8Array(size);
    for (let filled = 0; filled < size; ) {
      if (rest.length === 0) {
        const { done, value } = await reader.read();
        if (done) throw new TypeError("The archive is incomplete.");
        rest = value;
      }
      const part = rest.subarray(0, size - filled);
      taken.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
    }
    return taken;
  }
  return { take, close: () => reader.cancel() };
}
var decoder = new TextDecoder();
var textIn2 = (block, from, to) => decoder.decode(block.subarray(from, to)).replace(/\0.*/s, "");
var octalIn = (block, from, to) => Number.parseInt(textIn2(block, from, to).trim() || "0", 8);
function pathOfRecords(content) {
  for (let at = 0; at < content.length; ) {
    const record = decoder.decode(content.subarray(at));
    const length = Number.parseInt(record, 10);
    const [, path] = /^\d+ path=(.*)\n$/s.exec(decoder.decode(content.subarray(at, at + length))) ?? [];
    if (path !== void 0) return path;
    if (!(length > 0)) return null;
    at += length;
  }
  return null;
}

// client/files/pull-archive.ts
async function pullArchive(archive, folder) {
  const fs = builtin("node:fs/promises");
  const { resolve, dirname, sep } = builtin("node:path");
  await fs.mkdir(folder, { recursive: true });
  const root = await fs.realpath(folder);
  const paths = [];
  for await (const { path, mode, content } of readTarEntries(archive)) {
    const target = resolve(root, path);
    if (!target.startsWith(`${root}${sep}`)) throw outside(path);
    await fs.mkdir(dirname(target), { recursive: true });
    const parent = await fs.realpath(dirname(target));
    if (parent !== root && !parent.startsWith(`${root}${sep}`)) throw outside(path);
    await fs.rm(target, { force: true });
    await fs.writeFile(target, content, { mode: mode & 511, flag: "wx" });
    paths.push(path);
  }
  return paths;
}
var outside = (path) => new TypeError(`The path ${path} leads out of the folder.`);
function builtin(name) {
  const { process } = globalThis;
  const module = process?.getBuiltinModule?.(name);
  if (module === void 0) throw new TypeError("Writing files needs Node 20.16, Bun or Deno.");
  return module;
}

// client/files/run-files.ts
function runFiles(http, runId) {
  const path = `/runs/${runId}/files`;
  const fileAt = (file) => ({ path: `${path}/${encodedPath(file)}` });
  const archivePath = ({ isCompressed = false }) => `${path}.tar${isCompressed ? ".gz" : ""}`;
  async function archive({ isCompressed = false, ...filter } = {}) {
    const response = await http.send({ path: archivePath({ isCompressed }), query: { ...filter } });
    if (response.body === null) throw new TypeError("The archive has no body.");
    return response.body;
  }
  return {
    list: (filter = {}) => http.items({ path, query: { ...filter } }),
    read: (file) => http.read(fileAt(file), async (response) => new Uint8Array(await response.arrayBuffer())),
    readText: (file) => http.read(fileAt(file), (response) => response.text()),
    add: (files) => http.data({
      method: "POST",
      path,
      json: { files: files.map(toInputFile) },
      isRepeatable: true
    }),
    archive,
    addArchive: (body, format = {}) => http.data({
      method: "PUT",
      path: archivePath(format),
      body,
      headers: {
        "content-type": format.isCompressed === true ? "application/gzip" : "application/x-tar"
      }
    }),
    pull: async (folder, filter = {}) => pullArchive(await archive(filter), folder)
  };
}
var encodedPath = (path) => path.split("/").map(encodeURIComponent).join("/");

// node_modules/eventsource-parser/dist/index.js
var ParseError = class extends Error {
  constructor(message, options) {
    super(message), this.name = "ParseError", this.type = options.type, this.field = options.field, this.value = options.value, this.line = options.line;
  }
};
var LF = 10;
var CR = 13;
var SPACE = 32;
function noop(_arg) {
}
function createParser(config) {
  if (typeof config == "function")
    throw new TypeError(
      "`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?"
    );
  const { onEvent = noop, onError = noop, onRetry = noop, onComment, maxBufferSize } = config, pendingFragments = [];
  let pendingFragmentsLength = 0, isFirstChunk = true, id, data = "", dataLines = 0, eventType, terminated = false;
  function feed(chunk) {
    if (terminated)
      throw new Error(
        "Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing."
      );
    if (isFirstChunk && (isFirstChunk = false, chunk.charCodeAt(0) === 239 && chunk.charCodeAt(1) === 187 && chunk.charCodeAt(2) === 191 && (chunk = chunk.slice(3))), pendingFragments.length === 0) {
      const trailing2 = processLines(chunk);
      trailing2 !== "" && (pendingFragments.push(trailing2), pendingFragmentsLength = trailing2.length), checkBufferSize();
      return;
    }
    if (chunk.indexOf(`
`) === -1 && chunk.indexOf("\r") === -1) {
      pendingFragments.push(chunk), pendingFragmentsLength += chunk.length, checkBufferSize();
      return;
    }
    pendingFragments.push(chunk);
    const input = pendingFragments.join("");
    pendingFragments.length = 0, pendingFragmentsLength = 0;
    const trailing = processLines(input);
    trailing !== "" && (pendingFragments.push(trailing), pendingFragmentsLength = trailing.length), checkBufferSize();
  }
  function checkBufferSize() {
    maxBufferSize !== void 0 && (pendingFragmentsLength + data.length <= maxBufferSize || (terminated = true, pendingFragments.length = 0, pendingFragmentsLength = 0, id = void 0, data = "", dataLines = 0, eventType = void 0, onError(
      new ParseError(`Buffered data exceeded max buffer size of ${maxBufferSize} characters`, {
        type: "max-buffer-size-exceeded"
      })
    )));
  }
  function processLines(chunk) {
    let searchIndex = 0;
    if (chunk.indexOf("\r") === -1) {
      let lfIndex = chunk.indexOf(`
`, searchIndex);
      for (; lfIndex !== -1; ) {
        if (searchIndex === lfIndex) {
          dataLines > 0 && onEvent({ id, event: eventType, data }), id = void 0, data = "", dataLines = 0, eventType = void 0, searchIndex = lfIndex + 1, lfIndex = chunk.indexOf(`
`, searchIndex);
          continue;
        }
        const firstCharCode = chunk.charCodeAt(searchIndex);
        if (isDataPrefix(chunk, searchIndex, firstCharCode)) {
          const valueStart = chunk.charCodeAt(searchIndex + 5) === SPACE ? searchIndex + 6 : searchIndex + 5, value = chunk.slice(valueStart, lfIndex);
          if (dataLines === 0 && chunk.charCodeAt(lfIndex + 1) === LF) {
            onEvent({ id, event: eventType, data: value }), id = void 0, data = "", eventType = void 0, searchIndex = lfIndex + 2, lfIndex = chunk.indexOf(`
`, searchIndex);
            continue;
          }
          data = dataLines === 0 ? value : `${data}
${value}`, dataLines++;
        } else isEventPrefix(chunk, searchIndex, firstCharCode) ? eventType = chunk.slice(
          chunk.charCodeAt(searchIndex + 6) === SPACE ? searchIndex + 7 : searchIndex + 6,
          lfIndex
        ) || void 0 : parseLine(chunk, searchIndex, lfIndex);
        searchIndex = lfIndex + 1, lfIndex = chunk.indexOf(`
`, searchIndex);
      }
      return chunk.slice(searchIndex);
    }
    for (; searchIndex < chunk.length; ) {
      const crIndex = chunk.indexOf("\r", searchIndex), lfIndex = chunk.indexOf(`
`, searchIndex);
      let lineEnd = -1;
      if (crIndex !== -1 && lfIndex !== -1 ? lineEnd = crIndex < lfIndex ? crIndex : lfIndex : crIndex !== -1 ? crIndex === chunk.length - 1 ? lineEnd = -1 : lineEnd = crIndex : lfIndex !== -1 && (lineEnd = lfIndex), lineEnd === -1)
        break;
      parseLine(chunk, searchIndex, lineEnd), searchIndex = lineEnd + 1, chunk.charCodeAt(searchIndex - 1) === CR && chunk.charCodeAt(searchIndex) === LF && searchIndex++;
    }
    return chunk.slice(searchIndex);
  }
  function parseLine(chunk, start, end) {
    if (start === end) {
      dispatchEvent();
      return;
    }
    const firstCharCode = chunk.charCodeAt(start);
    if (isDataPrefix(chunk, start, firstCharCode)) {
      const valueStart = chunk.charCodeAt(start + 5) === SPACE ? start + 6 : start + 5, value2 = chunk.slice(valueStart, end);
      data = dataLines === 0 ? value2 : `${data}
${value2}`, dataLines++;
      return;
    }
    if (isEventPrefix(chunk, start, firstCharCode)) {
      eventType = chunk.slice(chunk.charCodeAt(start + 6) === SPACE ? start + 7 : start + 6, end) || void 0;
      return;
    }
    if (firstCharCode === 105 && chunk.charCodeAt(start + 1) === 100 && chunk.charCodeAt(start + 2) === 58) {
      const value2 = chunk.slice(chunk.charCodeAt(start + 3) === SPACE ? start + 4 : start + 3, end);
      value2.includes("\0") || (id = value2);
      return;
    }
    if (firstCharCode === 58) {
      if (onComment) {
        const line2 = chunk.slice(start, end);
        onComment(line2.slice(chunk.charCodeAt(start + 1) === SPACE ? 2 : 1));
      }
      return;
    }
    const line = chunk.slice(start, end), fieldSeparatorIndex = line.indexOf(":");
    if (fieldSeparatorIndex === -1) {
      processField(line, "", line);
      return;
    }
    const field = line.slice(0, fieldSeparatorIndex), offset = line.charCodeAt(fieldSeparatorIndex + 1) === SPACE ? 2 : 1, value = line.slice(fieldSeparatorIndex + offset);
    processField(field, value, line);
  }
  function processField(field, value, line) {
    switch (field) {
      case "event":
        eventType = value || void 0;
        break;
      case "data":
        data = dataLines === 0 ? value : `${data}
${value}`, dataLines++;
        break;
      case "id":
        value.includes("\0") || (id = value);
        break;
      case "retry":
        /^\d+$/.test(value) ? onRetry(parseInt(value, 10)) : onError(
          new ParseError(`Invalid \`retry\` value: "${value}"`, {
            type: "invalid-retry",
            value,
            line
          })
        );
        break;
      default:
        onError(
          new ParseError(
            `Unknown field "${field.length > 20 ? `${field.slice(0, 20)}\u2026` : field}"`,
            { type: "unknown-field", field, value, line }
          )
        );
        break;
    }
  }
  function dispatchEvent() {
    dataLines > 0 && onEvent({
      id,
      event: eventType,
      data
    }), id = void 0, data = "", dataLines = 0, eventType = void 0;
  }
  function reset(options = {}) {
    if (options.consume && pendingFragments.length > 0) {
      const incompleteLine = pendingFragments.join("");
      parseLine(incompleteLine, 0, incompleteLine.length);
    }
    isFirstChunk = true, id = void 0, data = "", dataLines = 0, eventType = void 0, pendingFragments.length = 0, pendingFragmentsLength = 0, terminated = false;
  }
  return { feed, reset };
}
function isDataPrefix(chunk, i, firstCharCode) {
  return firstCharCode === 100 && chunk.charCodeAt(i + 1) === 97 && chunk.charCodeAt(i + 2) === 116 && chunk.charCodeAt(i + 3) === 97 && chunk.charCodeAt(i + 4) === 58;
}
function isEventPrefix(chunk, i, firstCharCode) {
  return firstCharCode === 101 && chunk.charCodeAt(i + 1) === 118 && chunk.charCodeAt(i + 2) === 101 && chunk.charCodeAt(i + 3) === 110 && chunk.charCodeAt(i + 4) === 116 && chunk.charCodeAt(i + 5) === 58;
}

// client/stream/connection.ts
var silenceMaxMs = 4e4;
async function* readConnection(request) {
  const { http, runId, afterSeq, attempts, signal } = request;
  const response = await http.send({
    path: `/runs/${runId}/stream`,
    headers: { accept: "text/event-stream", "last-event-id": String(afterSeq) },
    attempts,
    signal
  });
  if (response.body === null) throw new ConnectionFailed("The stream has no body.");
  request.onOpen();
  const reader = response.body.getReader();
  const decoder2 = new TextDecoder();
  const ready = [];
  const parser = createParser({
    onEvent: ({ id, event = "message", data }) => ready.push({ name: event, id, data }),
    onRetry: request.onRetryTime
  });
  try {
    for (; ; ) {
      const { done, value } = await readInTime(reader);
      if (done) return;
      parser.feed(decoder2.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    reader.cancel().catch(() => void 0);
  }
}
async function readInTime(reader) {
  let timer;
  const silence = new Promise((_, reject) => {
    const error = new ConnectionFailed(`The stream was silent for ${silenceMaxMs} ms.`);
    timer = setTimeout(() => reject(error), silenceMaxMs);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    throw isFlowrunError(error) ? error : new ConnectionFailed("The stream was cut off.", error);
  } finally {
    clearTimeout(timer);
  }
}

// client/stream/events.ts
var knownNames = {
  status: true,
  agent_status: true,
  filetree: true,
  files_skipped: true,
  output: true,
  session_ready: true,
  state_rolled_back: true,
  user_message: true,
  message_withdrawn: true,
  chat_output: true,
  interaction: true,
  interaction_closed: true,
  turn_end: true,
  replay_truncated: true,
  finished: true,
  system: true,
  assistant: true,
  user: true,
  result: true,
  stream: true,
  stream_event: true,
  line_cut: true
};
function toEvent(name, seq, data) {
  if (!Object.hasOwn(knownNames, name)) return { type: "unknown", name, seq, data };
  return { type: name, seq, data };
}

// client/stream/follow.ts
var backoffMaxMs = 3e4;
var unreachableMaxMs = 15 * 6e4;
async function* followRun(request) {
  const follower = {
    seq: request.after ?? 0,
    hasFinished: false,
    snapshots: /* @__PURE__ */ new Map(),
    wasOpen: false,
    openUntilMs: performance.now(),
    failures: 0,
    retryMs: 1e3,
    retryAfterMs: 0
  };
  for (; ; ) {
    yield* readUntilCut(request, follower);
    if (follower.hasFinished) return;
    if (follower.failures === 0) follower.openUntilMs = performance.now();
    await wait(delayMs(follower), request.signal);
    if (await request.isOver?.() === true) return;
  }
}
async function* readUntilCut(request, follower) {
  const { http, runId, signal } = request;
  const attempts = follower.wasOpen ? 1 : 4;
  const onOpen = () => {
    Object.assign(follower, { wasOpen: true, failures: 0 });
  };
  const onRetryTime = (ms) => {
    follower.retryMs = ms;
  };
  follower.failures += 1;
  follower.retryAfterMs = 0;
  try {
    const connection = {
      http,
      runId,
      afterSeq: follower.seq,
      attempts,
      signal,
      onOpen,
      onRetryTime
    };
    for await (const message of readConnection(connection)) {
      yield* eventsOf(message, request, follower);
      if (follower.hasFinished) return;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (!isFlowrunError(error) || !mayReconnect(error, follower)) throw error;
    follower.retryAfterMs = (error.retryAfterSeconds ?? 0) * 1e3;
  }
}
async function* eventsOf({ name, id, data: text }, request, follower) {
  const seq = id === void 0 ? null : Number(id);
  const data = JSON.parse(text);
  if (name === "status" || name === "filetree") {
    if (follower.snapshots.get(name) === text) return;
    follower.snapshots.set(name, text);
  }
  const event = toEvent(name, seq, data);
  if (event.type === "replay_truncated") {
    const { firstAvailableSeq } = event.data;
    yield* readLog(request, follower, firstAvailableSeq);
    if (follower.seq + 1 >= firstAvailableSeq) return;
    follower.seq = firstAvailableSeq - 1;
  }
  follower.hasFinished = event.type === "finished";
  if (seq !== null && seq <= follower.seq) return;
  follower.seq = seq ?? follower.seq;
  yield event;
}
async function* readLog({ http, runId, signal }, follower, beforeSeq) {
  const path = `/runs/${runId}/logs`;
  for (; ; ) {
    const query = { format: "structured", channel: "all", afterSeq: follower.seq, beforeSeq };
    const page = await http.data({ path, query, signal });
    for (const { seq, event, data } of page.entries) {
      follower.seq = seq;
      yield toEvent(event, seq, data);
    }
    if (page.entries.length === 0) return;
  }
}
function mayReconnect(error, follower) {
  const { wasOpen, failures, openUntilMs } = follower;
  if (!wasOpen) return false;
  if (failures > 0 && performance.now() - openUntilMs > unreachableMaxMs) return false;
  const { status } = error;
  return error instanceof ConnectionFailed || status === 429 || status !== null && status >= 500;
}
function delayMs({ failures, retryMs, retryAfterMs }) {
  const backoffMs = failures === 0 ? 0 : Math.min(1e3 * 2 ** (failures - 1), backoffMaxMs);
  return Math.max(retryMs, retryAfterMs, backoffMs);
}

// client/runs/output-schema.ts
function jsonSchemaOf(schema) {
  const { jsonSchema } = schema["~standard"];
  if (jsonSchema !== void 0) return jsonSchema.output({ target: "draft-2020-12" });
  throw new TypeError("The validator has no JSON Schema. Pass one as outputSchema instead.");
}
async function validateOutput(schema, value) {
  const validation = await schema["~standard"].validate(value);
  if (validation.issues === void 0) return validation.value;
  const reasons = validation.issues.map(({ message }) => message);
  throw new TypeError(`The structured output is not valid: ${reasons.join("; ")}`);
}

// client/runs/result.ts
var RunFailed = class extends FlowrunError {
  cause;
  run;
  constructor(run, error) {
    super({ code: "RUN_FAILED", message: `The run ${run.runId} has ended: ${error}` });
    this.cause = causeOf(error);
    this.run = run;
  }
};
var causeOf = (error) => error.startsWith("Process exited") ? "exit_code" : error.replace(/:.*/s, "");
function resultOf(run) {
  if (run.error !== void 0) throw new RunFailed(run, run.error);
  const { result, structuredOutput: structured, costUsd, usage } = run;
  return { text: result ?? "", structured, costUsd, usage, run };
}

// client/runs/run.ts
function openRun(http, record, output) {
  const { runId } = record;
  const path = `/runs/${runId}`;
  const post = (action, json, isRepeatable = true) => http.data({ method: "POST", path: `${path}/${action}`, json, isRepeatable });
  const read = (options = {}) => http.data({ path, ...options });
  async function result({ signal } = {}) {
    const isOver = async () => (await read({ signal })).finishedAt !== null;
    for await (const event of followRun({ http, runId, signal, isOver })) {
      if (event.type === "finished") break;
    }
    const ended = resultOf(await read({ signal }));
    const structured = output === void 0 ? ended.structured : await validateOutput(output, ended.structured);
    return { ...ended, structured };
  }
  return {
    runId,
    record,
    files: runFiles(http, runId),
    changes: runChanges(http, runId),
    events: (options = {}) => followRun({ ...options, http, runId }),
    result,
    read,
    async answer(interaction, answers) {
      const { interactionId } = "data" in interaction ? interaction.data : interaction;
      await post(`interactions/${interactionId}`, { answers });
    },
    setLabels: (labels) => http.data({ method: "PATCH", path: `${path}/labels`, json: { labels } }),
    stop: (options = {}) => post("stop", options),
    interrupt: () => post("interrupt", {}, false),
    delete: () => http.data({ method: "DELETE", path }),
    createToken: (options = {}) => post("token", options)
  };
}

// client/runs/start-run.ts
function startRun({ http, flowIdOf }, flow, { signal, output, context = {}, ...options }) {
  async function start() {
    const isRepeatable = options.mcpServers === void 0;
    const key = options.idempotencyKey ?? (isRepeatable ? crypto.randomUUID() : void 0);
    const record = await http.data({
      method: "POST",
      path: `/flows/${await flowIdOf(flow)}/runs`,
      json: {
        ...options,
        ...key === void 0 ? {} : { idempotencyKey: key },
        ...options.files === void 0 ? {} : { files: options.files.map(toInputFile) },
        ...output === void 0 ? {} : { outputSchema: jsonSchemaOf(output) }
      },
      headers: Object.fromEntries(
        Object.entries(context).map(([name, value]) => [`x-ctx-${name}`, value])
      ),
      isRepeatable,
      signal
    });
    return openRun(http, record, output);
  }
  const started = start();
  return Object.assign(started, {
    result: async (given) => (await started).result(given)
  });
}

// client/sessions/turn-text.ts
function createTextReader() {
  let sent = "";
  return (event) => {
    if (event.type === "stream_event") {
      const text2 = textDelta(event.data);
      sent += text2;
      return text2 === "" ? [] : [text2];
    }
    if (event.type !== "chat_output") return [];
    const { text } = event.data;
    const rest = text.startsWith(sent) ? text.slice(sent.length) : text;
    sent = "";
    return rest === "" ? [] : [rest];
  };
}
function textDelta({ event, parent_tool_use_id: parent }) {
  const isText = event.type === "content_block_delta" && event.delta?.type === "text_delta";
  return isText && parent == null ? event.delta?.text ?? "" : "";
}

// client/sessions/turn.ts
function pendingTurn({ send, follow }) {
  const queued = send({ isWaiting: false });
  queued.catch(() => void 0);
  let ended;
  async function* events() {
    const { messageId } = await queued;
    let hasStarted = false;
    for await (const event of follow()) {
      const isOwn = "data" in event && idIn(event.data) === messageId;
      hasStarted ||= isOwn;
      if (hasStarted) yield event;
      const isEnd = event.type === "turn_end" || event.type === "message_withdrawn";
      if (isOwn && isEnd) return;
    }
  }
  async function untilEnd() {
    for await (const event of events()) if (event.type === "turn_end") return;
  }
  async function waitForTurn() {
    await queued;
    for (; ; ) {
      try {
        const answer = await send({ isWaiting: true });
        if ("exitCode" in answer) return answer;
      } catch (error) {
        if (!(error instanceof WaitLimit)) throw error;
        await untilEnd();
      }
    }
  }
  return {
    queued,
    // the answer of a request that does not wait
    events,
    async *[Symbol.asyncIterator]() {
      const read = createTextReader();
      for await (const event of events()) yield* read(event);
    },
    // oxlint-disable-next-line unicorn/no-thenable -- the turn can be awaited
    then: (onEnd, onError) => (ended ??= waitForTurn()).then(onEnd, onError)
  };
}
var idIn = (data) => typeof data === "object" && data !== null && "messageId" in data ? data.messageId : void 0;

// client/sessions/session.ts
async function openSession(http, flowId, { id = crypto.randomUUID(), signal, ...options }) {
  const { sessionId, runId } = await http.data({
    method: "POST",
    path: `/flows/${flowId}/sessions`,
    json: { ...options, sessionId: id },
    isRepeatable: true,
    signal
  });
  const record = await http.data({ path: `/runs/${runId}`, signal });
  return sessionOf(http, openRun(http, record), sessionId);
}
function sessionOf(http, run, sessionId) {
  const { flowId } = run.record;
  const path = `/flows/${flowId}/sessions/${encodeURIComponent(sessionId)}`;
  let previous = Promise.resolve();
  function send(message, { files, signal, ...options } = {}) {
    const json = {
      sessionId,
      message,
      clientMessageId: options.clientMessageId ?? crypto.randomUUID(),
      ...files === void 0 ? {} : { files: files.map(toInputFile) }
    };
    const isRepeated = options.clientMessageId !== void 0;
    const lastSeq = previous.then(() => isRepeated ? 0 : readLastSeq(http, run.runId, signal));
    lastSeq.catch(() => void 0);
    const turn = pendingTurn({
      async send({ isWaiting }) {
        await lastSeq;
        return http.data({
          method: "POST",
          path: `/flows/${flowId}/chat`,
          json: { ...json, stream: !isWaiting },
          isRepeatable: true,
          timeoutMs: waitMaxMs,
          signal
        });
      },
      async *follow() {
        yield* followRun({ http, runId: run.runId, after: await lastSeq, signal });
      }
    });
    previous = turn.queued.catch(() => void 0);
    return turn;
  }
  return {
    sessionId,
    flowId,
    run,
    send,
    read: () => http.data({ path }),
    messages: () => http.items({ path: `${path}/messages` }),
    async withdraw(messageId) {
      await http.data({
        method: "DELETE",
        path: `${path}/messages/${encodeURIComponent(messageId)}`
      });
    },
    configure: (changes) => http.data({ method: "PATCH", path: `${path}/config`, json: changes }),
    async end() {
      await http.data({ method: "DELETE", path });
    }
  };
}
var waitMaxMs = 33e4;
async function readLastSeq(http, runId, signal) {
  const query = { format: "structured", channel: "all", order: "desc", limit: 1 };
  const { entries } = await http.data({ path: `/runs/${runId}/logs`, query, signal });
  return entries[0]?.seq ?? 0;
}

// client/flowrun.ts
var Flowrun = class {
  #http;
  #flowIdOf;
  constructor(options = {}) {
    const url = options.url ?? variable("FLOWRUN_URL");
    if (url === void 0) throw new TypeError("Pass url, or set FLOWRUN_URL.");
    this.#http = createHttp({
      url,
      key: options.key ?? variable("FLOWRUN_KEY"),
      // A browser's fetch works only as a method of its window.
      fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
      signal: options.signal,
      onRetry: options.onRetry
    });
    this.#flowIdOf = createFlowNames(this.#http);
  }
  /** Starts a run of a flow, given by name or ID. */
  run(flow, options = {}) {
    return startRun({ http: this.#http, flowIdOf: this.#flowIdOf }, flow, options);
  }
  /** Opens a session of a flow, or continues the one with this ID. */
  async session(flow, options = {}) {
    return openSession(this.#http, await this.#flowIdOf(flow), options);
  }
  async getRun(runId) {
    const path = `/runs/${encodeURIComponent(runId)}`;
    return openRun(this.#http, await this.#http.data({ path }));
  }
  /** Yields the matching runs, newest first. */
  async *runs({
    flow,
    labels = {},
    ...filter
  } = {}) {
    const query = {
      ...filter,
      flowId: flow === void 0 ? void 0 : await this.#flowIdOf(flow),
      label: Object.entries(labels).map(([name, value]) => `${name}:${value}`)
    };
    for await (const record of this.#http.items({ path: "/runs", query })) {
      yield openRun(this.#http, record);
    }
  }
  flows() {
    return this.#http.items({ path: "/flows" });
  }
};
function variable(name) {
  const { process } = globalThis;
  return process?.env?.[name] || void 0;
}

// client/transcript/state.ts
var emptyTranscript = {
  entries: [],
  typing: { text: "", thinking: "" },
  status: null,
  agentStatus: null,
  fileTree: [],
  model: null,
  reported: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  lastMessage: { id: "", inputTokens: 0, outputTokens: 0 },
  finished: null,
  lastSeq: 0
};

// client/transcript/draft.ts
function addEntry(draft, { seq, parent = null }, entry) {
  if (parent === null) {
    draft.entries.push(keyed(entry, seq, draft.entries));
    return;
  }
  updateEntry(draft, (tool) => {
    if (tool.kind !== "tool" || tool.toolUseId !== parent) return null;
    return { ...tool, children: [...tool.children, keyed(entry, seq, tool.children)] };
  });
}
function keyed(entry, seq, among) {
  return { ...entry, seq, key: `${seq ?? ""}.${among.length}` };
}
function updateEntry(draft, change) {
  const at = draft.entries.findLastIndex((entry2) => changedEntry(entry2, change) !== null);
  const entry = draft.entries[at];
  const changed = entry === void 0 ? null : changedEntry(entry, change);
  if (changed !== null) draft.entries[at] = changed;
}
function changedEntry(entry, change) {
  const changed = change(entry);
  if (changed !== null || entry.kind !== "tool") return changed;
  for (const [at, child] of [...entry.children.entries()].reverse()) {
    const changedChild = changedEntry(child, change);
    if (changedChild !== null) return { ...entry, children: entry.children.with(at, changedChild) };
  }
  return null;
}
function closeOpenEntries(draft) {
  draft.typing = emptyTranscript.typing;
  draft.entries = draft.entries.map(closed);
}
function closed(entry) {
  if (entry.kind === "question" && entry.state === "open") return { ...entry, state: "withdrawn" };
  if (entry.kind !== "tool") return entry;
  if (entry.state !== "running" && entry.children.length === 0) return entry;
  const state = entry.state === "running" ? "stopped" : entry.state;
  return { ...entry, state, children: entry.children.map(closed) };
}

// client/transcript/agent-events.ts
function applyAgentEvent(draft, { type, seq, data }) {
  if (!isObject(data)) return;
  switch (type) {
    case "assistant":
      return addAnswer(draft, seq, data);
    case "user":
      return addInput(draft, seq, data);
    case "result":
      return addResult(draft, seq, data);
    case "system":
      return addSystem(draft, seq, data);
    case "stream_event":
      return addDelta(draft, data);
    default:
  }
}
var blocksOf = (data) => listIn(objectIn(data, "message"), "content").filter(isObject);
var parentOf = (data) => textIn(data, "parent_tool_use_id");
function addAnswer(draft, seq, data) {
  const parent = parentOf(data);
  if (parent === null) draft.typing = emptyTranscript.typing;
  countTokens(draft, objectIn(data, "message"));
  for (const block of blocksOf(data)) {
    const text = textIn(block, "text") ?? textIn(block, "thinking") ?? "";
    const { type } = block;
    if (type === "tool_use") {
      const toolUseId = textIn(block, "id") ?? "";
      const call = {
        toolUseId,
        name: textIn(block, "name") ?? "",
        input: objectIn(block, "input")
      };
      const open = { state: "running", result: null, patch: [], children: [] };
      addEntry(draft, { seq, parent }, { kind: "tool", ...call, ...open });
    } else if (type === "text" && text !== "") {
      const isError = data.is_api_error_message === true;
      addEntry(draft, { seq, parent }, { kind: "text", text, isError });
    } else if (type === "thinking" && text !== "") {
      addEntry(draft, { seq, parent }, { kind: "thinking", text });
    }
  }
}
function countTokens(draft, message) {
  const id = textIn(message, "id") ?? "";
  const usage = objectIn(message, "usage");
  const inputTokens = numberIn(usage, "input_tokens") + numberIn(usage, "cache_creation_input_tokens") + numberIn(usage, "cache_read_input_tokens");
  const outputTokens = numberIn(usage, "output_tokens");
  const { reported, lastMessage } = draft;
  const before = lastMessage.id === id ? lastMessage : emptyTranscript.lastMessage;
  draft.reported = {
    ...reported,
    inputTokens: reported.inputTokens + inputTokens - before.inputTokens,
    outputTokens: reported.outputTokens + outputTokens - before.outputTokens
  };
  draft.lastMessage = { id, inputTokens, outputTokens };
}
function numberIn(value, name) {
  const member = value[name];
  return typeof member === "number" ? member : 0;
}
function addInput(draft, seq, data) {
  for (const block of blocksOf(data)) {
    if (block.type === "tool_result")
      setToolResult(draft, block, objectIn(data, "tool_use_result"));
  }
  if (parentOf(data) !== null) return;
  const texts = blocksOf(data).map((block) => textIn(block, "text") ?? "");
  const text = textIn(objectIn(data, "message"), "content") ?? texts.join("");
  if (text === "") return;
  if (data.isReplay !== true) {
    const isInterrupt = text.startsWith("[Request interrupted");
    if (isInterrupt) addEntry(draft, { seq }, { kind: "notice", notice: "interrupted", text });
    return;
  }
  const last = draft.entries.findLast(({ kind }) => kind === "message");
  if (last?.kind === "message" && last.messageId !== null) return;
  addEntry(draft, { seq }, { kind: "message", messageId: null, text, attempt: 1, end: null });
}
function setToolResult(draft, block, details) {
  const toolUseId = textIn(block, "tool_use_id");
  const parts = listIn(block, "content").filter(isObject);
  const texts = parts.map((part) => textIn(part, "text") ?? `[${textIn(part, "type") ?? "data"}]`);
  const result = textIn(block, "content") ?? texts.join("\n");
  const state = block.is_error === true ? "failed" : "done";
  const patch = listIn(details, "structuredPatch").filter(isObject).map(hunkOf);
  updateEntry(
    draft,
    (entry) => entry.kind === "tool" && entry.toolUseId === toolUseId ? { ...entry, state, result, patch } : null
  );
}
var hunkOf = (hunk) => ({
  oldStart: numberIn(hunk, "oldStart"),
  newStart: numberIn(hunk, "newStart"),
  lines: listIn(hunk, "lines").filter((line) => typeof line === "string")
});
function addResult(draft, seq, data) {
  draft.typing = emptyTranscript.typing;
  draft.reported = { ...draft.reported, costUsd: numberIn(data, "total_cost_usd") };
  if (data.is_error !== true) return;
  const errors = listIn(data, "errors").filter((error) => typeof error === "string");
  const text = errors.join("\n") || (textIn(data, "result") ?? textIn(data, "subtype") ?? "");
  addEntry(draft, { seq }, { kind: "notice", notice: "agent_error", text });
}
function addSystem(draft, seq, data) {
  if (data.subtype === "init") draft.model = textIn(data, "model") ?? draft.model;
  if (data.subtype === "compact_boundary") {
    const text = "The earlier conversation was summarized.";
    addEntry(draft, { seq }, { kind: "notice", notice: "compacted", text });
  }
  if (data.subtype === "api_retry") {
    const text = `The model API did not answer (${textIn(data, "error") ?? "no reason"}).`;
    addEntry(draft, { seq }, { kind: "notice", notice: "api_retry", text });
  }
}
function addDelta(draft, data) {
  const event = objectIn(data, "event");
  if (event.type !== "content_block_delta" || parentOf(data) !== null) return;
  const delta = objectIn(event, "delta");
  const { text, thinking } = draft.typing;
  draft.typing = {
    text: text + (delta.type === "text_delta" ? textIn(delta, "text") ?? "" : ""),
    thinking: thinking + (delta.type === "thinking_delta" ? textIn(delta, "thinking") ?? "" : "")
  };
}

// client/transcript/transcript.ts
function extendTranscript(transcript, ...events) {
  const draft = { ...transcript, entries: [...transcript.entries] };
  for (const event of events) {
    if (event.seq !== null && event.seq <= draft.lastSeq) continue;
    draft.lastSeq = event.seq ?? draft.lastSeq;
    apply(draft, event);
  }
  return draft;
}
function apply(draft, event) {
  switch (event.type) {
    case "status":
      draft.status = event.data.status;
      draft.agentStatus = event.data.agentStatus;
      return;
    case "agent_status":
      draft.agentStatus = event.data.status;
      return;
    case "filetree":
      draft.fileTree = event.data;
      return;
    case "user_message":
      return addMessage(draft, event);
    case "turn_end":
      return endTurn(draft, event.data);
    case "interaction":
      return addEntry(draft, event, { kind: "question", state: "open", ...event.data });
    case "interaction_closed":
      return closeQuestion(draft, event.data);
    case "finished":
      draft.finished = event.data;
      return closeOpenEntries(draft);
    case "files_skipped":
    case "replay_truncated":
    case "state_rolled_back":
      return addEntry(draft, event, { kind: "notice", ...noticeOf(event) });
    default:
      return applyAgentEvent(draft, event);
  }
}
function addMessage(draft, { seq, data }) {
  const { messageId, text, attempt = 1 } = data;
  const earlier = draft.entries.findIndex(
    (entry) => entry.kind === "message" && entry.messageId === messageId
  );
  if (earlier !== -1) draft.entries.splice(earlier);
  draft.typing = emptyTranscript.typing;
  addEntry(draft, { seq }, { kind: "message", messageId, text, attempt, end: null });
}
function endTurn(draft, data) {
  const { messageId, exitCode, error = null } = data;
  updateEntry(
    draft,
    (entry) => entry.kind === "message" && entry.messageId === messageId ? { ...entry, end: { exitCode, error } } : null
  );
  closeOpenEntries(draft);
}
function closeQuestion(draft, data) {
  updateEntry(
    draft,
    (entry) => entry.kind === "question" && entry.interactionId === data.interactionId ? { ...entry, state: data.outcome } : null
  );
}
function noticeOf(event) {
  switch (event.type) {
    case "files_skipped": {
      const text = `${event.data.skippedCount} entries of the working directory are not stored.`;
      return { notice: event.type, text };
    }
    case "replay_truncated": {
      const text = `The frames before ${event.data.firstAvailableSeq} are no longer stored.`;
      return { notice: "frames_missing", text };
    }
    case "state_rolled_back":
      return { notice: event.type, text: "The turns after the last saved one were lost." };
  }
}

// client/webhooks/signature.ts
function parseSignature(header) {
  const [, time, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (time === void 0 || hex === void 0) return null;
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return { timeSeconds: Number(time), bytes };
}
function importKey(secret) {
  if (secret === "") throw new TypeError("The webhook secret is empty.");
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [
    "verify"
  ]);
}
function isSigned({ timeSeconds, bytes }, key, body) {
  const prefix = new TextEncoder().encode(`${timeSeconds}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  return crypto.subtle.verify("HMAC", key, bytes, signed);
}

// client/webhooks/verify.ts
var WebhookRejected = class extends FlowrunError {
  constructor(reason) {
    super({ code: "WEBHOOK_REJECTED", message: `The webhook is rejected: ${reason}.` });
  }
};
async function verifyWebhook(request, secret, { toleranceSeconds = 300, now = /* @__PURE__ */ new Date() } = {}) {
  const body = await bodyOf(request);
  const header = headerReader(request.headers);
  const signatures = ["x-service-signature", "x-service-signature-next"].map((name2) => parseSignature(header(name2))).filter((signature) => signature !== null);
  if (signatures.length === 0) throw new WebhookRejected("it has no signature");
  const keys = await Promise.all([secret].flat().map(importKey));
  let timeSeconds = null;
  for (const signature of signatures) {
    for (const key of keys) {
      if (await isSigned(signature, key, body)) timeSeconds = signature.timeSeconds;
    }
  }
  if (timeSeconds === null) throw new WebhookRejected("its signature is wrong");
  const ageSeconds = Math.abs(now.getTime() / 1e3 - timeSeconds);
  if (ageSeconds > toleranceSeconds) throw new WebhookRejected("its signature is too old");
  const name = header("x-service-event");
  return eventOf(name, { deliveryId: header("x-service-delivery-id"), body });
}
async function bodyOf(request) {
  if (!("rawBody" in request)) return new Uint8Array(await request.arrayBuffer());
  const { rawBody } = request;
  if (typeof rawBody === "string") return new TextEncoder().encode(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  throw new TypeError("rawBody must be the bytes or the text of the body.");
}
function headerReader(headers) {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? "";
  const byName = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat()[0]])
  );
  return (name) => byName.get(name) ?? "";
}
function eventOf(name, { deliveryId, body }) {
  const text = new TextDecoder().decode(body);
  const data = JSON.parse(text);
  if (name !== "run.finished" && name !== "session.ended") {
    return { type: "unknown", name, deliveryId, data };
  }
  const isOfSession = data.sessionId !== void 0;
  if (data.status !== "sleep" || isOfSession !== (name === "session.ended")) {
    throw new WebhookRejected(`its body is not that of ${name}`);
  }
  return { type: name, deliveryId, data };
}
export {
  BudgetReached,
  ConcurrentLimit,
  ConnectionFailed,
  EndpointRetired,
  Flowrun,
  FlowrunError,
  InternalError,
  MessageNotQueued,
  MethodNotAllowed,
  MonthlyQuota,
  NotFound,
  PayloadTooLarge,
  PreconditionFailed,
  QueueFull,
  RangeNotSatisfiable,
  RateLimited,
  RunFailed,
  RunnerOffline,
  SessionLimit,
  StreamLimit,
  Unauthorized,
  UpstreamUnavailable,
  ValidationError,
  WaitLimit,
  WebhookRejected,
  emptyTranscript,
  extendTranscript,
  isFlowrunError,
  verifyWebhook
};
