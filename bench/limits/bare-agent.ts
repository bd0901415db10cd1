// The agent in a bare container: `docker run -i --network none` of the same image with the same
// flags, by the same calls to the engine. The engine's defaults apply. Its loopback interface gets
// the model from outside: on runc by a relay that enters its network namespace. gVisor has its own
// network, so there the relay runs in the container and reaches the model by a mounted socket.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { type Duplex, PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Docker from 'dockerode';
import { agentCommand } from '../../core/agent/agent-command.ts';
import { agentSettings } from '../../core/agent/agent-settings.ts';
import { emptyRunConfig } from '../../core/runs/run-config.ts';
import { sandboxPaths } from '../../core/sandbox/sandbox-config.ts';
import { machineMs } from '../../test/fixtures/scripted-agent/machine-clock.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { agentWords } from '../service/agent-words.ts';
import { addPieces, createSightings, type Sightings } from '../service/sightings.ts';

export interface BareAgent {
  /** Before the first call to the engine, by `machineMs`. */
  startedAt: number;
  output: Sightings;
  /** The process id on the host. */
  pid: number;
  /** Writes a message into the agent's input. Returns the milliseconds to the first text. */
  firstText(delayMs?: number): Promise<number>;
  /** As `firstText`, but the container is paused before and resumed with the message. */
  firstTextAfterPause(): Promise<number>;
  remove(): Promise<void>;
}

const label = { 'flowrun.bench': 'bare' };
const modelPort = 8118;
const settleMs = 300;
const docker = (): Docker =>
  new Docker({ socketPath: stackEnv.dockerHost.replace(/^unix:\/\//, '') });

/** Resolves with the first text of the first message. */
export async function startBareAgent(modelSocket: string): Promise<[BareAgent, number]> {
  const engine = docker();
  const words = agentWords();
  const output = createSightings();
  const startedAt = machineMs();
  const container = await engine.createContainer(specOf(modelSocket));
  const options = { stdin: true, stdout: true, stderr: true, stream: true, hijack: true };
  const attached = (await container.attach(options)) as Duplex; // a hijacked connection is a socket
  const stdout = new PassThrough().setEncoding('utf8');
  stdout.on('data', addPieces(output, '\n'));
  engine.modem.demuxStream(attached, stdout, new PassThrough().resume());
  attached.write(messageLine(words.prompt));
  await container.start();
  const { State } = await container.inspect();
  const relay = await startRelay(container, { pid: State.Pid, modelSocket });
  const agent: BareAgent = {
    startedAt,
    output,
    pid: State.Pid,
    firstText: (delayMs = 0) => say(attached, output, { delayMs, resume: async () => undefined }),
    async firstTextAfterPause() {
      await pause(container);
      return say(attached, output, { delayMs: 0, resume: () => container.unpause() });
    },
    async remove() {
      attached.destroy();
      relay.kill();
      await container.remove({ force: true, v: true });
    },
  };
  const { at } = await output.until(words.isText);
  await output.until(words.isResult);
  return [agent, at - startedAt];
}

/** An engine on a busy machine may fail to freeze a container. */
async function pause(container: Docker.Container, triesLeft = 20): Promise<void> {
  try {
    await container.pause();
    await sleep(settleMs);
  } catch (error) {
    if (triesLeft === 0) throw error;
    await sleep(settleMs);
    await pause(container, triesLeft - 1);
  }
}

interface Message {
  delayMs: number;
  resume(): Promise<unknown>;
}

async function say(input: Duplex, output: Sightings, { delayMs, resume }: Message) {
  const words = agentWords(delayMs);
  const sentAt = machineMs();
  input.write(messageLine(words.prompt));
  await resume();
  const { at } = await output.until(words.isText);
  await output.until(words.isResult);
  return at - sentAt;
}

function messageLine(content: string): string {
  const message = { role: 'user', content };
  return `${JSON.stringify({ type: 'user', message, uuid: randomUUID() })}\n`;
}

function specOf(modelSocket: string): Docker.ContainerCreateOptions {
  const noServers = { env: {}, mcpServers: {}, startsRuns: false };
  const policy = { disallowedTools: [], networkPolicy: 'none' as const };
  const flow = { instructions: null, ...policy, ...noServers };
  const limits = { maxTurns: null, answerTokensMax: null };
  const bounds = { model: null, ...limits, outputSchema: null };
  const run = { partialMessages: false, ...bounds };
  const conversation = { id: randomUUID(), resume: false };
  const { args } = agentCommand({ flow, config: emptyRunConfig, run, conversation });
  const isGvisor = stackEnv.sandboxRuntime === 'runsc';
  const folder = dirname(modelSocket);
  return {
    Image: stackEnv.sandboxImage,
    Entrypoint: [sandboxPaths.agent],
    Cmd: args.map((arg) => (arg === agentSettings() ? ownSettings : arg)),
    Env: Object.entries(agentEnvironment).map(([name, value]) => `${name}=${value}`),
    Labels: label,
    OpenStdin: true,
    StdinOnce: true,
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true },
    HostConfig: {
      NetworkMode: 'none',
      ...(isGvisor ? { Runtime: 'runsc', Binds: [`${folder}:${folder}`] } : {}),
    },
  };
}

/** There is no gateway before the model here, so its address has no path. */
const ownSettings = agentSettings().replace(`:${modelPort}/model"`, `:${modelPort}"`);

/**
 * As sandbox/entry/agent-env.ts sets it, because it decides how much the agent does at its start.
 */
const agentEnvironment = {
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${modelPort}`,
  ANTHROPIC_API_KEY: 'sandbox',
  LANG: 'C.UTF-8',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

interface RelayOptions {
  pid: number;
  modelSocket: string;
}

/** Perl, because it starts in milliseconds and every Debian has it, the image too. */
async function startRelay(
  container: Docker.Container,
  { pid, modelSocket }: RelayOptions,
): Promise<Pick<ChildProcess, 'kill'>> {
  const perl = ['perl', '-e', relay, String(modelPort), modelSocket];
  if (stackEnv.sandboxRuntime !== 'runsc') {
    return spawn('nsenter', [`--net=/proc/${pid}/ns/net`, ...perl], { stdio: 'ignore' });
  }
  // The folder of the model's socket belongs to root.
  const exec = await container.exec({ Cmd: perl, User: 'root' });
  await exec.start({ Detach: true });
  return { kill: () => true }; // ends with the container
}

const relay = `
use strict; use IO::Socket::INET; use IO::Socket::UNIX; use IO::Select;
my ($port, $path) = @ARGV; $SIG{CHLD} = 'IGNORE';
my $server = IO::Socket::INET->new(Listen => 16, LocalAddr => '127.0.0.1', LocalPort => $port) or die;
while (my $client = $server->accept) {
  if (fork) { close $client; next }
  my $model = IO::Socket::UNIX->new(Peer => $path) or exit 1;
  my $both = IO::Select->new($client, $model);
  while (1) {
    for my $from ($both->can_read) {
      sysread($from, my $bytes, 65536) or exit;
      syswrite($from == $client ? $model : $client, $bytes);
    }
  }
}`;
