import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import Fastify, { LogController } from 'fastify';
import { limits } from '../core/limits.ts';
import type { App } from './app-types.ts';
import { authenticate } from './auth/authenticate.ts';
import { type BruteForceGuard, createBruteForceGuard } from './auth/brute-force-guard.ts';
import { checkScopes } from './auth/check-scopes.ts';
import { createKeyIdentification } from './auth/identify-key.ts';
import { createKeyLastUsed } from './auth/key-last-used.ts';
import { countUsage, createUsageCounter } from './auth/key-usage.ts';
import { forOperators } from './auth/operator-routes.ts';
import { installWaitLimit } from './auth/wait-limit.ts';
import type { ApiDeps } from './deps.ts';
import { files, uploads } from './files/routes/files.ts';
import { flowFileSchema } from './flows/flow-file-schema.ts';
import { listFlows } from './flows/list-flows.ts';
import { readVersions } from './flows/versions/read-versions.ts';
import { installBodies } from './http/bodies/bodies.ts';
import { installCors, setCorsHeaders } from './http/cors.ts';
import { sendError } from './http/error-handlers.ts';
import { health } from './http/health.ts';
import { handleNodeRejections, nodeHttpOptions } from './http/node-http-errors.ts';
import { checkPathIds, handleUnknownPaths } from './http/not-found.ts';
import {
  createParserErrorHandler,
  type InFlightRequest,
  recordUnroutedRequest,
  trackInFlightRequests,
} from './http/parser-errors.ts';
import { installCommonHeaders, installRateLimit, setCommonHeaders } from './http/rate-limit.ts';
import { installRequestLog } from './http/request-log.ts';
import { installRequestMetrics } from './http/request-metrics.ts';
import { installRouteTable } from './http/route-table.ts';
import { validatorCompiler } from './http/validation.ts';
import { mcp } from './mcp/mcp.ts';
import { registerOpenApi } from './openapi/describe.ts';
import { openapi } from './openapi/openapi.ts';
import { postman } from './openapi/postman.ts';
import { createOperatorIdentification } from './operators/identify-operator.ts';
import { operatorApi } from './operators/operator-api.ts';
import { servePackages } from './packages/serve-packages.ts';
import { servePage } from './page/serve-page.ts';
import { answerInteraction } from './runs/interactions/answer-interaction.ts';
import { readLogs } from './runs/logs/read-logs.ts';
import { changeLabels } from './runs/routes/change-labels.ts';
import { createRunToken } from './runs/routes/create-run-token.ts';
import { deleteRun } from './runs/routes/delete-run.ts';
import { interruptRun } from './runs/routes/interrupt-run.ts';
import { listRuns } from './runs/routes/list-runs.ts';
import { postMessage } from './runs/routes/post-message.ts';
import { readRun } from './runs/routes/read-run.ts';
import { retryRun } from './runs/routes/retry-run.ts';
import { stopRun } from './runs/routes/stop-run.ts';
import { triggerRun } from './runs/routes/trigger-run.ts';
import { createRunEndWaiter } from './runs/run-end-waiter.ts';
import { createStartRun, type StartRun } from './runs/start-run.ts';
import { createWorkflowClient, type WorkflowClient } from './runs/workflow-client.ts';
import { sessions } from './sessions/routes/sessions.ts';
import { createTurnWaiter } from './sessions/turn-waiter.ts';
import { streamRun } from './stream/stream-run.ts';
import { createStreams, type Streams } from './stream/streams.ts';

/** Builds the API from its dependencies, without listening. */
export async function buildApp(deps: ApiDeps): Promise<App> {
  const app = createServer(deps);
  const streams = createStreams(deps);
  const workflows = createWorkflowClient(deps);
  const closing = new AbortController();
  // Every waiting request adds a listener: more than ten are not a leak.
  setMaxListeners(0, closing.signal);
  const waitForEnd = createRunEndWaiter(deps, closing.signal);
  const waitForTurnEnd = createTurnWaiter(deps, closing.signal);
  const startRun = createStartRun(deps, { workflows, waitForEnd, closing: closing.signal });
  const { usage, lastUsed } = createKeyWriters(deps);
  app.addHook('preClose', async () => {
    closing.abort();
    await streams.close();
  });
  app.addHook('onClose', async () => {
    await workflows.close();
    await lastUsed.close();
    await usage.close();
  });

  installRouteTable(app);
  // A request passes these hooks in this order.
  installCommonHeaders(app, deps.now);
  installRequestLog(app);
  installRequestMetrics(app, deps.metrics);
  installCors(app, deps.corsOrigins);
  handleNodeRejections(app);
  const operatorGuard = installAuthentication(app, deps, lastUsed);
  countUsage(app, usage);
  installRateLimit(app, deps.rateLimiter);
  checkScopes(app);
  handleUnknownPaths(app);
  checkPathIds(app);
  installBodies(app);
  installWaitLimit(app);

  await registerOpenApi(app, deps.publicUrl);
  runs(app, deps, { streams, workflows, startRun });
  const chatParts = { workflows, waitForTurnEnd, closing: closing.signal };
  sessions(app, deps, chatParts);
  const forProjects = forOperators(app);
  runsOfProjects(forProjects, deps, { streams, workflows, startRun });
  sessions(forProjects, deps, chatParts);
  uploads(app, deps);
  listFlows(app, deps);
  readVersions(app, deps);
  mcp(app, deps, closing.signal);
  operatorApi(app, deps, operatorGuard);
  openapi(app, deps.publicUrl);
  postman(app, deps.publicUrl);
  flowFileSchema(app);
  health(app, deps);
  servePackages(app, deps.publicUrl);
  servePage(app, deps);
  return app;
}

