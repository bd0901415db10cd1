/** Reads the samples of one metrics endpoint, by name and labels as they are written. */
export async function scrape(port: number): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  if (!answer.ok) throw new Error(`the metrics on port ${port} answer ${answer.status}`);
  const text = await answer.text();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** The value of a sample, selected by its name and labels as they are written. */
export function valueOf(samples: string[], series: string): number | null {
  const line = samples.find((sample) => sample.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

export interface Selector {
  name: string;
  /** The labels that are selected with `=`. */
  labels: string[];
}

/** The metrics in a Prometheus expression, with the label values that it selects. */
export function selectorsIn(expression: string): Selector[] {
  const found = expression.matchAll(/\b((?:flowrun|temporal|process|nodejs)_\w+)(?:\{([^}]*)\})?/g);
  return [...found].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/\w+="[^"]*"/g)].map(([label]) => label),
  }));
}

/** Whether an exported sample matches a selector. */
export function isExported(samples: string[], { name, labels }: Selector): boolean {
  return samples.some((sample) => {
    const [, exported, exportedLabels = ''] = /^(\w+)(?:\{(.*)\})? /.exec(sample) ?? [];
    return (
      exported === name &&
      labels.every((label) => exportedLabels.split(/,(?=\w+=)/).includes(label))
    );
  });
}
