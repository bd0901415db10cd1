import { z } from 'zod';
import { modelPrice, type PriceList } from '../core/metering/model-prices.ts';
import { variable } from './environment.ts';

/** In dollars. With a higher price, the cost of the largest call would exceed the safe integers. */
const dollars = z.number().min(0).max(1_000);

const rates = {
  input: dollars,
  output: dollars,
  cacheRead: dollars,
  cacheWrite5m: dollars.optional(),
  cacheWrite1h: dollars.optional(),
};

const price = z.strictObject({
  ...rates,
  webSearch: dollars.optional(),
  validFrom: z.iso.date().optional(),
});

const setting = z.record(
  z.string().min(1),
  z.union([price.transform((one) => [one]), z.array(price).min(1)]),
);

/** The operator's prices, as JSON. */
export const modelPrices = variable(
  'JSON like {"my-model":{"input":3,"output":15,"cacheRead":0.3}}, in dollars per million tokens',
  (text): PriceList | null => {
    const parsed = setting.safeParse(parseJson(text));
    if (!parsed.success) return null;
    const entries = Object.entries(parsed.data);
    return Object.fromEntries(entries.map(([model, list]) => [model, list.map(modelPrice)]));
  },
);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
