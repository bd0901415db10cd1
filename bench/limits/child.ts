import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A child process of the bench that communicates by messages. */
interface Child<Command, Answer> {
  send(command: Command): void;
  /**
   * Resolves with the next answer. Must be called before the request is sent, or right after it.
   */
  answer(): Promise<Answer>;
  pid(): number;
  stop(): Promise<void>;
}

const settingName = 'BENCH_SETTING';

/** `program` is a file URL. `setting` is sent to the child at its start. */
export function startChild<Command extends object, Answer>(
  program: URL,
  setting: object,
): Child<Command, Answer> {
  const child = fork(program, {
    // Not an argument, because it may contain a password, and arguments are visible to all users.
    env: { ...process.env, [settingName]: JSON.stringify(setting) },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const answers: Answer[] = [];
  const waiting: ((answer: Answer) => void)[] = [];
  child.on('message', (answer) => {
    const next = waiting.shift();
    if (next === undefined) answers.push(answer as Answer);
    else next(answer as Answer); // the program's own answer type
  });
  const exited = new Promise<never>((_resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${program.pathname} ended with ${code}`)));
  });
  exited.catch(() => undefined); // `answer` may have no caller when the child exits normally

  const next = (): Promise<Answer> =>
    new Promise((resolve) => {
      const known = answers.shift();
      if (known === undefined) waiting.push(resolve);
      else resolve(known);
    });
  return {
    send: (command) => void child.send(command),
    answer: () => Promise.race([next(), exited]),
    pid: () => child.pid ?? 0,
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** Returns the setting that the parent passed to startChild. */
export function readSetting(): unknown {
  return JSON.parse(process.env[settingName] ?? '{}');
}

export function reportToParent(answer: object): void {
  process.send?.(answer);
}

/** Exits when the parent has died. */
export function endWithParent(): void {
  process.on('disconnect', () => process.exit());
}
