/** A duration such as "34.4s", "6m0s" or "20ms", in ms; `undefined` for any other text. */
export function durationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit = ''] of text.matchAll(/(?<![\d.])(\d+(?:\.\d+)?)(ms|[dhms])/g))
    ms += Number(amount) * (UNITS[unit] ?? 0)
  return ms
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
