import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A program of the bench's own in a process of its own, spoken with by messages. */
interface Child<Order, Answer> {
  send(order: Order): void;
  /** The next answer; whoever asks does so before the order is given, or right after it. */
  answer(): Promise<Answer>;
  stop(): Promise<void>;
}

const settingName = 'BENCH_SETTING';

/** `program` is a file's URL; `setting` is what it is told at its start. */
export function startChild<Order extends object, Answer>(
  program: URL,
  setting: object,
): Child<Order, Answer> {
  const child = fork(program, {
    // Not as an argument: it may hold a password, and arguments are everybody's to read.
    env: { ...process.env, [settingName]: JSON.stringify(setting) },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const answers: Answer[] = [];
  const waiting: ((answer: Answer) => void)[] = [];
  child.on('message', (answer) => {
    const next = waiting.shift();
    if (next === undefined) answers.push(answer as Answer);
    else next(answer as Answer); // the program's own answer
  });
  const gone = new Promise<never>((_resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${program.pathname} ended with ${code}`)));
  });
  gone.catch(() => undefined); // an end that nobody waits for is the ordinary one

  const next = (): Promise<Answer> =>
    new Promise((resolve) => {
      const known = answers.shift();
      if (known === undefined) waiting.push(resolve);
      else resolve(known);
    });
  return {
    send: (order) => void child.send(order),
    answer: () => Promise.race([next(), gone]),
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** The other end: what this process was told at its start, as startChild's caller gave it. */
export function readSetting(): unknown {
  return JSON.parse(process.env[settingName] ?? '{}');
}

export function reportToParent(answer: object): void {
  process.send?.(answer);
}

/** A child whose bench has died has nothing left to do. */
export function endWithParent(): void {
  process.on('disconnect', () => process.exit());
}
