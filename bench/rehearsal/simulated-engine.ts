// Answers a worker's calls to the Docker Engine, and runs a simulated agent for each container that
// is started. It is a separate program, so its CPU time is not counted as the service's.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { cpus, totalmem } from 'node:os';
import { text } from 'node:stream/consumers';
import { endWithParent, readSetting, reportToParent } from '../limits/child.ts';
import type { TurnScript } from './simulated-agent.ts';
import {
  type ContainerSpec,
  createContainer,
  runContainer,
  type SimulatedContainer,
} from './simulated-containers.ts';

endWithParent();
/** start-engine.ts starts this program. */
const { socketPath, script } = readSetting() as { socketPath: string; script: TurnScript };
const containers = new Map<string, SimulatedContainer>();
const watchers = new Set<ServerResponse>();
const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error);
    response.writeHead(500).end();
  });
});
server.listen(socketPath, () => reportToParent({}));

type Reply = [status: number, body?: object];
const failed = (status: number, message: string): Reply => [status, { message }];

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://engine');
  if (url.pathname === '/events') {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    watchers.add(response);
    return void response.on('close', () => watchers.delete(response));
  }
  const body = await text(request);
  const [status, reply] = replyTo(`${request.method} ${url.pathname}`, url.searchParams, body);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(reply === undefined ? undefined : JSON.stringify(reply));
}

function replyTo(call: string, query: URLSearchParams, body: string): Reply {
  if (call === 'GET /version') return [200, { Version: 'simulated', ApiVersion: '1.47' }];
  if (call === 'GET /info') return [200, info()];
  if (call.startsWith('GET /images/')) return [200, { Id: 'sha256:simulated' }];
  if (call === 'GET /containers/json') return [200, listed(query.get('filters'))];
  if (call === 'POST /containers/create') return create(query.get('name') ?? '', body);
  const [, verb = '', id = '', action = ''] =
    /^(\w+) \/containers\/([^/]+)\/?(\w*)$/.exec(call) ?? [];
  const container = containers.get(id) ?? byName(id);
  if (container === undefined) return failed(404, `No such container: ${id}`);
  return changed(container, `${verb} ${action}`.trim());
}

const info = () => ({
  NCPU: cpus().length,
  MemTotal: totalmem(),
  Runtimes: { runc: { path: 'runc' } },
  LiveRestoreEnabled: true,
});

const byName = (name: string): SimulatedContainer | undefined =>
  [...containers.values()].find((container) => container.name === name);

function listed(filters: string | null): object[] {
  const { label = [] } = JSON.parse(filters ?? '{}') as { label?: string[] }; // documented by the engine
  const wanted = label.map((each) => each.split('='));
  return [...containers.values()]
    .filter(({ spec: { Labels } }) =>
      wanted.every(([name = '', value]) =>
        value === undefined ? name in Labels : Labels[name] === value,
      ),
    )
    .map(({ id, spec, status }) => ({ Id: id, Labels: spec.Labels, State: status }));
}

function create(name: string, body: string): Reply {
  if (byName(name) !== undefined) return failed(409, `The name ${name} is in use`);
  const spec = JSON.parse(body) as ContainerSpec; // documented by the engine
  const container = createContainer(name, spec);
  containers.set(container.id, container);
  return [201, { Id: container.id }];
}

function changed(container: SimulatedContainer, action: string): Reply {
  const { status, freezer, killed } = container;
  switch (action) {
    case 'GET json':
      return [200, inspected(container)];
    case 'POST start':
      if (status !== 'created') return [304];
      void runContainer(container, script).then(() => announceExit(container));
      return [204];
    case 'POST pause':
      if (status !== 'running') return failed(409, `Container ${container.id} is not running`);
      freezer.freeze();
      container.status = 'paused';
      return [204];
    case 'POST unpause':
      if (status !== 'paused') return failed(409, `Container ${container.id} is not paused`);
      container.status = 'running';
      freezer.thaw();
      return [204];
    case 'POST update':
      return [200, { Warnings: null }];
    case 'POST kill':
      if (status === 'created' || status === 'exited')
        return failed(409, `Container ${container.id} is not running`);
      killed.abort();
      return [204];
    case 'DELETE':
      killed.abort();
      containers.delete(container.id);
      return [204];
    default:
      return failed(404, `no such call: ${action}`);
  }
}

const never = '0001-01-01T00:00:00Z';

const inspected = ({ id, spec, status, exitCode, startedAt, finishedAt }: SimulatedContainer) => ({
  Id: id,
  Config: { Labels: spec.Labels },
  HostConfig: { Runtime: spec.HostConfig.Runtime },
  State: {
    Status: status,
    Paused: status === 'paused',
    ExitCode: exitCode,
    OOMKilled: false,
    Error: '',
    StartedAt: startedAt?.toISOString() ?? never,
    FinishedAt: finishedAt?.toISOString() ?? never,
  },
});

function announceExit({ id, spec }: SimulatedContainer): void {
  const event = { Type: 'container', Action: 'die', Actor: { ID: id, Attributes: spec.Labels } };
  for (const watcher of watchers) watcher.write(`${JSON.stringify(event)}\n`);
}
