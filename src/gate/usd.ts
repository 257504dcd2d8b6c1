import { withoutTrailing } from '../lib/urls.ts'

/** An amount of US dollars in plain decimal notation, to a trillionth. */
export const plainUsd = (usd: number): string => withoutTrailing(withoutTrailing(usd.toFixed(12), '0'), '.')
