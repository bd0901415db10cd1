// Numbers as the generated pages show them.

const units: [number, string][] = [
  [1024 ** 3, 'GiB'],
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
];
const times: [number, string][] = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

const inUnits = (value: number, known: [number, string][]): string => {
  const [size, name] = known.find(([each]) => value >= each && value % each === 0) ?? [1, ''];
  return `${value / size} ${name}`.trim();
};
export const bytes = (value: number): string => inUnits(value, units);
const dayMs = 86_400_000;
export const time = (valueMs: number): string =>
  valueMs > dayMs && valueMs % dayMs === 0 ? `${valueMs / dayMs} days` : inUnits(valueMs, times);
export const count = (value: number): string => String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ' ');
