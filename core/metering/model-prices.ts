// The prices of the models. All of them are whole numbers of nano-dollars, so that sums are exact.

/** In nano-dollars per token. */
interface TokenRates {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
}

export interface ModelPrice extends TokenRates {
  /** The first day on which it applies, in UTC, like 2026-01-31. */
  validFrom: string;
  /** In nano-dollars per search. */
  webSearch: number;
  /** Replaces the rates of a call whose prompt is longer than this. */
  longPrompt: (TokenRates & { aboveTokens: number }) | null;
}

/** Prices by model. The latest price that is valid on the day of a call applies. */
export type PriceList = Readonly<Record<string, readonly ModelPrice[]>>;

/** Prices in dollars per million tokens, as providers publish them. */
interface PublishedPrice {
  input: number;
  output: number;
  cacheRead: number;
  /** The defaults are the usual multiples of the input price. */
  cacheWrite5m?: number | undefined;
  cacheWrite1h?: number | undefined;
  /** Per search. */
  webSearch?: number | undefined;
  validFrom?: string | undefined;
  longPrompt?: { aboveTokens: number; input: number; output: number; cacheRead: number };
}

/** A dollar per million tokens is this many nano-dollars per token. */
const nanosPerToken = 1_000;
const nanosPerDollar = 1_000_000_000;
const standardWebSearchUsd = 0.01;
/** The day from which the prices below are known to be valid. */
const listedFrom = '2026-01-01';

export function modelPrice(published: PublishedPrice): ModelPrice {
  const { longPrompt, webSearch = standardWebSearchUsd, validFrom = listedFrom } = published;
  return {
    ...ratesOf(published),
    validFrom,
    webSearch: Math.round(webSearch * nanosPerDollar),
    longPrompt: longPrompt ? { ...ratesOf(longPrompt), aboveTokens: longPrompt.aboveTokens } : null,
  };
}

function ratesOf({
  input,
  output,
  cacheRead,
  cacheWrite5m = input * 1.25,
  cacheWrite1h = input * 2,
}: Omit<PublishedPrice, 'longPrompt'>): TokenRates {
  return {
    input: Math.round(input * nanosPerToken),
    output: Math.round(output * nanosPerToken),
    cacheRead: Math.round(cacheRead * nanosPerToken),
    cacheWrite5m: Math.round(cacheWrite5m * nanosPerToken),
    cacheWrite1h: Math.round(cacheWrite1h * nanosPerToken),
  };
}

const listed = (...published: PublishedPrice[]): ModelPrice[] => published.map(modelPrice);

/**
 * The offline model in the ledger. It answers calls to every model, and its price applies to all of
 * them. The price is not 0, so that costs and budgets can be tried without a key.
 */
export const offlineModelName = 'offline-model';

const opus4 = listed({ input: 15, output: 75, cacheRead: 1.5 });
const opus = listed({ input: 5, output: 25, cacheRead: 0.5 });
const sonnet = listed({ input: 3, output: 15, cacheRead: 0.3 });
const fable = listed({ input: 10, output: 50, cacheRead: 1 });
const fable51 = listed({ input: 10, output: 50, cacheRead: 0.25 });
const fable52 = listed({ input: 8, output: 40, cacheRead: 0.2 });

/**
 * The list prices of the models that the agent supports. Add a changed price as an entry with its
 * day.
 */
export const listPrices: PriceList = {
  'claude-3-5-haiku': listed({ input: 0.8, output: 4, cacheRead: 0.08 }),
  'claude-haiku-4-5': listed({ input: 1, output: 5, cacheRead: 0.1 }),
  'claude-haiku-5-5': listed({
    ...{ input: 0.1, output: 0.5, cacheRead: 0.01 },
    longPrompt: { aboveTokens: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05 },
  }),
  'claude-3-5-sonnet': sonnet,
  'claude-3-7-sonnet': sonnet,
  'claude-sonnet-4': sonnet,
  'claude-sonnet-4-0': sonnet,
  'claude-sonnet-4-5': sonnet,
  'claude-sonnet-4-6': sonnet,
  'claude-sonnet-5': listed({ input: 2, output: 10, cacheRead: 0.2 }),
  'claude-sonnet-5-5': listed({ input: 2, output: 10, cacheRead: 0.1 }),
  'claude-opus-4': opus4,
  'claude-opus-4-0': opus4,
  'claude-opus-4-1': opus4,
  'claude-opus-4-5': opus,
  'claude-opus-4-6': opus,
  'claude-opus-4-7': opus,
  'claude-opus-4-8': opus,
  'claude-opus-5': opus,
  'claude-opus-5-5': listed({ input: 4, output: 20, cacheRead: 0.2 }),
  'claude-fable-5': fable,
  'claude-fable-5-1': fable51,
  'claude-fable-5-2': fable52,
  'claude-mythos-5': fable,
  'claude-mythos-5-1': fable51,
  'claude-mythos-5-2': fable52,
  [offlineModelName]: listed({ input: 1, output: 5, cacheRead: 0.1 }),
};

/**
 * Null if the price is unknown. The operator's prices take precedence. A name may have the date of
 * its version, like claude-opus-4-1-20250805, or a suffix for a long context, like
 * claude-opus-5-5[1m].
 */
export function findPrice(
  model: string,
  { prices, day }: { prices: PriceList; day: string },
): ModelPrice | null {
  for (const list of [prices, listPrices]) {
    for (const name of [model, plainModelName(model)]) {
      const valid = pricesIn(list, name).filter(({ validFrom }) => validFrom <= day);
      if (valid.length > 0) return valid.reduce(laterOf);
    }
  }
  return null;
}

export const plainModelName = (model: string): string =>
  model.replace(/\[1m\]$/i, '').replace(/-(?:\d{8}|latest)$/, '');

function pricesIn(list: PriceList, name: string): readonly ModelPrice[] {
  return Object.hasOwn(list, name) ? (list[name] ?? []) : [];
}

const laterOf = (a: ModelPrice, b: ModelPrice): ModelPrice => (b.validFrom >= a.validFrom ? b : a);
