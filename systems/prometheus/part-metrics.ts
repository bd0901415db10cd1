import { Gauge, type Registry } from 'prom-client';

/** Whether each part that the service stands on answers, asked when somebody asks. */
export function exportParts(
  registry: Registry,
  checks: Record<string, () => Promise<unknown>>,
  withinMs: number,
): void {
  const up = new Gauge({
    name: 'flowrun_part_up',
    help: 'Whether a part that this process depends on answers: 1 or 0.',
    labelNames: ['part'],
    registers: [],
    async collect() {
      const answers = Object.entries(checks).map(async ([part, check]) => {
        const isUp = await answersWithin(check, withinMs);
        this.set({ part }, isUp ? 1 : 0);
      });
      await Promise.all(answers);
    },
  });
  registry.registerMetric(up);
}

async function answersWithin(check: () => Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const asked = check().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([asked, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