interface RunParts {
  streams: Streams;
  workflows: WorkflowClient;
  startRun: StartRun;
}

function runs(app: App, deps: ApiDeps, { streams, workflows, startRun }: RunParts): void {
  triggerRun(app, deps, startRun);
  listRuns(app, deps);
  readRun(app, deps);
  streamRun(app, deps, streams);
  createRunToken(app, deps);
  readLogs(app, deps);
  files(app, deps);
  changeLabels(app, deps);
  answerInteraction(app, deps);
  stopRun(app, deps, workflows);
  interruptRun(app, deps, workflows);
  retryRun(app, deps, startRun);
  deleteRun(app, deps, workflows);
  postMessage(app);
}

/** The same handlers for operators. Lists and records of runs have more fields for them. */
function runsOfProjects(app: App, deps: ApiDeps, parts: RunParts): void {
  const { streams, workflows, startRun } = parts;
  triggerRun(app, deps, startRun);
  readVersions(app, deps);
  streamRun(app, deps, streams);
  readLogs(app, deps);
  changeLabels(app, deps);
  answerInteraction(app, deps);
  stopRun(app, deps, workflows);
  interruptRun(app, deps, workflows);
  retryRun(app, deps, startRun);
  deleteRun(app, deps, workflows);
  files(app, deps);
}

/** Returns the guard against guessed sessions, which the sign-in uses too. */
function installAuthentication(
  app: App,
  deps: ApiDeps,
  lastUsed: ReturnType<typeof createKeyLastUsed>,
): BruteForceGuard {
  const guard = createBruteForceGuard(deps.nowMs);
  authenticate(app, {
    identifyKey: createKeyIdentification({ ...deps, onUse: lastUsed.record }),
    identifyOperator: createOperatorIdentification({ ...deps, guard }),
    findFlow: deps.flows.find,
    publicUrl: deps.publicUrl,
  });
  return guard;
}

/** Batched writers for the use of keys. */
function createKeyWriters(deps: ApiDeps) {
  const usage = createUsageCounter({
    ...deps,
    onError: (err) => deps.logger.warn({ err }, 'key_usage_write_failed'),
  });
  const lastUsed = createKeyLastUsed({
    keys: deps.keys,
    onError: (err) => deps.logger.warn({ err }, 'key_last_used_write_failed'),
  });
  return { usage, lastUsed };
}

function createServer({ logger, metrics, now, newId, ...deps }: ApiDeps): App {
  const inFlight = new WeakMap<Socket, InFlightRequest>();
  const app: App = Fastify({
    loggerInstance: logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: deps.isTrustedProxy,
    bodyLimit: limits.http.smallBodyMaxBytes,
    requestTimeout: limits.http.requestTimeoutMs,
    http: {
      headersTimeout: limits.http.headersTimeoutMs,
      connectionsCheckingInterval: limits.http.timeoutCheckMs,
      ...nodeHttpOptions,
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.file.pathMaxBytes * 3 },
    clientErrorHandler: createParserErrorHandler({
      newId,
      now,
      logger,
      metrics,
      inFlight,
    }),
    frameworkErrors(error, request, reply) {
      setCommonHeaders(reply, request.id, now());
      setCorsHeaders(request, reply, deps.corsOrigins);
      sendError(error, request, reply);
      // No hooks run for this request.
      const { id: requestId, method, errorCode: code } = request;
      recordUnroutedRequest(
        { logger, metrics },
        { requestId, method, status: reply.statusCode, code },
      );
    },
  });
  trackInFlightRequests(app, inFlight);
  app.server.maxConnections = limits.http.connectionsMax;
  app.setErrorHandler(sendError);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  return app;
}
