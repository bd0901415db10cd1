import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import Fastify, { LogController } from 'fastify';
import { limits } from '../core/limits.ts';
import type { App } from './app-types.ts';
import { createBeginRun } from './begin-run.ts';
import type { ApiDeps } from './deps.ts';
import { describe } from './description/describe.ts';
import { createEndWaits } from './end-waits.ts';
import { countUsage, createUsageCounter } from './key-usage.ts';
import { createLastUsed } from './last-used.ts';
import { authenticateOperators } from './operators/authenticate-operator.ts';
import { operatorApi } from './operators/operator-api.ts';
import { authenticate } from './plugins/authenticate.ts';
import { clientErrorHandler } from './plugins/client-error.ts';
import { cors, setCorsHeaders } from './plugins/cors.ts';
import { answerError } from './plugins/error-handlers.ts';
import { type InHand, keepInHand } from './plugins/in-hand.ts';
import { jsonBody } from './plugins/json-body.ts';
import { answerInsteadOfNode, ownAnswers } from './plugins/own-answers.ts';
import { pathIds } from './plugins/path-ids.ts';
import { answerHeaders, rateLimit, setCommonHeaders } from './plugins/rate-limit.ts';
import { requestLog } from './plugins/request-log.ts';
import { requestMetrics } from './plugins/request-metrics.ts';
import { routeTable } from './plugins/route-table.ts';
import { unknownPaths } from './plugins/unknown-paths.ts';
import { noteUnrouted } from './plugins/unrouted.ts';
import { validatorCompiler } from './plugins/validation.ts';
import { answerInteraction } from './routes/answer-interaction.ts';
import { changeLabels } from './routes/change-labels.ts';
import { deleteRun } from './routes/delete-run.ts';
import { files } from './routes/files.ts';
import { health } from './routes/health.ts';
import { interruptRun } from './routes/interrupt-run.ts';
import { listFlows } from './routes/list-flows.ts';
import { listRuns } from './routes/list-runs.ts';
import { openapi } from './routes/openapi.ts';
import { postMessage } from './routes/post-message.ts';
import { postman } from './routes/postman.ts';
import { readLogs } from './routes/read-logs.ts';
import { readRun } from './routes/read-run.ts';
import { retryRun } from './routes/retry-run.ts';
import { sessions } from './routes/sessions.ts';
import { stopRun } from './routes/stop-run.ts';
import { streamRun } from './routes/stream-run.ts';
import { triggerRun } from './routes/trigger-run.ts';
import { createStreams } from './stream/streams.ts';
import { createWorkflowCalls } from './workflow-calls.ts';

/** The API as a value: everything it needs comes in, nothing listens yet. */
export async function buildApp(deps: ApiDeps): Promise<App> {
  const app = createServer(deps);
  const streams = createStreams(deps);
  const workflows = createWorkflowCalls(deps);
  const closing = new AbortController();
  // Every wait listens to it: more than ten are no leak.
  setMaxListeners(0, closing.signal);
  const untilEnded = createEndWaits(deps, closing.signal);
  const beginRun = createBeginRun(deps, { workflows, untilEnded, closing: closing.signal });
  const { usage, lastUsed } = createKeyNotes(deps);
  app.addHook('preClose', async () => {
    closing.abort();
    await streams.close();
  });
  app.addHook('onClose', async () => {
    await workflows.close();
    await lastUsed.close();
    await usage.close();
  });

  routeTable(app);
  // In this order a request meets them.
  answerHeaders(app, deps.now);
  requestLog(app);
  requestMetrics(app, deps.metrics);
  cors(app, deps.corsOrigins);
  answerInsteadOfNode(app);
  authenticate(app, { keys: deps.keys, onUse: lastUsed.note, nowMs: deps.nowMs });
  countUsage(app, usage);
  const unknownSessions = authenticateOperators(app, deps);
  rateLimit(app, deps.rateLimiter);
  unknownPaths(app);
  pathIds(app);
  jsonBody(app);

  await describe(app, deps.publicUrl);
  triggerRun(app, deps, beginRun);
  listRuns(app, deps);
  readRun(app, deps);
  streamRun(app, deps, streams);
  readLogs(app, deps);
  files(app, deps);
  changeLabels(app, deps);
  answerInteraction(app, deps);
  stopRun(app, deps, workflows);
  interruptRun(app, deps, workflows);
  retryRun(app, deps, beginRun);
  deleteRun(app, deps, workflows);
  postMessage(app);
  sessions(app, deps, { workflows, closing: closing.signal });
  listFlows(app, deps);
  operatorApi(app, deps, { unknown: unknownSessions, beginRun });
  openapi(app);
  postman(app, deps.publicUrl);
  health(app, deps);
  return app;
}

/** What is written of keys and their use, a few seconds' worth at a time. */
function createKeyNotes(deps: ApiDeps) {
  const usage = createUsageCounter({
    ...deps,
    onError: (err) => deps.logger.warn({ err }, 'key_usage_not_written'),
  });
  const lastUsed = createLastUsed({
    keys: deps.keys,
    onError: (err) => deps.logger.warn({ err }, 'key_use_not_written'),
  });
  return { usage, lastUsed };
}

function createServer({ logger, metrics, now, newId, ...deps }: ApiDeps): App {
  const inHand = new WeakMap<Socket, InHand>();
  const app: App = Fastify({
    loggerInstance: logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: deps.isTrustedProxy,
    bodyLimit: limits.bodyMaxBytes,
    requestTimeout: limits.requestTimeoutMs,
    http: { headersTimeout: limits.headersTimeoutMs, ...ownAnswers },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.filePathMaxBytes * 3 },
    clientErrorHandler: clientErrorHandler({ newId, now, logger, metrics, inHand }),
    frameworkErrors(error, request, reply) {
      setCommonHeaders(reply, request.id, now());
      setCorsHeaders(request, reply, deps.corsOrigins);
      answerError(error, request, reply);
      // No hook has run for it, and none will.
      const { id: requestId, method, errorCode: code } = request;
      noteUnrouted({ logger, metrics }, { requestId, method, status: reply.statusCode, code });
    },
  });
  keepInHand(app, inHand);
  app.server.maxConnections = limits.connectionsMax;
  app.setErrorHandler(answerError);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  return app;
}
