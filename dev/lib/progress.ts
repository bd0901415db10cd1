// One line per step: what, how it went, how long it took. A long step says now and then that it lives.

const nameWidth = 14;
const signOfLifeMs = 15_000;

export interface Outcome<T> {
  value: T;
  said: string;
}

/** Runs one step and prints its line. `now` names what a long step is doing at the moment. */
export async function step<T>(
  name: string,
  work: (now: (doing: string) => void) => Promise<Outcome<T>>,
): Promise<T> {
  const begun = Date.now();
  let doing = 'working';
  const sign = setInterval(() => line(name, `${doing} …`, begun), signOfLifeMs);
  try {
    const outcome = await work((text) => {
      doing = text;
    });
    line(name, outcome.said, begun);
    return outcome.value;
  } catch (error) {
    line(name, 'failed', begun);
    throw error;
  } finally {
    clearInterval(sign);
  }
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function line(name: string, text: string, begun: number): void {
  say(`${name.padEnd(nameWidth)} ${text} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
}
