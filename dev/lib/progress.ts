// Prints one line per step with its result and duration. A long step repeats what it is doing.

const nameWidth = 14;
const reminderMs = 15_000;

interface StepResult<T> {
  value: T;
  summary: string;
}

/** Runs one step and prints its line. `progress` sets the activity that a long step reports. */
export async function step<T>(
  name: string,
  work: (progress: (activity: string) => void) => Promise<StepResult<T>>,
): Promise<T> {
  const startedAt = Date.now();
  let doing = 'working';
  const reminder = setInterval(() => printLine(name, `${doing} …`, startedAt), reminderMs);
  try {
    const outcome = await work((text) => {
      doing = text;
    });
    printLine(name, outcome.summary, startedAt);
    return outcome.value;
  } catch (error) {
    printLine(name, 'failed', startedAt);
    throw error;
  } finally {
    clearInterval(reminder);
  }
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function printLine(name: string, text: string, startedAt: number): void {
  print(`${name.padEnd(nameWidth)} ${text} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
}
