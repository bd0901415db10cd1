import swagger from '@fastify/swagger';
import Fastify, { LogController } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { limits } from '../core/limits.ts';
import type { App } from './app-types.ts';
import type { ApiDeps } from './deps.ts';
import { createLastUsed } from './last-used.ts';
import { authenticate } from './plugins/authenticate.ts';
import { clientErrorHandler } from './plugins/client-error.ts';
import { answerError } from './plugins/error-handlers.ts';
import { jsonBody } from './plugins/json-body.ts';
import { pathIds } from './plugins/path-ids.ts';
import { answerHeaders, rateLimit, setCommonHeaders } from './plugins/rate-limit.ts';
import { requestLog } from './plugins/request-log.ts';
import { unknownPaths } from './plugins/unknown-paths.ts';
import { validatorCompiler } from './plugins/validation.ts';
import { deleteRun } from './routes/delete-run.ts';
import { downloadFile } from './routes/download-file.ts';
import { health } from './routes/health.ts';
import { listFiles } from './routes/list-files.ts';
import { listFlows } from './routes/list-flows.ts';
import { openapi } from './routes/openapi.ts';
import { postMessage } from './routes/post-message.ts';
import { readLogs } from './routes/read-logs.ts';
import { readRun } from './routes/read-run.ts';
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
  const lastUsed = createLastUsed({
    keys: deps.keys,
    onError: (err) => deps.logger.warn({ err }, 'key_use_not_written'),
  });
  app.addHook('preClose', () => streams.close());
  app.addHook('onClose', async () => {
    await workflows.close();
    await lastUsed.close();
  });

  // In this order a request meets them.
  answerHeaders(app, deps.now);
  requestLog(app);
  authenticate(app, { keys: deps.keys, onUse: lastUsed.note, nowMs: deps.nowMs });
  rateLimit(app, deps.rateLimiter);
  unknownPaths(app);
  pathIds(app);
  jsonBody(app);

  await describe(app, deps.publicUrl);
  triggerRun(app, deps, workflows);
  readRun(app, deps);
  streamRun(app, deps, streams);
  readLogs(app, deps);
  listFiles(app, deps);
  downloadFile(app, deps);
  stopRun(app, deps, workflows);
  deleteRun(app, deps, workflows);
  postMessage(app);
  listFlows(app, deps);
  openapi(app);
  health(app, deps);
  return app;
}

function createServer({ logger, now, newId }: ApiDeps): App {
  const app: App = Fastify({
    loggerInstance: logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    genReqId: newId,
    requestIdHeader: false,
    bodyLimit: limits.bodyMaxBytes,
    requestTimeout: limits.requestTimeoutMs,
    http: { headersTimeout: limits.headersTimeoutMs },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.filePathMaxBytes * 3 },
    clientErrorHandler: clientErrorHandler({ newId, now }),
    frameworkErrors(error, request, reply) {
      setCommonHeaders(reply, request.id, now());
      answerError(error, request, reply);
    },
  });
  app.server.maxConnections = limits.connectionsMax;
  app.setErrorHandler(answerError);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  return app;
}

async function describe(app: App, publicUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Agent Flow Run Service', version: '1.0.0' },
      servers: [{ url: publicUrl }],
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
      security: [{ apiKey: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
}
